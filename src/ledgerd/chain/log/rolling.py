"""The rolling block log: the latest irreversible blocks, in a node that began with a snapshot (spec 03, section 25).
Like the block log, but it begins at any block, and drops its oldest from time to time by rewriting both files.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

from ledgerd.basics.durable import sync, sync_folder
from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.files import NO_BLOCKS, OFFSET, LogDamaged, LogKind, paths_of

ROLLING_LOG = LogKind(
    name="dlt_block_log",
    header=OFFSET.size,
    remedy="stop the node, delete this file and the .index file beside it, and start again; "
    "the node works without these blocks, only peers cannot fetch them from it",
)


class RollingBlockLogReader(BlockLogReader):
    """A rolling log that is only read, also while another process appends to it or rewrites it."""

    KIND: ClassVar[LogKind] = ROLLING_LOG


class RollingBlockLog(BlockLog):
    """The rolling log of the node that writes it."""

    KIND: ClassVar[LogKind] = ROLLING_LOG

    @property
    def count(self) -> int:
        return self._head - self._opened().first + 1 if self._head else 0

    def truncate_before(self, number: int) -> None:
        """Keep the blocks from this one to the head; nothing happens if that is all of them or none."""
        if not self.first_number < number <= self._head:
            return
        with self._writing():
            try:
                self._copy_from(number)
            except (OSError, LogDamaged):
                _remove(self._folder, ".tmp")
                raise
            self.close()
            _replace_with_copy(self._folder)
            self._load()

    def reset(self) -> None:
        with self._writing():
            self.close()
            for suffix in ("", ".tmp", ".bak"):
                _remove(self._folder, suffix)
            self._load()

    def set_aside(self) -> Path:
        """Rename both files to names that nothing else has, and begin again; the new name of the data."""
        with self._writing():
            self.close()
            number = 1
            while any(path.exists() for path in paths_of(self._folder, ROLLING_LOG, f".aside-{number}")):
                number += 1
            names, aside = paths_of(self._folder, ROLLING_LOG), paths_of(self._folder, ROLLING_LOG, f".aside-{number}")
            for name, new in zip(names, aside, strict=True):
                name.replace(new)
            self._load()
        return aside[0]

    def is_consistent_with(self, head: int) -> bool:
        """Whether a state with this head may have written the log; if not, it should be reset."""
        if head == 0 or self.count == 0:
            return True
        if self.count == 1 and head > 1:
            return False
        if self._head > head:
            return False
        return not (head > self._head + 1000 and self.count < 10)

    def _load(self) -> None:
        _finish_replacing(self._folder)
        super()._load()

    def _copy_from(self, number: int) -> None:
        """Write the blocks that stay to files of their own, whole and on the disk before they take their names."""
        data_path, index_path = paths_of(self._folder, self.KIND, ".tmp")
        with data_path.open("wb") as data, index_path.open("wb") as index:
            index.write(OFFSET.pack(number))
            end = 0
            for _, packed in self.scan(number, self._head):
                offset = OFFSET.pack(end)
                data.write(packed + offset)
                index.write(offset)
                end += len(packed) + OFFSET.size
            for file in (data, index):
                sync(file)


def _replace_with_copy(folder: Path) -> None:
    """Rename the copy over the log; after a kill at any point, `_finish_replacing` finds one of the two complete."""
    names, copies, backups = (paths_of(folder, ROLLING_LOG, suffix) for suffix in ("", ".tmp", ".bak"))
    for name, backup in zip(names, backups, strict=True):
        name.replace(backup)
    for name, copy in zip(names, copies, strict=True):
        copy.replace(name)
    sync_folder(folder)
    _remove(folder, ".bak")


def _finish_replacing(folder: Path) -> None:
    names, backups = paths_of(folder, ROLLING_LOG), paths_of(folder, ROLLING_LOG, ".bak")
    for name, backup in zip(names, backups, strict=True):
        if backup.exists() and (not name.exists() or name.stat().st_size <= len(NO_BLOCKS)):
            backup.replace(name)
    for suffix in (".bak", ".tmp"):
        _remove(folder, suffix)


def _remove(folder: Path, suffix: str) -> None:
    for path in paths_of(folder, ROLLING_LOG, suffix):
        path.unlink(missing_ok=True)


ROLLING_BLOCKS = 100_000
"""How many blocks a rolling log keeps at least, once it has them (`dlt-block-log-max-blocks`)."""


def append_irreversible(log: BlockLog, blocks: Iterable[tuple[int, bytes]], rolling_blocks: int) -> None:
    """After a crash some may be there already. A rolling log starts again after a gap, and may keep nothing."""
    if isinstance(log, RollingBlockLog) and rolling_blocks == 0:
        return
    head = log.head_number
    new = [(number, packed) for number, packed in blocks if number > head]
    if isinstance(log, RollingBlockLog) and head and new and new[0][0] > head + 1:
        log.reset()
    log.extend(new)
    log.sync()


def trim(log: BlockLog, rolling_blocks: int) -> None:
    """Truncate a rolling log that holds more than twice as many blocks as it should."""
    if isinstance(log, RollingBlockLog) and rolling_blocks and log.count > 2 * rolling_blocks:
        log.truncate_before(log.head_number - rolling_blocks + 1)
