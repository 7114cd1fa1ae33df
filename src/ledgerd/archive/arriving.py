"""A file that is being fetched, whose faults are the disk's and not its source's, and how slow a source may be."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from ledgerd.archive.errors import ArchiveUnwritable, SourceFault
from ledgerd.basics.durable import sync

SPAN_SECONDS = 60.0
"""The time over which the speed of a source is measured."""
LEAST_BYTES = 65_536
"""Bytes that a web server must send in that time."""
LEAST_BLOCKS = 60
"""Blocks that a peer must send in that time."""


@contextmanager
def to_disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise ArchiveUnwritable(f"{path} cannot be written: {problem.strerror or problem}") from problem


class Arriving:
    """A file that is being received, from some place on."""

    def __init__(self, path: Path, begun: int = 0) -> None:
        self._path = path
        with to_disk(path):
            self._file = path.open("r+b" if begun else "wb")
            self._file.seek(begun)
            if begun:
                self._file.truncate()
        self.place = begun

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Bring what was written to the disk, unless the disk is what has failed."""
        if kind is ArchiveUnwritable:
            with suppress(OSError):
                self._file.close()
            return
        with to_disk(self._path), self._file:
            sync(self._file)

    def write(self, data: bytes) -> None:
        with to_disk(self._path):
            self._file.write(data)
        self.place += len(data)


class SourcePace:
    """Counts what one answer brings, a span after the other."""

    def __init__(self, source: str, least: int, unit: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._source = source
        self._least = least
        self._unit = unit
        self._counted = 0
        self._clock = clock
        self._since = clock()

    def count(self, size: int) -> None:
        """Count received bytes or blocks. `SourceFault`: there were too few in the last span of time."""
        self._counted += size
        now = self._clock()
        if now - self._since < SPAN_SECONDS:
            return
        if self._counted < self._least:
            raise SourceFault(
                f"{self._source} is too slow: it sends fewer than {self._least} {self._unit} in {SPAN_SECONDS:.0f} s"
            )
        self._counted, self._since = 0, now
