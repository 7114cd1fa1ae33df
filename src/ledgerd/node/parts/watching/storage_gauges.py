"""Metrics of files and disks, read off on a thread of their own, since a disk may take its time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ledgerd.metrics.cells import Cells
from ledgerd.metrics.table import storage as table
from ledgerd.snapshot.directory import kept_in


class KeptPlace(NamedTuple):
    """A file, or a folder without some of its files."""

    path: Path
    without: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        return self.path if self.path.is_dir() else self.path.parent

    def sizes(self) -> Iterator[int]:
        if self.path.is_dir():
            with os.scandir(self.path) as entries:
                for entry in entries:
                    with suppress(OSError):
                        if entry.is_file() and entry.name not in self.without:
                            yield _size_on_disk(entry.stat())
        elif self.path.exists():
            yield _size_on_disk(self.path.stat())


class StorageGauges:
    """Writes the sizes of what is kept."""

    def __init__(self, cells: Cells, places: Mapping[str, KeptPlace]) -> None:
        self._cells = cells
        self._places = dict(places)

    def sample(self) -> None:
        cells = self._cells
        for what, place in self._places.items():
            stored, free = cells.gauge(table.STORED_BYTES, what), cells.gauge(table.FREE_BYTES, what)
            with suppress(OSError):
                stored.set(sum(place.sizes()))
                usage = shutil.disk_usage(place.folder)
                free.set(usage.free)
                cells.gauge(table.DISK_BYTES, what).set(usage.total)
        snapshots = [*kept_in(self._places[table.SNAPSHOTS].path)]
        cells.gauge(table.SNAPSHOT_COUNT).set(len(snapshots))
        newest = cells.gauge(table.SNAPSHOT_BLOCK)
        if snapshots:
            newest.set(max(each.number for each in snapshots))
        else:
            newest.forget()


def _size_on_disk(status: os.stat_result) -> int:
    """Files with holes, such as that of a state, take less than their length."""
    return getattr(status, "st_blocks", 0) * 512 or status.st_size
