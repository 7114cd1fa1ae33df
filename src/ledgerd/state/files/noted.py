"""A write transaction that notes what is put and deleted, so that a copy of the file can be given the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import lmdb
from lmdb import _Database as Database

Notes = dict[int, dict[bytes, bytes | None]]
"""By the number of a database: its keys that were written, each with its last value, or none where it was deleted."""


class NotedTransaction:
    """Stands for a transaction of LMDB: reads go there directly, writes are noted on their way."""

    def __init__(self, transaction: lmdb.Transaction[bytes], numbers: Mapping[Database, int]) -> None:
        self._put, self._delete = transaction.put, transaction.delete
        self.get, self.cursor, self.stat = transaction.get, transaction.cursor, transaction.stat
        self.commit, self.abort = transaction.commit, transaction.abort
        self._numbers = numbers
        self.notes: Notes = defaultdict(dict)

    def put_all(self, database: Database, removed: Iterable[bytes], added: Collection[tuple[bytes, bytes]]) -> None:
        """Delete entries, then put others; noted all at once, as each commit has many."""
        number = self._numbers.get(database)
        if number is not None:
            noted = self.notes[number]
            removed = [*removed]
            noted.update(dict.fromkeys(removed))
            noted.update(added)
        put, delete = self._put, self._delete
        for key in removed:
            delete(key, db=database)
        for key, value in added:
            put(key, value, db=database)

    def put(self, key: bytes, value: bytes, *, db: Database) -> bool:
        number = self._numbers.get(db)
        if number is not None:
            self.notes[number][key] = value
        return self._put(key, value, db=db)

    def delete(self, key: bytes, *, db: Database) -> bool:
        number = self._numbers.get(db)
        if number is not None:
            self.notes[number][key] = None
        return self._delete(key, db=db)
