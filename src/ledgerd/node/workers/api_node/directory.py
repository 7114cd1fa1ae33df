"""The state of a directory while others write it, replace it, or have not made it yet, known by its map and inodes."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from ledgerd.projections.reading import ProjectionReader
from ledgerd.rpc.call.errors import PlainError
from ledgerd.state.errors import StorageError, StoreLocked, StoreNewer, StoreOutdated
from ledgerd.state.files.disk import DATA_FILE, LOCKS
from ledgerd.state.files.lock import files_stay
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.reader import CommitView, StateReader

LMDB_FILES = (DATA_FILE, LOCKS)

MOST_DERIVED = 2_048
"""Objects whose values are remembered, fewer than in a node: an API node has to be small, so that there can be many."""

NO_STATE = "there is no state yet"
REPLACED = "the state is being replaced"
OUTDATED = "the state was written by another version of this program"
UNREADABLE = "the state cannot be read"

log = logging.getLogger(__name__)

Inodes = tuple[tuple[int, int], ...]


class StateHead(NamedTuple):
    """The head block of a state."""

    number: int
    block_id: bytes
    time: int


class DirectoryState:
    """The state that a directory has now, or the reason why it cannot be read."""

    def __init__(self, folder: Path, tables: tuple[Table[Any], ...]) -> None:
        self._folder = folder
        self._tables = tables
        self._reader: StateReader | None = None
        self.projections = ProjectionReader(folder, most_derived=MOST_DERIVED)
        self._inodes: Inodes = ()
        self._commit = -1
        self.head: StateHead | None = None
        self.reason = NO_STATE
        self.openings = 0

    def refresh(self) -> bool:
        before = self.head
        if self._reader is not None and self._inodes != self._inodes_now():
            self._close(REPLACED)
        if self._reader is None:
            self._open()
            return before is not None or self.head is not None
        number = self._reader.commit_number
        if number == self._commit:
            return False
        try:
            if not self._reader.is_current():
                self._close(OUTDATED)
                return True
            self._read_head(self._reader, number)
        except StorageError as problem:
            self._fail(problem)
        return True

    @contextmanager
    def snapshot(self) -> Iterator[CommitView]:
        if self._reader is None or self.head is None:
            raise PlainError(self.reason)
        with self._reader.snapshot() as view:
            yield view

    def free_dead_readers(self) -> None:
        if self._reader is not None:
            self._reader.free_dead_readers()
        self.projections.free_dead_readers()

    def close(self) -> None:
        self._close(self.reason)
        self.projections.close()

    def _open(self) -> None:
        try:
            if not (self._folder / DATA_FILE).exists():
                self._close(NO_STATE)
                return
            with files_stay(self._folder):
                reader = StateReader.open(self._folder, self._tables, most_derived=MOST_DERIVED)
                self._inodes = self._inodes_now()
        except (StorageError, OSError) as problem:
            self._fail(problem)
            return
        self._reader = reader
        self.openings += 1
        try:
            reader.free_dead_readers()
            self._read_head(reader, reader.commit_number)
        except StorageError as problem:
            self._fail(problem)

    def _read_head(self, reader: StateReader, number: int) -> None:
        # The number is from before the reading: a commit in between is read now, and looked at again.
        with reader.snapshot() as view:
            found = view.find(DYNAMIC_GLOBAL_PROPERTIES, 0)
        self._commit = number
        self.reason = NO_STATE
        self.head = None if found is None else StateHead(found.head_block_number, found.head_block_id, found.time)

    def _inodes_now(self) -> Inodes:
        try:
            found = [(self._folder / name).stat() for name in LMDB_FILES]
        except OSError:
            return ()
        return tuple((each.st_dev, each.st_ino) for each in found)

    def _fail(self, problem: StorageError | OSError) -> None:
        reason = UNREADABLE
        if isinstance(problem, StoreLocked):
            reason = REPLACED
        elif isinstance(problem, StoreOutdated | StoreNewer):
            reason = OUTDATED
        if reason != self.reason:
            log.warning("the state cannot be served: %(reason)s", {"reason": problem})
        self._close(reason)

    def _close(self, reason: str) -> None:
        reader, self._reader = self._reader, None
        self.head, self.reason, self._commit = None, reason, -1
        if reader is not None:
            reader.close()
