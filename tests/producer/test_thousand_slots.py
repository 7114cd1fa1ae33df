"""A thousand slots in virtual time: none missed, none early, none doubled, whatever the clock and the disk do.

Where only one thing happens, it happens ten times in a third of that.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.producer.time.clock import SECOND
from tests.chain.networks import GENESIS
from tests.producer.virtual_time import Station, World

SLOTS = 1_000
APART, TIMES = 30, 10
"""Slots between two troubles of one kind, and how many of them there are."""
EARLIEST, LATEST = -SECOND // 4, SECOND * 3 // 4


def assert_every_slot_was_met(station: Station) -> None:
    first = station.times[0]
    assert first == GENESIS
    assert station.times == list(range(first, first + 3 * len(station.times), 3))
    for time, moment in station.made:
        assert EARLIEST <= moment - time * SECOND < LATEST + SECOND // 4


@pytest.fixture
def station(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Station]:
    """A disk of the test's own tells when it is slow; the real one need not be waited for."""
    monkeypatch.setattr(os, "fsync", lambda _descriptor: None)
    with Station(tmp_path, World()) as station:
        yield station


def test_no_slot_is_missed_and_none_is_early_or_doubled(station: Station) -> None:
    station.run_until_block(SLOTS)

    assert_every_slot_was_met(station)
    assert station.world.true // SECOND - GENESIS in range(3 * SLOTS - 4, 3 * SLOTS)


@pytest.mark.parametrize("step", [2, -2])
def test_a_clock_that_is_set_by_two_seconds_costs_no_slot(station: Station, step: int) -> None:
    for number in range(1, TIMES + 1):
        station.run_until_block(number * APART)
        station.run(number * 0.3)
        station.world.wall_error += step * SECOND * (-1 if number % 2 else 1)

    assert_every_slot_was_met(station)


@pytest.mark.parametrize("after", [0.0, 1.3, 2.749])
def test_a_disk_that_stops_for_a_second_costs_no_slot(station: Station, after: float) -> None:
    for number in range(1, TIMES + 1):
        station.run_until_block(number * APART)
        station.world.stop_disk(int(after * SECOND), SECOND)

    station.run(30)

    assert_every_slot_was_met(station)


@pytest.mark.parametrize("busy_from", [2.2, 2.749])
def test_a_chain_that_is_busy_for_a_second_costs_no_slot(station: Station, busy_from: float) -> None:
    """The tick waits for its turn, and is the first to have it then."""
    station.run_until_block(20)
    for _ in range(TIMES):
        head = station.chain.head_time
        station.run((head + busy_from) - station.world.true / SECOND)
        busy_until = int((head + busy_from + 1) * SECOND)
        station.world.true = max(station.world.true, busy_until)
        station.run_until_block(station.chain.head_number + 1)

    assert_every_slot_was_met(station)


def test_a_restart_in_the_middle_costs_no_slot(station: Station) -> None:
    for number in range(1, TIMES + 1):
        station.run_until_block(number * APART)
        station.restart(SECOND * 2)

    station.run_until_block(TIMES * APART + APART)

    assert_every_slot_was_met(station)


def test_all_of_it_at_once_costs_no_slot(station: Station) -> None:
    """The clock is set, the disk stops and the node is started again, again and again, one soon after the other."""
    for number in range(40, SLOTS, 40):
        station.run_until_block(number)
        station.world.wall_error += 2 * SECOND * (-1 if number % 80 else 1)
        station.world.stop_disk(number * 7919 % 3 * SECOND // 2, SECOND)
        if number % 120 == 0:
            station.run(12)  # a process that begins knows nothing of the clock that it had before it was set
            station.restart(SECOND)
    station.run_until_block(SLOTS)

    assert_every_slot_was_met(station)


def test_a_restart_that_takes_longer_than_a_slot_doubles_none(station: Station) -> None:
    station.run_until_block(50)
    station.restart(SECOND * 40)
    station.run_until_block(100)

    assert len(set(station.times)) == len(station.times) == 100
    assert sum(b - a != 3 for a, b in zip(station.times, station.times[1:], strict=False)) == 1


def test_a_wall_clock_that_is_set_back_far_makes_no_block_twice(station: Station) -> None:
    station.run_until_block(50)
    station.world.wall_error = -60 * SECOND
    station.run(90)

    assert len(set(station.times)) == len(station.times)
    assert station.times == sorted(station.times)
    assert station.chain.head_number > 55
