"""The snapshots of a development chain: copies of its state, and the sizes of its block logs."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import NamedTuple

from ledgerd.chain.log.block_log import FULL_LOG
from ledgerd.chain.log.files import paths_of
from ledgerd.projections.kept import FOLDER
from ledgerd.protocol.errors import require
from ledgerd.state.copying import copy_state, put_back


class DevSnapshot(NamedTuple):
    """One snapshot."""

    number: int
    folder: Path
    head: int
    log_sizes: tuple[int, ...]
    shift: int


class DevSnapshots:
    """The snapshots of one run of the node."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[int, DevSnapshot] = {}
        self._last = 0

    def keep(self, folder: Path, head: int, shift: int) -> int:
        """Copy the files of a closed chain; returns the snapshot's number."""
        self._last += 1
        target = self._folder / str(self._last)
        copy_state(folder, target)
        if (folder / FOLDER).is_dir():
            copy_state(folder / FOLDER, target / FOLDER)
        sizes = tuple(path.stat().st_size for path in paths_of(folder, FULL_LOG))
        self._kept[self._last] = DevSnapshot(self._last, target, head, sizes, shift)
        return self._last

    def find(self, number: int) -> DevSnapshot:
        require(number in self._kept, "there is no snapshot ${number}", number=number)
        return self._kept[number]

    def put_back(self, kept: DevSnapshot, folder: Path) -> None:
        """Restore the files of a closed chain, and delete later snapshots."""
        for number in [each for each in self._kept if each > kept.number]:
            shutil.rmtree(self._kept.pop(number).folder, ignore_errors=True)
        put_back(folder, kept.folder)
        if (kept.folder / FOLDER).is_dir():
            put_back(folder / FOLDER, kept.folder / FOLDER)
        for path, size in zip(paths_of(folder, FULL_LOG), kept.log_sizes, strict=True):
            os.truncate(path, size)
