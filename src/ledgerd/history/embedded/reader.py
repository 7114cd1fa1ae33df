"""The embedded history for readers in other processes: they see whole commits, and do not block the writer. A reader is
opened in the process that uses it, not before a fork.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import lmdb

from ledgerd.basics.closing import Closing, on_error
from ledgerd.chain.log.histories import History, HistoryView
from ledgerd.history.embedded.kept_facts import KeptFacts, ReadLoggedBlock
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.soundness import Soundness
from ledgerd.history.embedded.view import EmbeddedView, ShownTexts
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.missed import MissedBefore
from ledgerd.history.store.stored import StoredHistory
from ledgerd.history.store.tables import Tables
from ledgerd.state.files.disk import DATA_FILE, LmdbTransaction, environment_to_read

CLOSED = -1
"""Instead of the number of a file: another one has taken its place, and could not be opened."""


class EmbeddedHistory(History, Closing):
    """A history, open for reading beside its writer, who may put another one in its place."""

    def __init__(
        self,
        environment: lmdb.Environment,
        log: LogBytes,
        settings: HistorySettings,
        place: tuple[str, int] | None = None,
    ) -> None:
        self.count_blocks = settings.count_blocks
        self._environment = environment
        self._log = log
        self._remembered = ShownTexts()
        self._tables = Tables.open(environment, None, create=False)
        self._place = place
        """The path and the inode of the file; None in the process of the writer, which opens the file itself."""
        self._readers = 0
        """The readers that are at work: the file stays open until they have ended."""

    @classmethod
    def open(cls, folder: Path, log_folder: Path, settings: HistorySettings) -> Self:
        """Open the history that another process writes; `HistoryDamaged` if it is missing or cannot be read."""
        try:
            place = str(folder / DATA_FILE), _inode_of(str(folder / DATA_FILE))
            environment = environment_to_read(folder)
            with on_error(environment.close):
                return cls(environment, LogBytes(log_folder), settings, place)
        except (lmdb.Error, OSError) as problem:
            raise HistoryDamaged(f"{folder}: {problem}") from problem

    def forget(self) -> None:
        """Drop cached texts: a development chain has undone irreversible blocks."""
        self._remembered.clear()

    @contextmanager
    def reading(self) -> Iterator[HistoryView]:
        self._log.refresh()
        with self._transaction() as transaction:
            yield EmbeddedView(transaction, self._tables, self._log, self._remembered)

    def missed(self, first: int, last: int) -> tuple[int, list[MissedBefore]]:
        """The missed slots before the blocks of a range, and from which block on they are recorded; 0 for never."""
        with self._transaction() as transaction:
            slots = StoredHistory(transaction, self._tables).missed
            return slots.first, [*slots.between(first, last)]

    def faults(self, logged: ReadLoggedBlock) -> Iterator[str]:
        with self._transaction() as transaction:
            yield from Soundness(StoredHistory(transaction, self._tables), logged).faults()

    @contextmanager
    def keeping(self, logged: ReadLoggedBlock) -> Iterator[KeptFacts]:
        """What it has kept of blocks, as it is now: for a moment, since meanwhile no space of it is used again."""
        with self._transaction() as transaction:
            yield KeptFacts(StoredHistory(transaction, self._tables), logged)

    @contextmanager
    def _transaction(self) -> Iterator[LmdbTransaction]:
        if self._place is not None and not self._readers:
            path, file = self._place
            found = _inode_of(path)
            if file == CLOSED or found not in {0, file}:
                self._reopen(path, found)
        self._readers += 1
        try:
            with self._begin() as transaction:
                yield transaction
        finally:
            self._readers -= 1

    def _reopen(self, path: str, file: int) -> None:
        """Read the history that the writer has put in the place of this one: a process opens a folder only once."""
        folder = Path(path).parent
        self._environment.close()
        self._place = path, CLOSED
        self.forget()
        try:
            self._environment = environment_to_read(folder)
            self._tables = Tables.open(self._environment, None, create=False)
        except (lmdb.Error, OSError) as problem:
            self._environment.close()
            raise HistoryDamaged(f"{folder}: {problem}") from problem
        self._place = path, file

    def _begin(self) -> LmdbTransaction:
        try:
            return self._environment.begin()
        except lmdb.MapResizedError:
            self._environment.set_mapsize(0)
        return self._environment.begin()

    def close(self) -> None:
        self._environment.close()
        self._log.close()


def _inode_of(path: str) -> int:
    """The file's number; 0 while there is none. With `os`, since a `Path` would take twice as long at every request."""
    try:
        return os.stat(path).st_ino  # noqa: PTH116
    except OSError:
        return 0
