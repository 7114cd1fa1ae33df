"""A state as it was, kept beside itself and put back: for chains that developers go back and forth on.

Readers in other processes see one commit or the other, never anything between.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import lmdb

from ledgerd.state.disk import MAX_DATABASES, Disk, Space

if TYPE_CHECKING:
    from ledgerd.state.disk import Transaction


def copy_state(folder: Path, target: Path) -> None:
    """Copy the last commit of a state. This process may not have it open."""
    target.mkdir(parents=True)
    with lmdb.Environment(str(folder), readonly=True, max_dbs=MAX_DATABASES) as environment:
        environment.copy(str(target))


def put_back(folder: Path, source: Path) -> None:
    """Make a state what its copy is, in one commit. Nobody may have it open for writing."""
    disk = Disk(folder, Space())
    try:
        with lmdb.Environment(str(source), readonly=True, max_dbs=MAX_DATABASES) as copy:
            while True:
                try:
                    _replace(disk, copy)
                    disk.commit()
                except lmdb.MapFullError:
                    disk.grow()
                    continue
                break
    finally:
        disk.close()


def _replace(disk: Disk, copy: lmdb.Environment) -> None:
    with copy.begin() as read:
        names = [name for name, _ in read.cursor()]
        handles = {name: copy.open_db(name, txn=read, create=False) for name in names}
        ours = disk.open_databases(name.decode() for name in names)
        write: Transaction = disk.transaction
        for name, handle in handles.items():
            database = ours[name.decode()]
            write.drop(database, delete=False)
            for key, value in read.cursor(handle):
                write.put(key, value, db=database)
