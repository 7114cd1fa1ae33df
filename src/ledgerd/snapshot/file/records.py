"""The records of a state as snapshots have them, and where two states of one block differ in them, but for what two
sound programs write differently.

Both are read once, in the order of a snapshot, so nothing but the record at hand is in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from ledgerd.codec import DecodeError
from ledgerd.codec.json.text import Json, dumps
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.compare import NOT_COMPARED
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import (
    BY_NAME,
    HEAD_BLOCK,
    METADATA,
    OLD_SECTIONS,
    SECTIONS,
    SnapshotSection,
    renamed,
)
from ledgerd.state.views.view import View

OF_A_PROGRAM = frozenset({METADATA.name, "transaction"})
"""Sections that a program has kept since it began: metadata of markets, and the transactions that it has seen
lately.
"""

NEVER_SET = "block_post_validation"
"""The section with places that the reference does not initialise (spec 03, section 27.2)."""

MOST_UNKNOWN = 100
"""Names of sections and fields of another program that are told of."""

_PLACES = {section.name: place for place, section in enumerate(SECTIONS)}

RecordFields = dict[str, Any]


class StateRecord(NamedTuple):
    """A record, as its text in a snapshot."""

    place: int
    """The place of its section in the order of a snapshot."""
    id: int
    text: str

    @property
    def section(self) -> SnapshotSection[Any]:
        return SECTIONS[self.place]

    def compared(self) -> RecordFields:
        """The fields of the record that are compared. `SnapshotError`: it is no record of its section."""
        try:
            record = json.loads(self.text, strict=False)
        except (ValueError, RecursionError) as problem:
            raise SnapshotError(f"record {self.id} of {self.section.name} cannot be read: {problem}") from problem
        return without_marks(self.section.name, _as_ours(self.section, record))


class DifferingRecord(NamedTuple):
    """A record in which two states differ; nothing if one of them has none of this id."""

    section: str
    id: int
    first: RecordFields | None
    second: RecordFields | None


def without_marks(section: str, record: RecordFields) -> RecordFields:
    """The record without what two correct programs may write differently. `SnapshotError`: it is no record of its
    section.
    """
    if section == NEVER_SET:
        record = _as_ours(BY_NAME[section], record)
    left_out = NOT_COMPARED.get(section, frozenset())
    return {name: value for name, value in record.items() if name not in left_out}


def _as_ours(section: SnapshotSection[Any], record: Json) -> RecordFields:
    """A record under today's names, as this program writes it."""
    try:
        fields: RecordFields = json.loads(section.text(section.parse(record)))
    except DecodeError as problem:
        raise SnapshotError(f"a record of {section.name} cannot be read: {problem}") from problem
    return fields


def records_of_view(view: View) -> Iterator[StateRecord]:
    for place, section in enumerate(SECTIONS):
        if section.name not in OF_A_PROGRAM:
            text_of = section.text
            for entity in view.scan(section.table):
                yield StateRecord(place, entity.id, text_of(entity))


def record_at(view: View, section: str, number: int) -> StateRecord | None:
    """`SnapshotError`: there is no such section."""
    place = _PLACES.get(section)
    if place is None:
        raise SnapshotError(f"there is no section {section} in a snapshot")
    entity = view.find(SECTIONS[place].table, number)
    return None if entity is None else StateRecord(place, number, SECTIONS[place].text(entity))


def records_of_snapshot(snapshot: Snapshot, unknown: set[str]) -> Iterator[StateRecord]:
    """Names of sections and fields that this program does not know are put into a set."""
    for batch in snapshot.batches():
        name = OLD_SECTIONS.get(batch.section, batch.section)
        if name == HEAD_BLOCK or name in OF_A_PROGRAM:
            continue
        place = _PLACES.get(name)
        if place is None:
            _note(unknown, name)
            continue
        _note_fields(unknown, name, batch.records)
        texts = batch.texts or [dumps(each) for each in batch.records]
        for record, text in zip(batch.records, texts, strict=True):
            yield StateRecord(place, _id_of(name, record), text)


def _id_of(name: str, record: Json) -> int:
    number = record.get("id") if isinstance(record, dict) else None
    if type(number) is not int:
        raise SnapshotError(f"a record of {name} in the snapshot has no id")
    return number


def _note_fields(unknown: set[str], name: str, records: list[Json]) -> None:
    known = {field.name for field in BY_NAME[name].fields}
    for record in records:
        if isinstance(record, dict) and not known.issuperset(record):
            for each in renamed(record).keys() - known:
                _note(unknown, f"{name}.{each}")


def _note(unknown: set[str], name: str) -> None:
    if len(unknown) < MOST_UNKNOWN:
        unknown.add(name)


def in_order(records: Iterable[StateRecord]) -> Iterator[StateRecord]:
    """`SnapshotError`: the records of a snapshot do not follow each other as the specification says (spec 03, 27.3)."""
    last = (-1, -1)
    for each in records:
        if (each.place, each.id) <= last:
            raise SnapshotError(
                f"record {each.id} of {each.section.name} in the snapshot is not in its place: it is not in the order "
                "of sections and ids"
            )
        last = (each.place, each.id)
        yield each


def differing_records(first: Iterable[StateRecord], second: Iterable[StateRecord]) -> Iterator[DifferingRecord | None]:
    """Compare two files record by record: None for each pair that is equal, else the difference. Call it within
    `json_defaults_of` their network.
    """
    for _, group in groupby(merge(_keyed(0, first), _keyed(1, in_order(second))), itemgetter(0)):
        found = {side: record for _, side, record in group}
        yield _difference(found.get(0), found.get(1))


def _keyed(side: int, records: Iterable[StateRecord]) -> Iterator[tuple[tuple[int, int], int, StateRecord]]:
    return (((each.place, each.id), side, each) for each in records)


def _difference(one: StateRecord | None, other: StateRecord | None) -> DifferingRecord | None:
    if one is None or other is None:
        known = one or other
        if known is None:
            return None
        first, second = (None if each is None else each.compared() for each in (one, other))
        return DifferingRecord(known.section.name, known.id, first, second)
    if one.text == other.text:
        return None
    first, second = one.compared(), other.compared()
    return None if first == second else DifferingRecord(one.section.name, one.id, first, second)
