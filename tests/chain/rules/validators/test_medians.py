"""The properties in force are the medians of what the scheduled validators want."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.medians import VOTED_SINCE, update_medians
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.properties import ChainPropertiesHf14, default_properties
from ledgerd.protocol.types.assets import Asset, tokens
from tests.chain.empty_blocks import schedule
from tests.chain.ledgers import ALICE, change, create_validator

DEFAULTS = default_properties(MAINNET)


def wanting(**properties: object) -> ChainPropertiesHf14:
    return msgspec.structs.replace(DEFAULTS, **properties)


def put_to_vote(ledger: Ledger, *wishes: ChainPropertiesHf14) -> None:
    names = [f"v{place:02}" for place in range(len(wishes))]
    for owner, wish in zip(names, wishes, strict=True):
        create_validator(ledger, owner, props=wish)
    schedule(ledger, *names)
    update_medians(ledger)


def test_every_property_is_put_to_the_vote_once() -> None:
    voted = [name for _, names in VOTED_SINCE for name in names]

    assert sorted(voted) == sorted(ChainPropertiesHf14.__struct_fields__)


def test_of_21_wishes_the_eleventh_counts_for_each_property_by_itself(ledger: Ledger) -> None:
    wishes = [wanting(account_creation_fee=tokens(1_000 + n), maximum_block_size=90_000 - n) for n in range(21)]
    put_to_vote(ledger, *reversed(wishes))

    assert ledger.median.account_creation_fee == tokens(1_010)
    assert ledger.median.maximum_block_size == 89_990
    assert ledger.globals.maximum_block_size == 89_990


def test_of_an_even_number_of_wishes_the_upper_middle_one_counts(ledger: Ledger) -> None:
    put_to_vote(ledger, *(wanting(withdraw_intervals=days) for days in (1, 2, 3, 4)))

    assert ledger.median.withdraw_intervals == 3


@pytest.mark.parametrize(("hardfork", "names"), VOTED_SINCE)
def test_a_property_is_voted_on_from_its_hardfork_on(
    ledger_at: Callable[[int], Ledger], hardfork: int, names: tuple[str, ...]
) -> None:
    other = wanting(**{name: changed(getattr(DEFAULTS, name)) for name in names})

    put_to_vote(new := ledger_at(hardfork), other)
    assert new.median == other
    if hardfork:
        put_to_vote(old := ledger_at(hardfork - 1), other)
        assert old.median == DEFAULTS


@pytest.mark.parametrize(
    ("wishes", "median"), [([False] * 10 + [True] * 11, True), ([False] * 11 + [True] * 10, False)]
)
def test_a_switch_is_on_when_no_more_than_half_are_against_it(
    ledger_at: Callable[[int], Ledger], wishes: list[bool], *, median: bool
) -> None:
    """The vectors of spec 07, section 14.5."""
    ledger = ledger_at(14)
    put_to_vote(ledger, *(wanting(pm_lazy_pool_enabled=wish) for wish in reversed(wishes)))
    assert ledger.median.pm_lazy_pool_enabled is median


def test_a_switch_of_four_is_on_for_two_and_an_amount_is_the_middle_one(ledger_at: Callable[[int], Ledger]) -> None:
    four, five = ledger_at(14), ledger_at(15)
    put_to_vote(four, *(wanting(pm_lazy_pool_enabled=wish) for wish in (True, False, False, True)))
    assert four.median.pm_lazy_pool_enabled is True
    put_to_vote(five, *(wanting(pm_min_bet=tokens(wish)) for wish in (9_000, 1_000, 5_000, 1_000, 2_000)))
    assert five.median.pm_min_bet == tokens(2_000)


def changed(value: object) -> object:
    if isinstance(value, Asset):
        return msgspec.structs.replace(value, amount=7)
    assert isinstance(value, int)
    return value + 1


def test_in_an_emergency_the_committee_has_no_say(ledger: Ledger) -> None:
    change(ledger, ledger.globals, emergency_consensus_active=True)
    create_validator(ledger, ALICE, props=wanting(withdraw_intervals=99))
    schedule(ledger, "committee", "committee", ALICE)

    update_medians(ledger)
    assert ledger.median.withdraw_intervals == 99

    schedule(ledger, "committee", "committee")
    update_medians(ledger)
    assert ledger.median.withdraw_intervals == 99
