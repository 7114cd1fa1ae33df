"""The testnet kind lives for ever by itself: from its first block on, and after any stop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.producer.settings import ProducerSettings, keyring
from ledgerd.producer.testnet_start import is_self_starting
from ledgerd.producer.time.clock import SECOND
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT, INITIATOR_ACCOUNT
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from tests.chain.networks import COMMITTEE_KEY, VIZ_KEY
from tests.producer.virtual_time import SETTINGS, Station, World

MINUTE, DAY = 60 * SECOND, 86_400 * SECOND


@pytest.fixture
def station(tmp_path: Path) -> Iterator[Station]:
    with Station(tmp_path, World()) as station:
        yield station


def test_the_initiator_takes_over_before_the_committee_has_to_go(station: Station) -> None:
    station.run_until_block(100)

    assert station.chain.last_hardfork == 15
    assert station.chain.scheduled == (INITIATOR_ACCOUNT,)
    assert not station.chain.globals.emergency_consensus_active


def test_it_goes_on_without_stale_production_too(tmp_path: Path) -> None:
    strict = ProducerSettings(names=(COMMITTEE_ACCOUNT,), keys=keyring([COMMITTEE_KEY]))
    with Station(tmp_path, World(), strict) as station:
        station.run_until_block(100)
        station.restart(10 * MINUTE)
        station.run_until_block(120)

        assert station.times[-1] - station.times[-20] == 57


@pytest.mark.parametrize("pause", [19 * MINUTE, 20 * MINUTE, 21 * MINUTE, 3 * DAY])
def test_no_stop_is_so_long_that_it_ends_the_network(station: Station, pause: int) -> None:
    station.run_until_block(100)
    station.restart(pause)
    station.run(60)

    assert not station.chain.globals.emergency_consensus_active
    assert max(b - a for a, b in zip(station.times, station.times[1:], strict=False)) < 1_200
    assert station.times[-19:] == list(range(station.times[-19], station.times[-1] + 1, 3))
    assert 0 <= station.world.true // SECOND - station.times[-1] <= 3


def test_a_restart_in_the_first_blocks_does_no_harm(station: Station) -> None:
    for number in range(1, 16):
        station.run_until_block(number)
        station.restart(SECOND)

    station.run_until_block(40)
    assert station.chain.scheduled == (INITIATOR_ACCOUNT,)


@pytest.mark.parametrize(
    ("network", "settings", "expected"),
    [
        (TESTNET, SETTINGS, True),
        (MAINNET, SETTINGS, False),
        (TESTNET, ProducerSettings(names=(INITIATOR_ACCOUNT,), keys=keyring([VIZ_KEY])), False),
        (TESTNET, ProducerSettings(names=(COMMITTEE_ACCOUNT,), keys={}), False),
    ],
)
def test_only_the_maker_of_a_public_network_of_one_starts_it(
    network: object, settings: ProducerSettings, expected: bool
) -> None:
    assert network in (MAINNET, TESTNET)
    assert is_self_starting(MAINNET if network is MAINNET else TESTNET, settings) is expected
