"""A write transaction that records what is put and deleted, so that a copy of the file can be given the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import lmdb
from lmdb import _Database as Database

ChangedEntries = dict[bytes, bytes | None]
"""The keys of a database that were written, each with its last value, or none where it was deleted."""
FileChanges = dict[int, ChangedEntries]
"""By the number of a database."""


class RecordingTransaction:
    """Stands for a transaction of LMDB: reads go there directly, writes are recorded on their way."""

    def __init__(self, transaction: lmdb.Transaction[bytes], numbers: Mapping[Database, int]) -> None:
        self._put, self._delete = transaction.put, transaction.delete
        self.get, self.cursor, self.stat = transaction.get, transaction.cursor, transaction.stat
        self.commit, self.abort = transaction.commit, transaction.abort
        self._numbers = numbers
        self.changes: FileChanges = defaultdict(dict)

    def put_all(self, database: Database, removed: Iterable[bytes], added: Collection[tuple[bytes, bytes]]) -> None:
        """Delete entries, then put others; recorded all at once, as each commit has many."""
        number = self._numbers.get(database)
        if number is not None:
            entries = self.changes[number]
            removed = [*removed]
            entries.update(dict.fromkeys(removed))
            entries.update(added)
        put, delete = self._put, self._delete
        for key in removed:
            delete(key, db=database)
        for key, value in added:
            put(key, value, db=database)

    def put(self, key: bytes, value: bytes, *, db: Database) -> bool:
        number = self._numbers.get(db)
        if number is not None:
            self.changes[number][key] = value
        return self._put(key, value, db=db)

    def delete(self, key: bytes, *, db: Database) -> bool:
        number = self._numbers.get(db)
        if number is not None:
            self.changes[number][key] = None
        return self._delete(key, db=db)
