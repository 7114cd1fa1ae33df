"""Files of a state as another version of the program would have left them."""

from __future__ import annotations

from pathlib import Path

import lmdb

from ledgerd.state.files.disk import MAX_DATABASES
from ledgerd.state.files.header import FORMAT_KEY, HEADER


def make_outdated(folder: Path) -> None:
    """Give the state in a folder the format of another version."""
    with lmdb.Environment(str(folder), max_dbs=MAX_DATABASES) as environment:
        header = environment.open_db(HEADER.encode())
        with environment.begin(write=True) as transaction:
            transaction.put(FORMAT_KEY, b"ledgerd state 0", db=header)
