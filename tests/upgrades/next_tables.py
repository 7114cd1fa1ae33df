"""The tables of `tests.state.items` as a made-up next format has them: an item has a note too."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec.structs import replace

from ledgerd.basics.formats import Format
from ledgerd.codec.types.numbers import Int64, UInt32
from ledgerd.state import Store
from ledgerd.state.conversion import Conversion, ConvertedStore, convert_store
from ledgerd.state.files import header
from ledgerd.state.sessions.journal import JOURNAL, TableJournal
from ledgerd.state.tables.keys import BOOL, INT64, NAME_TEXT, OWN_ID, TIME, descending
from ledgerd.state.tables.tables import RANK_BYTES, Entity, Table, layout, ordered, unique
from tests.state.blocks import SMALL
from tests.state.items import COUNTERS, ITEMS

NEXT = Format("ledgerd state", header.STATE.number + 1, "1.1.0")


class Item(Entity):
    """What it was, and what is said of it."""

    name: str = ""
    time: UInt32 = 0
    weight: Int64 = 0
    is_open: bool = False
    note: str = ""


NOTED_ITEMS = Table(Item, number=1)
unique(NOTED_ITEMS, "by_name", key=lambda item: (item.name,), order=(NAME_TEXT,))
ordered(NOTED_ITEMS, "by_time", key=lambda item: (item.time,), order=(TIME,))
ordered(NOTED_ITEMS, "by_weight", key=lambda item: (item.weight,), order=(descending(INT64),))
unique(
    NOTED_ITEMS,
    "by_open_time",
    key=lambda item: (item.is_open, item.time, item.id),
    order=(BOOL, TIME, OWN_ID),
)
NEXT_TABLES = (NOTED_ITEMS, COUNTERS)
STEP = "ledgerd.tests.step"
"""The audit event of each row that is changed."""


def _add_notes(store: ConvertedStore) -> None:
    """To each object, after its ranks, and to each image of the journal. The indexes stay as they are."""
    start = len(ITEMS.ordered_indexes) * RANK_BYTES

    def with_note(body: bytes) -> bytes:
        sys.audit(STEP, store.environment.path())
        return body + b"\0"

    _change(store, ITEMS.title, lambda raw: raw[:start] + with_note(raw[start:]))
    _change(store, JOURNAL, lambda raw: _with_images(raw, with_note))


def _change(store: ConvertedStore, name: str, change: Callable[[bytes], bytes]) -> None:
    with store.transaction.cursor(store.database(name)) as cursor:
        found = cursor.first()
        while found:
            cursor.put(cursor.key(), change(cursor.value()))
            found = cursor.next()


def _with_images(raw: bytes, change: Callable[[bytes], bytes]) -> bytes:
    def changed(images: dict[int, bytes]) -> dict[int, bytes]:
        return {object_id: body and change(body) for object_id, body in images.items()}

    journals = msgspec.msgpack.decode(raw, type=tuple[TableJournal, ...])
    return msgspec.msgpack.encode(
        [
            replace(each, removed=changed(each.removed), modified=changed(each.modified))
            if each.number == ITEMS.number
            else each
            for each in journals
        ]
    )


STEPS = (Conversion(NEXT.number, _add_notes),)


def convert(folder: Path) -> None:
    """As the made-up next version does at its start."""
    convert_store(folder, NEXT, STEPS, layout(NEXT_TABLES).encode())


def open_next(folder: Path) -> Store:
    """The same, with the store that it opens then. The format of the process has to be the next one."""
    convert(folder)
    return Store.open(folder, NEXT_TABLES, space=SMALL)
