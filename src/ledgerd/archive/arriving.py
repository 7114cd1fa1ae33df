"""A file that is being fetched. What goes wrong with it is the disk's fault, not that of whoever sends it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from ledgerd.archive.errors import ArchiveUnwritable


@contextmanager
def to_disk(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise ArchiveUnwritable(f"{path} cannot be written: {problem.strerror or problem}") from problem


class Arriving:
    """The file, from some place on."""

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
            self._file.flush()
            os.fsync(self._file.fileno())

    def write(self, data: bytes) -> None:
        with to_disk(self._path):
            self._file.write(data)
        self.place += len(data)
