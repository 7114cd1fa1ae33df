"""The database file: opening it, its one write transaction, its growth, and the meaning of its errors.

Knows sub-databases and bytes; no objects.
"""

from __future__ import annotations

import errno
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from pathlib import Path
from typing import NamedTuple, NoReturn, TypeAlias, cast

import lmdb
from lmdb import _Database

from ledgerd.state.errors import StorageError, StoreFull, unreadable
from ledgerd.state.files.change_log import ChangeLog
from ledgerd.state.files.pages import is_whole
from ledgerd.state.files.recording import FileChanges, RecordingTransaction

DATA_FILE, LOCKS = "data.mdb", "lock.mdb"
MAX_DATABASES = 512
MAX_READERS = 512

MANY = 8
"""Entries from which on it pays to hand them over together: a cursor costs as much as some of them one by one."""

NEARLY_FULL = 64 << 20
"""A short write is reported as a failure of the device; with less free space than this, the disk is taken as full."""

FULL = {errno.ENOSPC, errno.EFBIG, errno.EDQUOT if hasattr(errno, "EDQUOT") else errno.ENOSPC}
DAMAGED = (
    lmdb.BadTxnError,
    lmdb.CorruptedError,
    lmdb.InvalidError,
    lmdb.PageNotFoundError,
    lmdb.VersionMismatchError,
)

RESERVED_ADDRESSES = 1 << 40 if sys.platform != "win32" and sys.maxsize > 1 << 32 else 0
"""A reader reserves addresses for a file of any size, so that its map stays valid when the writer's file grows; no
memory is allocated by that. Where the system cannot do so, a reader maps the file again when it has grown."""

SPARE_TRANSACTIONS = 16

Database = _Database
LmdbTransaction: TypeAlias = "lmdb.Transaction[bytes]"
Cursor: TypeAlias = "lmdb.Cursor[bytes]"


class Space(NamedTuple):
    """The size of the file's map in bytes: hints, since the map grows when needed; and what else is kept, and where."""

    initial: int = 4 << 30
    min_free: int = 256 << 20
    increment: int = 1 << 30
    folder: Path | None = None
    """The folder of a chain's state, if it is not the one of its block log."""
    changes: ChangeLog | None = None
    """Where what each commit changes is written too, for copies of the state."""
    is_beside: bool = False
    """Whether this is a store beside that state, whose changes go into the record of its next commit."""


def failure(folder: Path, error: Exception) -> StorageError:
    code = getattr(error, "code", None) or getattr(error, "errno", None)
    if code in FULL or (code == errno.EIO and shutil.disk_usage(folder).free < NEARLY_FULL):
        return StoreFull(
            f"no room left for the state in {folder} ({error}): free some space and start again; "
            "the state is that of the last commit"
        )
    if isinstance(error, DAMAGED):
        return unreadable(f"{folder}: {error}")
    return StorageError(
        f"the state in {folder} cannot be written or read ({error}): check the disk, its free space and "
        "its permissions; the state is that of the last commit"
    )


def taken_bytes(path: Path) -> int:
    try:
        return path.stat().st_blocks * 512
    except OSError:
        return 0


def environment_to_read(folder: Path) -> lmdb.Environment:
    """The file that another process writes, for reading beside it."""
    return lmdb.Environment(
        str(folder),
        map_size=RESERVED_ADDRESSES,
        readonly=True,
        max_dbs=MAX_DATABASES,
        max_readers=MAX_READERS,
        max_spare_txns=SPARE_TRANSACTIONS,
    )


class Disk:
    """The LMDB environment of the writer. A write transaction is open from the first read or write until the commit."""

    def __init__(self, folder: Path, space: Space) -> None:
        self.folder = folder
        self.space = space
        self._transaction: LmdbTransaction | None = None
        self._after_begin: Callable[[LmdbTransaction], None] = lambda _: None
        self._numbers: Mapping[Database, int] | None = None
        try:
            self.environment = lmdb.Environment(
                str(folder), map_size=space.initial, max_dbs=MAX_DATABASES, max_readers=MAX_READERS
            )
            self.environment.reader_check()
        except (lmdb.Error, OSError) as error:
            raise failure(folder, error) from error
        self._check_length()
        self.is_new = self.environment.stat()["entries"] == 0
        """Whether nothing was ever committed."""

    def beside(self) -> Disk:
        """Another write transaction of the same file, to be aborted; what this one has not committed is abandoned, and
        written again when it next begins.
        """
        self.abort()
        other = copy(self)
        other.on_begin(lambda _: None)
        other.record_changes(None)
        return other

    def on_begin(self, action: Callable[[LmdbTransaction], None]) -> None:
        """Set what writes into each new transaction what an abandoned one has lost."""
        self._after_begin = action

    def record_changes(self, numbers: Mapping[Database, int] | None) -> None:
        """From the next transaction on, record what is written into these databases, which have numbers."""
        self._numbers = numbers

    @property
    def changes(self) -> FileChanges:
        transaction = self.transaction
        return transaction.changes if isinstance(transaction, RecordingTransaction) else {}

    def open_databases(self, names: Iterable[str]) -> dict[str, Database]:
        try:
            transaction = self.transaction
            handles: dict[str, Database] = {
                name: self.environment.open_db(name.encode(), txn=transaction) for name in names
            }
        except lmdb.Error as error:
            self.fail(error)
        return handles

    @property
    def transaction(self) -> LmdbTransaction:
        """The open write transaction; when there is none, one is begun in a map with free space."""
        if self._transaction is None:
            while True:
                self._make_room()
                self._transaction = self._begun()
                try:
                    self._after_begin(self._transaction)
                    break
                except lmdb.MapFullError:
                    self.grow()
        return self._transaction

    def _begun(self) -> LmdbTransaction:
        transaction = self.environment.begin(write=True)
        if self._numbers is None:
            return transaction
        return cast("LmdbTransaction", RecordingTransaction(transaction, self._numbers))

    def put_all(self, database: Database, removed: Iterable[bytes], added: Collection[tuple[bytes, bytes]]) -> None:
        """Change entries; when the map is full, it grows and `on_begin` writes what was written before."""
        try:
            put_all(self.transaction, database, removed, added)
        except lmdb.MapFullError:
            self.grow()
        except lmdb.Error as error:
            self.fail(error)

    def commit(self) -> None:
        """Make the transaction durable, or raise `StoreFull` with the file as it was."""
        if self._transaction is None:
            return
        transaction, self._transaction = self._transaction, None
        try:
            transaction.commit()
        except lmdb.MapFullError:
            transaction.abort()
            raise
        except (lmdb.Error, OSError) as error:
            transaction.abort()
            raise failure(self.folder, error) from error

    def carry_out(self, write: Callable[[], object]) -> None:
        """Write as one transaction, again in a larger map if it does not fit; a failure leaves the file as it was."""
        while True:
            try:
                write()
                self.commit()
                break
            except lmdb.MapFullError:
                self.grow()
            except (lmdb.Error, OSError) as error:
                self.fail(error)
            except BaseException:
                self.abort()
                raise

    def fail(self, error: Exception) -> NoReturn:
        self.abort()
        raise failure(self.folder, error) from error

    def abort(self) -> None:
        if self._transaction is not None:
            transaction, self._transaction = self._transaction, None
            transaction.abort()

    def grow(self) -> None:
        """Enlarge the map; the open transaction is abandoned."""
        self.abort()
        self.environment.reader_check()
        self.environment.set_mapsize(self.environment.info()["map_size"] + self.space.increment)

    def _make_room(self) -> None:
        info = self.environment.info()
        used = self._used()
        missing = used + self.space.min_free - info["map_size"]
        if missing > 0:
            steps = -(-missing // self.space.increment)
            self.environment.set_mapsize(info["map_size"] + steps * self.space.increment)

    def _used(self) -> int:
        last_page: int = self.environment.info()["last_pgno"]
        page_size: int = self.environment.stat()["psize"]
        return (last_page + 1) * page_size

    def _check_length(self) -> None:
        """Find a truncated file now: reading a page beyond its end would kill the process (SIGBUS).

        A sound file may lack its last pages, when the last commit freed them before they were written. So every page
        in use is looked for, and the file is extended with zeros. It is looked for without LMDB: where that expects the
        next page of an index and finds zeros, it ends the process.
        """
        path = self.folder / DATA_FILE
        used, length = self._used(), path.stat().st_size
        if length >= used:
            return
        try:
            with path.open("r+b") as file:
                if not is_whole(file, length, self.environment.stat()["psize"]):
                    raise unreadable(f"{self.folder}: pages of it are missing")
                file.truncate(used)
        except (StorageError, OSError) as error:
            self.environment.close()
            raise failure(self.folder, error) if isinstance(error, OSError) else error from None

    def close(self) -> None:
        self.abort()
        self.environment.close()


def put_all(
    transaction: LmdbTransaction,
    database: Database,
    removed: Iterable[bytes],
    added: Collection[tuple[bytes, bytes]],
) -> None:
    """Delete entries, then put others: a new one may have the key of a deleted one."""
    if isinstance(transaction, RecordingTransaction):
        transaction.put_all(database, removed, added)
        return
    for key in removed:
        transaction.delete(key, db=database)
    if len(added) < MANY:
        for key, value in added:
            transaction.put(key, value, db=database)
        return
    with transaction.cursor(database) as cursor:
        cursor.putmulti(added)
