"""Conversion of a store from the format of an earlier version, at the first start of a later one.

It is done in a copy beside the file, which takes its place when all of it is on the disk: a kill at any moment leaves
the file as it was, or as it is to be. The former file is kept in a folder, for those who want to go back.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import lmdb

from ledgerd.basics.durable import sync_folder
from ledgerd.basics.formats import Format
from ledgerd.state.errors import StoreFull
from ledgerd.state.files.disk import DATA_FILE, LOCKS, MAX_DATABASES, Database, LmdbTransaction, failure, taken_bytes
from ledgerd.state.files.header import BEING_LOADED, FORMAT_KEY, HEADER, LAYOUT_KEY, OPENED_BY_KEY
from ledgerd.state.files.lock import lock_writer, swapping

log = logging.getLogger(__name__)

PART = "converted.part"
SPEED = 20 << 20
"""Bytes a second: less than disks and rows take, so that it is sooner done than was said."""
SPARE = 64 << 20
"""Bytes that must be left beside the copy."""


class ConvertedStore(NamedTuple):
    """What a step of a conversion changes: the copy, in one transaction."""

    environment: lmdb.Environment
    transaction: LmdbTransaction

    def database(self, name: str) -> Database:
        """One that is there, or a new one."""
        return self.environment.open_db(name.encode(), self.transaction)


class Conversion(NamedTuple):
    """The step to a format from the one before it."""

    number: int
    convert: Callable[[ConvertedStore], None]


STATE_STEPS: tuple[Conversion, ...] = ()
"""Of the state, one for each format after that of version 1.0.0."""


def convert_store(folder: Path, format_: Format, steps: Sequence[Conversion], layout: bytes | None = None) -> None:
    """Bring a store to the format of today, where it has an earlier one and there is a step for each format between.
    Nobody may have it open. `StoreFull`: the disk has no room for it, and nothing was begun.
    """
    part = folder / PART
    if not steps or not (folder / DATA_FILE).exists():
        return
    with lock_writer(folder):
        shutil.rmtree(part, ignore_errors=True)
        number = _number_of(folder, format_)
        needed = [step for step in steps if number is not None and number < step.number <= format_.number]
        if number is None or [step.number for step in needed] != [*range(number + 1, format_.number + 1)] or not needed:
            return
        _announce(folder, number, format_)
        try:
            _copy(folder, part)
            _change(part, format_, needed, layout)
            _put_in_place(folder, part, number)
        except (lmdb.Error, OSError) as error:
            raise failure(folder, error) from error
        log.info("%(folder)s is converted", {"folder": folder})


def kept_name(number: int) -> str:
    """The folder, in that of the store, with the file as it was in a former format."""
    return f"format-{number}"


def _number_of(folder: Path, format_: Format) -> int | None:
    """Of its format; none where there is nothing that is whole."""
    with (
        suppress(lmdb.Error, OSError),
        lmdb.Environment(str(folder), readonly=True, max_dbs=1) as environment,
        environment.begin() as transaction,
    ):
        header = environment.open_db(HEADER.encode(), transaction, create=False)
        is_whole = not transaction.get(LAYOUT_KEY, b"", db=header).startswith(BEING_LOADED.encode())
        return format_.number_in(transaction.get(FORMAT_KEY, b"", db=header)) if is_whole else None
    return None


def _announce(folder: Path, number: int, format_: Format) -> None:
    size = taken_bytes(folder / DATA_FILE)
    words = {
        "folder": folder,
        "from": number,
        "to": format_.number,
        "megabytes": -(-size >> 20) or 1,
        "seconds": size // SPEED + 1,
        "kept": folder / kept_name(number),
    }
    log.warning(
        "%(folder)s is converted from format %(from)d to %(to)d: it takes about %(seconds)d s and %(megabytes)d MB of "
        "the disk. It may be stopped and begun again at any time; what is there is kept in %(kept)s, which you may "
        "remove when you will not go back",
        words,
    )
    if shutil.disk_usage(folder).free < size + SPARE:
        raise StoreFull(
            f"the disk of {folder} has no room for {(size + SPARE) >> 20} MB, which the conversion to format "
            f"{format_.number} takes: free some space and start again; nothing was changed"
        )


def _copy(folder: Path, part: Path) -> None:
    part.mkdir()
    with lmdb.Environment(str(folder), readonly=True, max_dbs=MAX_DATABASES) as environment:
        environment.copy(str(part), compact=True)


def _change(part: Path, format_: Format, steps: Sequence[Conversion], layout: bytes | None) -> None:
    """Each step is a transaction, which begins in a larger map where it does not fit."""
    size = (part / DATA_FILE).stat().st_size
    with lmdb.Environment(str(part), map_size=2 * size + SPARE, max_dbs=MAX_DATABASES) as environment:
        for step in steps:
            while True:
                try:
                    with environment.begin(write=True) as transaction:
                        _apply_step(step, ConvertedStore(environment, transaction), format_, layout)
                    break
                except lmdb.MapFullError:
                    environment.set_mapsize(2 * environment.info()["map_size"])


def _apply_step(step: Conversion, store: ConvertedStore, format_: Format, layout: bytes | None) -> None:
    step.convert(store)
    header, reached = store.database(HEADER), format_._replace(number=step.number)
    store.transaction.put(FORMAT_KEY, reached.text, db=header)
    store.transaction.put(OPENED_BY_KEY, format_.opened_by.encode(), db=header)
    if layout is not None:
        store.transaction.put(LAYOUT_KEY, layout, db=header)


def _put_in_place(folder: Path, part: Path, number: int) -> None:
    kept = folder / kept_name(number)
    kept.mkdir(exist_ok=True)
    fresh = kept / f"{DATA_FILE}.new"
    fresh.unlink(missing_ok=True)
    os.link(folder / DATA_FILE, fresh)
    fresh.replace(kept / DATA_FILE)
    fresh.unlink(missing_ok=True)  # where both were one file already, that was left
    sync_folder(kept)
    with swapping(folder):
        (folder / LOCKS).unlink(missing_ok=True)
        (part / DATA_FILE).replace(folder / DATA_FILE)
    sync_folder(folder)
    shutil.rmtree(part)
