"""Files as a version after this one would have left them."""

from __future__ import annotations

import json
from pathlib import Path

import lmdb

from ledgerd.state.files.disk import MAX_DATABASES

NUMBER, VERSION = 9, "9.1.0"
WORDS = (f"has format {NUMBER}, and this program knows", f"Start version {VERSION} of ledgerd or a later one")


def make_store_newer(folder: Path, title: str) -> Path:
    """Give a store the format of a later version; its file."""
    with lmdb.Environment(str(folder), max_dbs=MAX_DATABASES) as environment:
        header = environment.open_db(b"header", create=False)
        with environment.begin(write=True) as transaction:
            transaction.put(b"format", f"{title} {NUMBER}".encode(), db=header)
            transaction.put(b"opened by", VERSION.encode(), db=header)
    (folder / "lock.mdb").unlink()
    return folder / "data.mdb"


def make_file_newer(file: Path) -> Path:
    """Give a file of JSON another format, with fields that nobody knows, in place of those that are known."""
    fields = {"format": NUMBER, "opened_by": VERSION, "blocks": [{"slot": 1}]}
    file.write_text(json.dumps(fields).ljust(file.stat().st_size))
    return file
