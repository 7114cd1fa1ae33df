"""What a process says of itself."""

from __future__ import annotations

import asyncio
import sys

import pytest

from ledgerd.metrics.meters.process import ProcessMeter, every_second
from ledgerd.metrics.table import process
from tests.metrics.memories import node_memory


def test_a_sample_has_memory_time_descriptors_and_threads() -> None:
    with node_memory() as node:
        ProcessMeter(node.main()).sample()
        values = {
            family.name: node.values()[family.name]["main",][0]
            for family in (process.PROCESSOR, process.THREADS, process.STARTED, process.MOST_DESCRIPTORS)
        }
        if sys.platform == "linux":
            for family in (process.MEMORY, process.DESCRIPTORS):
                values[family.name] = node.values()[family.name]["main",][0]

    assert all(value > 0 for value in values.values())


def test_an_event_loop_is_measured_each_time_and_a_failure_ends_it() -> None:
    samples: list[None] = []

    def sample() -> None:
        samples.append(None)
        raise ZeroDivisionError

    with node_memory() as node:
        delays = node.main().histogram(process.LOOP_DELAY, process.CHAIN_LOOP)
        with pytest.raises(ZeroDivisionError):
            asyncio.run(every_second(delays, sample))
        numbers = node.values()[process.LOOP_DELAY.name]["main", "chain"]

    assert len(samples) == 1
    assert sum(numbers[:-1]) == 1.0
