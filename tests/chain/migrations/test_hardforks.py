"""Hardforks come one after the other, when enough validators vote for them and their time has come."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations import hardforks
from ledgerd.chain.migrations.hardforks import (
    MIGRATIONS,
    UnknownHardfork,
    apply_next_hardfork,
    is_hardfork_due,
    process_hardforks,
)
from ledgerd.protocol.networks.hardforks import Hardfork
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations import virtual
from ledgerd.protocol.types.versions import version_number
from ledgerd.state.objects.globals import HardforkProperty
from tests.chain.ledgers import NOW, change, run
from tests.chain.recorded_chains import until_hardfork_13


def stand_at(ledger: Ledger, number: int) -> HardforkProperty:
    """All hardforks up to this one have happened."""
    known, record = ledger.network.hardforks, ledger.hardforks
    change(
        ledger,
        record,
        processed_hardforks=tuple(each.time for each in known[: number + 1]),
        last_hardfork=number,
        current_hardfork_version=known[number].version,
        next_hardfork=known[number].version,
    )
    return record


def vote(ledger: Ledger, version: int, time: int = NOW) -> None:
    change(ledger, ledger.hardforks, next_hardfork=version, next_hardfork_time=time)


@pytest.fixture
def ledger(ledger_at: Callable[[int], Ledger]) -> Ledger:
    """Hardfork 11 was the last."""
    ledger = ledger_at(11)
    stand_at(ledger, 11)
    return ledger


@pytest.mark.parametrize(
    ("version", "time", "is_due"),
    [
        (version_number(3, 0), NOW, False),
        (version_number(2, 6), NOW, False),
        (version_number(3, 1), NOW, True),
        (version_number(3, 1), NOW + 1, False),
    ],
)
def test_a_later_version_is_due_at_its_time(ledger: Ledger, version: int, time: int, *, is_due: bool) -> None:
    vote(ledger, version, time)

    assert is_hardfork_due(ledger) is is_due


def test_a_hardfork_is_written_down_with_its_planned_time_and_told(ledger: Ledger) -> None:
    vote(ledger, version_number(3, 1))

    told = run(ledger, process_hardforks)

    record = ledger.hardforks
    assert (record.last_hardfork, record.current_hardfork_version) == (12, version_number(3, 1))
    assert record.processed_hardforks[12] == MAINNET.hardforks[12].time
    assert ledger.hardfork(12)
    assert not ledger.hardfork(13)
    assert told == [virtual.Hardfork(12)]


def test_a_vote_for_a_later_version_brings_all_hardforks_up_to_it(ledger: Ledger) -> None:
    vote(ledger, version_number(3, 2))

    assert run(ledger, process_hardforks) == [virtual.Hardfork(12), virtual.Hardfork(13)]


def test_without_a_vote_nothing_happens(ledger: Ledger) -> None:
    assert run(ledger, process_hardforks) == []


def test_a_hardfork_that_this_program_does_not_know_stops_it(ledger: Ledger) -> None:
    vote(ledger, version_number(4, 2))

    with pytest.raises(UnknownHardfork) as caught:
        run(ledger, process_hardforks)
    assert caught.value.code == 4090000


def test_a_vote_for_4_1_0_brings_hardforks_14_and_15_in_one_block(ledger: Ledger) -> None:
    stand_at(ledger, 13)
    vote(ledger, version_number(4, 1))

    assert run(ledger, process_hardforks) == [virtual.Hardfork(14), virtual.Hardfork(15)]
    assert ledger.hardforks.processed_hardforks[14:] == (1_787_875_200, 1_791_158_400)


def test_a_network_that_stops_at_hardfork_13_is_stopped_by_hardfork_14(ledger: Ledger) -> None:
    ledger.network = until_hardfork_13(ledger.network)
    stand_at(ledger, 13)
    vote(ledger, version_number(4, 0))

    with pytest.raises(UnknownHardfork):
        run(ledger, process_hardforks)


def test_a_new_hardfork_is_an_addition(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    coming = Hardfork(16, version_number(4, 2), NOW - 5)
    ledger.network = msgspec.structs.replace(MAINNET, hardforks=(*MAINNET.hardforks, coming))
    during: list[bool] = []
    migrations = {**MIGRATIONS, 16: lambda ledger: during.append(ledger.hardfork(16))}
    monkeypatch.setattr(hardforks, "MIGRATIONS", migrations)
    stand_at(ledger, 15)

    apply_next_hardfork(ledger)

    assert during == [False]
    assert ledger.hardfork(16)
    assert ledger.hardforks.current_hardfork_version == version_number(4, 2)


def test_hardforks_with_changes_of_their_own_are_known() -> None:
    assert set(MIGRATIONS) == {4, 5, 6, 7, 8, 9, 11, 14}
