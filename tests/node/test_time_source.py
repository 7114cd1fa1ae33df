"""The clocks of a node run at the rate of its network's clock."""

from __future__ import annotations

import asyncio
import time

import pytest

from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.protocol.networks.parameters import NetworkClock


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The clocks of the machine, in nanoseconds: the wall clock, and the steady one."""
    clocks = [1_800_000_000 * 10**9, 5 * 10**9]
    monkeypatch.setattr(time, "time_ns", lambda: clocks[0])
    monkeypatch.setattr(time, "monotonic_ns", lambda: clocks[1])
    return clocks


def test_without_a_clock_of_its_own_a_network_has_the_time_of_the_world(world: list[int]) -> None:
    source = TimeSource()

    assert (source.wall(), source.monotonic()) == (world[0] // 1_000, world[1] // 1_000)


def test_both_clocks_run_at_the_rate_of_the_network(world: list[int]) -> None:
    source = TimeSource(NetworkClock(1_800_000_000, 1_700_000_000, 4.0))
    before = source.wall(), source.monotonic()
    for number in (0, 1):
        world[number] += 10**9

    assert before[0] == 1_700_000_000 * MICRO
    assert (source.wall() - before[0], source.monotonic() - before[1]) == (4 * MICRO, 4 * MICRO)


def test_a_developer_can_put_the_clock_forward(world: list[int]) -> None:
    source = TimeSource()
    source.shift = 7

    assert source.wall() == world[0] // 1_000 + 7


def test_a_wait_is_as_long_as_the_network_says(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    asyncio.run(TimeSource(NetworkClock(0, 0, 4.0)).sleep(6))

    assert waited == [1.5]
