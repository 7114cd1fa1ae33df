"""What a former version of this program stored, beside what this one does: how its objects become today's.

A version is known by the layout in the header of its files. What changed since is declared in `objects/former`; which
indexes came and which went is read off the two layouts.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from ledgerd.codec.annotations import fields_of
from ledgerd.codec.codec import Codec
from ledgerd.codec.records import Field
from ledgerd.state.journal import TableJournal
from ledgerd.state.tables import Index, Ranks, Table, layout

ORDERED = "ordered"


class Splice(NamedTuple):
    """New fields in the bytes of an object: what is put in, and how many bytes stand behind it."""

    inserted: bytes
    behind: int

    def __call__(self, body: bytes) -> bytes:
        """The bytes of today, from those of the former version."""
        place = len(body) - self.behind
        return body[:place] + self.inserted + body[place:]


def added_fields(record: type[msgspec.Struct], *names: str) -> Splice:
    """Neighbouring fields of a record that it did not have, with their defaults."""
    fields = fields_of(record)
    start = [field.attribute for field in fields].index(names[0])
    added = fields[start : start + len(names)]
    if tuple(field.attribute for field in added) != names:
        raise TypeError(f"{', '.join(names)} are no neighbours in {record.__name__}")
    return Splice(_defaults(added), _width(fields[start + len(names) :]))


def added_within(record: type[msgspec.Struct], part: str, former: type[msgspec.Struct]) -> Splice:
    """A part of a record was of the class `former`, and is of a class now that adds fields at its end."""
    fields = fields_of(record)
    place = [field.attribute for field in fields].index(part)
    today = fields_of(fields[place].kind.record)  # type: ignore[attr-defined]
    return Splice(_defaults(today[len(fields_of(former)) :]), _width(fields[place + 1 :]))


def _defaults(fields: list[Field]) -> bytes:
    return b"".join(Codec[Any](field.kind).encode(field.default()) for field in fields)


def _width(fields: list[Field]) -> int:
    """How many bytes the fields take in every object."""
    if not all(field.kind.letters for field in fields):
        raise TypeError("a field behind the new ones has no set size")
    return struct.calcsize("<" + "".join(field.kind.letters for field in fields))


class Change(NamedTuple):
    """What changed in a table besides its unique indexes, which are made again from the objects."""

    splice: Callable[[], Splice] = lambda: Splice(b"", 0)
    ranks: Mapping[str, str] = {}
    """Which former index gives a new ordered one its ranks."""


class Former(NamedTuple):
    """A former version whose files are taken over."""

    name: str
    digest: str
    """Of its layout."""
    changes: Mapping[Table[Any], Change]

    def wrote(self, found: str) -> bool:
        """Whether a layout is that of this version."""
        return hashlib.sha256(found.encode()).hexdigest() == self.digest


class TableConversion:
    """How the objects of one table become today's."""

    def __init__(self, table: Table[Any], former_indexes: Mapping[str, str], change: Change) -> None:
        self.table = table
        self._change = change
        former_ordered = [title for title, kind in former_indexes.items() if kind == ORDERED]
        self._slots = [former_ordered.index(change.ranks.get(each.title, each.title)) for each in table.ordered_indexes]
        self._former_ranks = struct.Struct(f">{len(former_ordered)}q")
        self._ranks = struct.Struct(f">{len(self._slots)}q")
        self.new_indexes: list[Index[Any]] = [each for each in table.indexes if each.title not in former_indexes]
        today = {index.title for index in table.indexes}
        self.former_indexes = [title for title in former_indexes if title not in today]
        """Those that are no more."""
        self._rank_of = {index: place for place, index in enumerate(table.ordered_indexes)}

    @cached_property
    def body(self) -> Splice:
        """From the bytes of an object's fields to today's."""
        return self._change.splice()

    def ranks(self, former: Ranks) -> Ranks:
        """The ranks of an object in today's ordered indexes."""
        return tuple(former[slot] for slot in self._slots)

    def row(self, raw: bytes) -> bytes:
        """A record of today, from one of the former version."""
        ranks = self.ranks(self._former_ranks.unpack_from(raw))
        return self._ranks.pack(*ranks) + self.body(raw[self._former_ranks.size :])

    def entries(self, row: bytes) -> list[tuple[Index[Any], bytes]]:
        """The entries of an object in the new indexes, from its record of today."""
        if not self.new_indexes:
            return []
        entity, ranks = self.table.codec.decode(row[self._ranks.size :]), self._ranks.unpack_from(row)
        return [(index, self._entry(index, index.entry_key(entity), ranks)) for index in self.new_indexes]

    def _entry(self, index: Index[Any], key: bytes, ranks: Ranks) -> bytes:
        return key if index.is_unique else key + (ranks[self._rank_of[index]] + (1 << 63)).to_bytes(8, "big")

    def counters(self, former: tuple[int, ...]) -> tuple[int, ...]:
        """The next id, and the next ranks of today's ordered indexes."""
        return (former[0], *self.ranks(former[1:]))

    def journal(self, former: TableJournal) -> TableJournal:
        """The table's part of a session; an empty image stands for one that is given elsewhere in it."""
        return TableJournal(
            former.number,
            former.next_id,
            self.ranks(former.next_ranks),
            former.created,
            {object_id: body and self.body(body) for object_id, body in former.removed.items()},
            {object_id: self.body(body) for object_id, body in former.modified.items()},
            {object_id: self.ranks(ranks) for object_id, ranks in former.ranks.items()},
        )


def conversions(former: Former, found: str, tables: tuple[Table[Any], ...]) -> list[TableConversion]:
    """The tables whose objects or indexes changed since a layout was written, by their numbers."""
    before, today = _blocks(found), _blocks(layout(tables))
    return [
        TableConversion(table, _indexes(before[table.number]), former.changes.get(table, Change()))
        for table in sorted(tables, key=lambda each: each.number)
        if table.number in before and before[table.number] != today[table.number]
    ]


def _blocks(text: str) -> dict[int, list[str]]:
    """The lines of each table of a layout, by its number."""
    blocks: dict[int, list[str]] = {}
    for line in text.splitlines():
        if not line.startswith(" "):
            number = int(line.split(" ", 1)[0])
            blocks[number] = []
        blocks[number].append(line)
    return blocks


def _indexes(block: list[str]) -> dict[str, str]:
    """Title and kind of each index of a table, in the order in which they were declared."""
    words = (line.split() for line in block[1:])
    return {title: ORDERED if kind.startswith(ORDERED) else kind for title, kind, *_ in words}
