"""The database file: its one transaction, its growth, and what its errors are called."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import lmdb
import pytest

from ledgerd.state import Space
from ledgerd.state.errors import StorageError, StoreCorrupt, StoreFull
from ledgerd.state.files.disk import Database, Disk, LmdbTransaction, failure

SMALL = Space(initial=1 << 20, min_free=1 << 17, increment=1 << 18)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    disk = Disk(tmp_path, SMALL)
    yield disk
    disk.close()


def entries(disk: Disk, database: Database) -> dict[bytes, bytes]:
    return dict(disk.transaction.cursor(database))


def map_size(disk: Disk) -> int:
    return int(disk.environment.info()["map_size"])


def test_what_is_not_committed_is_lost(disk: Disk) -> None:
    database = disk.open_databases(["one"])["one"]
    disk.commit()
    disk.put_all(database, [], [(b"a", b"1")])
    disk.commit()
    disk.put_all(database, [b"a"], [(b"b", b"2")])
    assert entries(disk, database) == {b"b": b"2"}

    disk.abort()

    assert entries(disk, database) == {b"a": b"1"}


def test_an_entry_may_take_the_key_of_one_that_is_deleted(disk: Disk) -> None:
    database = disk.open_databases(["one"])["one"]
    disk.put_all(database, [], [(b"a", b"1")])

    disk.put_all(database, [b"a"], [(b"a", b"2")])

    assert entries(disk, database) == {b"a": b"2"}


def test_a_file_is_new_until_something_is_committed(tmp_path: Path) -> None:
    found = []
    for is_committed in (False, True, True):
        disk = Disk(tmp_path, SMALL)
        found.append(disk.is_new)
        disk.open_databases(["one"])
        if is_committed:
            disk.commit()
        disk.close()

    assert found == [True, True, False]


def test_a_full_map_grows_and_the_lost_transaction_is_written_again(disk: Disk) -> None:
    database = disk.open_databases(["one"])["one"]
    disk.commit()
    written: list[tuple[bytes, bytes]] = []

    def write_again(transaction: LmdbTransaction) -> None:
        for key, value in written:
            transaction.put(key, value, db=database)

    disk.on_begin(write_again)
    for number in range(40):
        written.append((b"%d" % number, bytes(1 << 16)))
        disk.put_all(database, [], written[-1:])

    assert map_size(disk) > SMALL.initial
    assert entries(disk, database) == dict(written)
    disk.commit()
    disk.on_begin(lambda _: None)
    assert entries(disk, database) == dict(written)


def test_a_transaction_begins_with_free_space(disk: Disk) -> None:
    database = disk.open_databases(["one"])["one"]
    disk.put_all(database, [], [(b"large", bytes(SMALL.initial - SMALL.min_free))])
    disk.commit()
    before = map_size(disk)

    assert disk.transaction.get(b"large", db=database) is not None
    assert map_size(disk) == before + SMALL.increment


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), StoreFull, "free some space and start again"),
        (lmdb.CorruptedError("bad page"), StoreCorrupt, "replay the block log or import a snapshot"),
        (lmdb.VersionMismatchError("other"), StoreCorrupt, "replay the block log or import a snapshot"),
        (
            OSError(errno.EACCES, "Permission denied"),
            StorageError,
            "check the disk, its free space and",
        ),
    ],
)
def test_an_error_says_what_the_operator_should_do(
    error: Exception, kind: type[StorageError], said: str, tmp_path: Path
) -> None:
    found = failure(tmp_path, error)

    assert type(found) is kind
    assert said in str(found)


@pytest.mark.parametrize(("free", "kind"), [(1 << 20, StoreFull), (1 << 40, StorageError)])
def test_a_short_write_means_a_full_disk_only_where_little_is_free(
    free: int, kind: type[StorageError], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: type("Usage", (), {"free": free}))

    assert type(failure(tmp_path, OSError(errno.EIO, "Input/output error"))) is kind
