"""One file of a copy: the entries of databases that have numbers, byte for byte, and the digest of what is in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ledgerd.replica.digest import MODULUS, hash_of, packed_digest, read_digest
from ledgerd.state.files.disk import Disk, LmdbTransaction, Space
from ledgerd.state.files.recording import ChangedEntries

OWN = "replica"
"""A database that the node's file does not have."""
DIGEST_KEY = b"digest"


class CopiedFile:
    """Open for writing."""

    def __init__(self, folder: Path, names: Mapping[int, str]) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self._disk = Disk(folder, Space())
        databases = self._disk.open_databases((*names.values(), OWN))
        self._disk.commit()
        self._own = databases[OWN]
        self._databases = {number: databases[name] for number, name in names.items()}
        self.header = self._databases[min(names)]
        self.total = 0
        """The digest of all that was written."""
        self.is_whole = False
        """Whether the last commit is that of a node's file, with a digest."""
        self._is_changed = False
        self._read()

    @property
    def transaction(self) -> LmdbTransaction:
        return self._disk.transaction

    def reading(self) -> LmdbTransaction:
        """A transaction of the last commit; one to write would belong to the thread."""
        return self._disk.environment.begin()

    def _read(self) -> None:
        with self.reading() as transaction:
            digest = transaction.get(DIGEST_KEY, db=self._own)
        self.is_whole = digest is not None
        self.total = 0 if digest is None else read_digest(digest)

    def write(self, number: int, entries: ChangedEntries) -> None:
        """Change entries of a database; the digest is that of what is there then."""
        database, transaction, total = self._databases[number], self._disk.transaction, self.total
        for key, value in sorted(entries.items()):
            before = transaction.get(key, db=database)
            if before == value:
                continue
            if before is not None:
                total -= hash_of(number, key, before)
            if value is None:
                transaction.delete(key, db=database)
            else:
                transaction.put(key, value, db=database)
                total += hash_of(number, key, value)
        self.total = total % MODULUS
        self.touch()

    def touch(self) -> None:
        """The next commit has something to do."""
        self._is_changed = True

    def commit(self) -> None:
        if self._is_changed:
            self._disk.transaction.put(DIGEST_KEY, packed_digest(self.total), db=self._own)
            self._disk.commit()
            self._is_changed, self.is_whole = False, True

    def drop(self) -> None:
        for database in (*self._databases.values(), self._own):
            self._disk.transaction.drop(database, delete=False)
        self.total, self.is_whole = 0, False

    def append(self, number: int, items: Sequence[tuple[bytes, bytes]]) -> bool:
        """Add entries behind all that are there; whether they belong there."""
        _, added = self._disk.transaction.cursor(self._databases[number]).putmulti(items, append=True)
        self.total = (self.total + sum([hash_of(number, key, value) for key, value in items])) % MODULUS
        return added == len(items)

    def commit_part(self) -> None:
        """Make durable what is not whole yet."""
        self._disk.commit()

    def forget(self) -> None:
        """This is no file of a node's any more."""
        self._disk.transaction.delete(DIGEST_KEY, db=self._own)
        self._disk.commit()
        self._read()

    def abort(self) -> None:
        self._disk.abort()
        self._is_changed = False
        self._read()

    def grow(self) -> None:
        """Enlarge the map; what was not committed is lost."""
        self._disk.grow()

    def close(self) -> None:
        self._disk.close()
