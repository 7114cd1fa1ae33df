"""Copies of a whole state, made and put back: the snapshots of a development chain.

Readers in other processes see one commit or the other, never a mixture.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

import lmdb

from ledgerd.state.files.disk import MAX_DATABASES, Disk, LmdbTransaction, Space

SPARE = 64 << 20
"""Bytes that a copy may be larger than the file: pages are filled in another way."""


def copy_state(folder: Path, target: Path) -> None:
    """Copy the last commit of a state. This process must not have the state open."""
    target.mkdir(parents=True)
    with lmdb.Environment(str(folder), readonly=True, max_dbs=MAX_DATABASES) as environment:
        environment.copy(str(target))


def copy_commit(folder: Path, target: Path) -> None:
    """Copy the last commit of a state that another process may be writing to, which is not made to wait.

    The copy of LMDB itself would wait for the writer, whose transaction is always open.
    """
    target.mkdir(parents=True)
    with (
        lmdb.Environment(str(folder), readonly=True, max_dbs=MAX_DATABASES) as source,
        source.begin() as read,
    ):
        used = (source.info()["last_pgno"] + 1) * source.stat()["psize"]
        with lmdb.Environment(str(target), map_size=used + SPARE, max_dbs=MAX_DATABASES, sync=False) as copy:
            for name, _ in read.cursor():
                rows = source.open_db(name, txn=read, create=False)
                with copy.begin(write=True) as write, write.cursor(copy.open_db(name, txn=write)) as cursor:
                    cursor.putmulti(read.cursor(rows), append=True)


def put_back(folder: Path, source: Path, few: Mapping[str, Collection[bytes]] | None = None) -> None:
    """Make a state equal to its copy, in one commit. No process may have the state open for writing.

    Of large tables it may be known that only rows under a few keys have changed since, and that none is new.
    """
    disk = Disk(folder, Space())
    try:
        with lmdb.Environment(str(source), readonly=True, max_dbs=MAX_DATABASES) as copy:
            disk.carry_out(lambda: _replace(disk, copy, few or {}))
    finally:
        disk.close()


def _replace(disk: Disk, copy: lmdb.Environment, few: Mapping[str, Collection[bytes]]) -> None:
    with copy.begin() as read:
        names = [name for name, _ in read.cursor()]
        handles = {name: copy.open_db(name, txn=read, create=False) for name in names}
        ours = disk.open_databases(name.decode() for name in names)
        write: LmdbTransaction = disk.transaction
        for name, handle in handles.items():
            database, rows, keys = ours[name.decode()], read.cursor(handle), few.get(name.decode())
            if keys is None:
                write.drop(database, delete=False)
            with write.cursor(database) as cursor:
                cursor.putmulti(rows if keys is None else rows.getmulti(keys), append=keys is None)
