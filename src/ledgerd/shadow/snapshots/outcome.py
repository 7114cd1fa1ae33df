"""What the process that compares one snapshot is told, and what it has found: records that differ, bounded in number
and size.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import msgspec

from ledgerd.basics.durable import write_whole
from ledgerd.codec.json.text import Json
from ledgerd.protocol.errors import OperatorError
from ledgerd.shadow.settings import SnapshotTask
from ledgerd.snapshot.file.records import DifferingRecord, RecordFields, record_at
from ledgerd.state.views.view import View

MOST_RECORDS = 100
"""Records that differ and are told of; all are counted."""
LONGEST_FIELD = 4_096
"""Characters of a field that are kept; of a longer one the beginning and a checksum are."""
SHOWN = 200
CHECKSUM_BYTES = 20
"""Bytes of a checksum."""
LARGEST_OUTCOME = 64 << 20
"""Bytes of the result of a comparison."""
OUTCOME = "outcome.json"


class SnapshotJob(msgspec.Struct, frozen=True):
    """The order for one comparison of two snapshots."""

    task: SnapshotTask
    folder: str
    """The folder for fetched and made files; it is removed afterwards."""
    above: int
    """The block that was compared last: nothing is to be done for it, or one below."""
    chain_id: str


class FoundRecord(msgspec.Struct):
    """A record that differs: the fields in which it does, or nothing where one of both has none of this id."""

    section: str
    id: int
    names: list[str]
    ours: dict[str, Any] | None
    theirs: dict[str, Any] | None

    @property
    def title(self) -> str:
        return f"{self.section} {self.id}"

    @classmethod
    def of(cls, found: DifferingRecord) -> Self:
        first, second = found.first, found.second
        known = first if second is None else second
        names = [name for name in known or () if first is None or second is None or first.get(name) != second[name]]
        return cls(found.section, found.id, names, kept(first, names), kept(second, names))

    def digests(self) -> list[tuple[str, str]]:
        """Each place that differs, with a digest of both values."""
        ours, theirs = self.ours, self.theirs
        if ours is None or theirs is None:
            return [(self.title, "only ours" if theirs is None else "only theirs")]
        pairs = ((name, [ours.get(name), theirs.get(name)]) for name in self.names)
        return [(f"{self.title}.{name}", checksum(json.dumps(pair, sort_keys=True))) for name, pair in pairs]


def kept(fields: RecordFields | None, names: Sequence[str]) -> dict[str, Json] | None:
    """These fields of a record, each cut to its limit."""
    return None if fields is None else {name: _bounded(fields[name]) for name in names if name in fields}


def records_at(view: View, wanted: Sequence[object]) -> Json:
    """The records of a state in the places of a bundle; each place has section, id and names of fields."""
    try:
        places = msgspec.convert(wanted, list[tuple[str, int, list[str]]])
    except msgspec.ValidationError as problem:
        raise OperatorError(f"the question of this file names no records: {problem}") from problem
    found: dict[str, Json] = {}
    for section, number, names in places:
        record = record_at(view, section, number)
        found[f"{section} {number}"] = None if record is None else kept(record.compared(), names)
    return found


def _bounded(value: Json) -> Json:
    text = json.dumps(value)
    return value if len(text) <= LONGEST_FIELD else f"{text[:SHOWN]}... ({len(text):,} characters, {checksum(text)})"


def checksum(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=CHECKSUM_BYTES).hexdigest()


class SnapshotOutcome(msgspec.Struct):
    """The result of one comparison."""

    problem: str = ""
    """Why nothing was compared."""
    number: int = 0
    """The block of both; 0 if the other node has no newer snapshot."""
    block_id: str = ""
    records: int = 0
    differing: list[FoundRecord] = []
    more: int = 0
    """Records that differ beyond those."""
    unknown: list[str] = []


def write_outcome(folder: Path, outcome: SnapshotOutcome) -> None:
    write_whole(folder / OUTCOME, msgspec.json.encode(outcome))


def read_outcome(folder: Path) -> SnapshotOutcome:
    """`OperatorError`: its process has left none."""
    try:
        with (folder / OUTCOME).open("rb") as opened:
            return msgspec.json.decode(opened.read(LARGEST_OUTCOME), type=SnapshotOutcome)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise OperatorError("the process that compares snapshots has ended without a result") from problem
