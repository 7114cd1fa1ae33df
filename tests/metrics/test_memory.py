"""The shared memory: another process sees what one writes, and never half a change of names."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from ledgerd.metrics.layout import VALIDATOR_PLACES
from ledgerd.metrics.memory import (
    MAIN_REGION,
    NUMBER,
    REGION_BYTES,
    MemoryCopy,
    SharedMemory,
    worker_region,
)

WRITES = """
import sys
from ledgerd.metrics.memory import SharedMemory, worker_region
numbers = SharedMemory(int(sys.argv[1])).region(worker_region(1), 3)
numbers[2] += 7.5
"""


def test_another_process_counts_in_it() -> None:
    memory = SharedMemory.create(workers=2)
    try:
        assert memory.workers == 2
        for _ in range(2):
            subprocess.run(  # noqa: S603 - our own program
                [sys.executable, "-c", WRITES, str(memory.descriptor)],
                pass_fds=[memory.descriptor],
                check=True,
                timeout=30,
            )
        assert list(memory.copy().region(worker_region(1), 3)) == [0.0, 0.0, 15.0]
        assert list(memory.copy().region(worker_region(0), 3)) == [0.0, 0.0, 0.0]
    finally:
        memory.close()


def test_a_region_has_its_bounds() -> None:
    memory = SharedMemory.create(workers=1)
    try:
        memory.region(MAIN_REGION, REGION_BYTES // NUMBER).release()
        with pytest.raises(ValueError, match="do not fit"):
            memory.region(MAIN_REGION, REGION_BYTES // NUMBER + 1)
    finally:
        memory.close()


def test_a_name_is_read_as_it_was_written_and_a_long_one_cut() -> None:
    memory = SharedMemory.create(workers=1)
    try:
        memory.write_name(3, "alice")
        memory.write_name(4, "x" * 40)
        names = list(memory.copy().names())
    finally:
        memory.close()

    assert (names[3], names[4], len(names)) == ("alice", "x" * 32, VALIDATOR_PLACES)
    assert names[5] == ""


class Renaming(SharedMemory):
    """A memory in which a validator is replaced while somebody reads it."""

    reads = 0

    def copy(self) -> MemoryCopy:
        self.begin_names()
        self.write_name(1, "half")
        original, self._head = self._head, _Interrupting(self)  # type: ignore[assignment]
        try:
            return super().copy()
        finally:
            self._head = original


class _Interrupting:
    """The head of the memory: its second reading lets the writer finish."""

    def __init__(self, memory: Renaming) -> None:
        self._memory = memory
        self._head = memory._head  # noqa: SLF001 - it stands in its place
        self._looks = 0

    def __getitem__(self, place: int) -> float:
        self._looks += 1
        if self._looks == 4:
            self._memory.write_name(1, "whole")
            self._head[0] += 1.0
        return self._head[place]

    def __setitem__(self, place: int, value: float) -> None:
        self._head[place] = value


def test_a_copy_waits_for_the_end_of_a_change_of_names() -> None:
    memory = Renaming(os.dup((made := SharedMemory.create(workers=1)).descriptor))
    try:
        assert list(memory.copy().names())[1] == "whole"
    finally:
        memory.close()
        made.close()
