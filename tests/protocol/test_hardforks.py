"""The table of hardforks, against the hardforks that the recorded chains went through."""

from __future__ import annotations

import itertools

from ledgerd.protocol.networks.hardforks import MAINNET_HARDFORKS, TESTNET_HARDFORKS, Hardfork, known_until, rescheduled
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.types.time_text import parse_time_text, time_text
from ledgerd.protocol.types.versions import hardfork_version_of, parse_version_text, version_number, version_text
from tests.recorded import recorded_sections

# `processed_hardforks` of the state after block 14 of the recorded testnet, without the time of its genesis.
PROCESSED = [
    "2018-10-04T10:00:00",
    "2018-10-07T10:00:00",
    "2018-10-25T20:00:00",
    "2019-01-14T10:00:00",
    "2019-02-20T10:00:00",
    "2019-04-14T10:00:00",
    "2019-04-27T10:00:00",
    "2019-04-30T05:00:00",
    "2020-05-11T05:00:00",
    "2021-11-29T05:00:00",
    "2023-08-10T05:00:00",
    "2026-04-19T17:41:40",
    "2026-05-16T20:00:00",
]

# The versions that validators of the recorded chain with mainnet's rules voted for, one after the other.
VOTED = [
    "1.1.0",
    "1.2.0",
    "1.3.0",
    "2.0.0",
    "2.1.0",
    "2.2.0",
    "2.3.0",
    "2.4.0",
    "2.5.0",
    "2.6.0",
    "3.0.0",
    "3.1.0",
    "3.2.0",
]


def test_the_times_are_those_that_the_reference_recorded() -> None:
    assert [each.time for each in MAINNET_HARDFORKS[1:14]] == [parse_time_text(text) for text in PROCESSED]


def test_the_versions_are_those_that_validators_voted_for() -> None:
    assert [each.version for each in MAINNET_HARDFORKS[1:14]] == [parse_version_text(text) for text in VOTED]


def test_the_chain_starts_with_hardfork_0_at_no_time_of_its_own() -> None:
    assert MAINNET_HARDFORKS[0] == Hardfork(0, version_number(1, 0), 0)


def test_a_hardfork_stands_at_its_number() -> None:
    for hardforks in (MAINNET_HARDFORKS, TESTNET_HARDFORKS):
        assert [each.number for each in hardforks] == list(range(len(hardforks)))


def test_versions_and_times_only_grow() -> None:
    for hardforks in (MAINNET_HARDFORKS, TESTNET_HARDFORKS):
        for each, following in itertools.pairwise(hardforks):
            assert each.version < following.version
            assert each.time < following.time


def test_hardfork_versions_have_no_release() -> None:
    assert all(each.version == hardfork_version_of(each.version) for each in MAINNET_HARDFORKS)


def test_both_networks_know_the_same_hardforks() -> None:
    known = [(each.number, each.version) for each in MAINNET_HARDFORKS]

    assert [(each.number, each.version) for each in TESTNET_HARDFORKS] == known
    assert MAINNET.hardforks == MAINNET_HARDFORKS
    assert TESTNET.hardforks == TESTNET_HARDFORKS


def test_the_hardforks_of_markets_have_the_times_that_nodes_of_4_1_0_recorded() -> None:
    assert [time_text(each.time) for each in MAINNET_HARDFORKS[14:]] == ["2026-08-28T00:00:00", "2026-10-05T00:00:00"]
    for chain, hardforks in (("open-main15/state-1216", MAINNET_HARDFORKS), ("open-pm/state-2027", TESTNET_HARDFORKS)):
        (recorded,) = recorded_sections(chain)["hardfork_property"]
        assert recorded["processed_hardforks"][1:] == [time_text(each.time) for each in hardforks[1:]]
        assert recorded["current_hardfork_version"] == version_text(hardforks[-1].version)


def test_a_network_may_stop_before_the_latest_hardforks() -> None:
    assert known_until(MAINNET_HARDFORKS, 13) == MAINNET_HARDFORKS[:14]
    assert known_until(MAINNET_HARDFORKS, 15) == MAINNET_HARDFORKS


def test_a_network_may_have_times_of_its_own() -> None:
    earlier = rescheduled(MAINNET_HARDFORKS, {12: 7, 13: 8})

    assert [each.time for each in earlier[11:14]] == [MAINNET_HARDFORKS[11].time, 7, 8]
    assert [each.version for each in earlier] == [each.version for each in MAINNET_HARDFORKS]


def test_a_new_hardfork_is_one_more_line() -> None:
    following = Hardfork(len(MAINNET_HARDFORKS), version_number(3, 3), 1_900_000_000)

    assert rescheduled((*MAINNET_HARDFORKS, following), {})[-1] == following
