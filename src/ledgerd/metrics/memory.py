"""The memory that the processes of a node share. No lock is needed: every number has one writer. A worker that takes
the place of a dead one goes on with its numbers, so that no counter goes back.
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
from collections.abc import Iterator

from ledgerd.metrics.layout import VALIDATOR_PLACES

NUMBER = 8
"""Bytes of a number: a double, which counts exactly up to 2**53."""

NAME_BYTES = 32
"""Bytes for a validator's name."""
HEAD_BYTES = 64
"""Bytes in front of the names."""
NAMES_BYTES = VALIDATOR_PLACES * NAME_BYTES
"""Bytes of all names."""
REGION_BYTES = 256 * 1024
"""Room for the numbers of one process; what is never written takes no memory."""

FIRST_REGION = HEAD_BYTES + NAMES_BYTES
MAIN_REGION, READER_REGION, FIRST_WORKER = 0, 1, 2

MOST_TRIES = 100
"""How often the memory is copied again while names change in it."""


def worker_region(number: int) -> int:
    return FIRST_WORKER + number


class SharedMemory:
    """The memory, mapped into this process."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._size = os.fstat(descriptor).st_size
        self._map = mmap.mmap(descriptor, self._size)
        self._whole = memoryview(self._map)
        self._head = self._whole[:HEAD_BYTES].cast("d")

    @classmethod
    def create(cls, workers: int) -> SharedMemory:
        if sys.platform == "linux":
            descriptor = os.memfd_create("ledgerd-metrics")
        else:
            with tempfile.TemporaryFile() as file:
                descriptor = os.dup(file.fileno())
        os.ftruncate(descriptor, FIRST_REGION + worker_region(workers) * REGION_BYTES)
        return cls(descriptor)

    @property
    def workers(self) -> int:
        return (self._size - FIRST_REGION) // REGION_BYTES - FIRST_WORKER

    def region(self, number: int, size: int) -> memoryview[float]:
        if size * NUMBER > REGION_BYTES:
            raise ValueError(f"{size} numbers do not fit into a region of {REGION_BYTES} bytes")
        start = FIRST_REGION + number * REGION_BYTES
        return self._whole[start : start + size * NUMBER].cast("d")

    def begin_names(self) -> None:
        self._head[0] += 1.0

    def end_names(self) -> None:
        self._head[0] += 1.0

    def write_name(self, place: int, name: str) -> None:
        start = HEAD_BYTES + place * NAME_BYTES
        self._whole[start : start + NAME_BYTES] = name.encode()[:NAME_BYTES].ljust(NAME_BYTES, b"\0")

    def copy(self) -> MemoryCopy:
        """Everything as it is now; names and numbers belong together."""
        for _ in range(MOST_TRIES):
            before = self._head[0]
            copied = bytes(self._whole)
            if self._head[0] == before and before % 2 == 0:
                break
        return MemoryCopy(copied)

    def close(self) -> None:
        self._head.release()
        self._whole.release()
        self._map.close()
        os.close(self.descriptor)


class MemoryCopy:
    """The memory as it was at one moment."""

    def __init__(self, copied: bytes) -> None:
        self._copied = copied

    def region(self, number: int, size: int) -> memoryview[float]:
        start = FIRST_REGION + number * REGION_BYTES
        return memoryview(self._copied)[start : start + size * NUMBER].cast("d")

    def names(self) -> Iterator[str]:
        for start in range(HEAD_BYTES, HEAD_BYTES + NAMES_BYTES, NAME_BYTES):
            yield self._copied[start : start + NAME_BYTES].rstrip(b"\0").decode("utf-8", "replace")
