"""Copies of a whole state, made and put back: the snapshots of a development chain.

Readers in other processes see one commit or the other, never a mixture.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import lmdb

from ledgerd.state.disk import MAX_DATABASES, Disk, Space

if TYPE_CHECKING:
    from ledgerd.state.disk import LmdbTransaction


def copy_state(folder: Path, target: Path) -> None:
    """Copy the last commit of a state. This process must not have the state open."""
    target.mkdir(parents=True)
    with lmdb.Environment(str(folder), readonly=True, max_dbs=MAX_DATABASES) as environment:
        environment.copy(str(target))


def put_back(folder: Path, source: Path) -> None:
    """Make a state equal to its copy, in one commit. No process may have the state open for writing."""
    disk = Disk(folder, Space())
    try:
        with lmdb.Environment(str(source), readonly=True, max_dbs=MAX_DATABASES) as copy:
            disk.carry_out(lambda: _replace(disk, copy))
    finally:
        disk.close()


def _replace(disk: Disk, copy: lmdb.Environment) -> None:
    with copy.begin() as read:
        names = [name for name, _ in read.cursor()]
        handles = {name: copy.open_db(name, txn=read, create=False) for name in names}
        ours = disk.open_databases(name.decode() for name in names)
        write: LmdbTransaction = disk.transaction
        for name, handle in handles.items():
            database = ours[name.decode()]
            write.drop(database, delete=False)
            for key, value in read.cursor(handle):
                write.put(key, value, db=database)
