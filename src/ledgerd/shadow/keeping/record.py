"""The record of a shadow, in a file that is replaced as a whole: where both stand, what was compared, what differed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ledgerd.basics.durable import put_in_place
from ledgerd.protocol.errors import OperatorError

LARGEST_RECORD = 1 << 20
"""Bytes of a record that are read."""
MOST_TOLD = 1_000
"""Questions whose difference is remembered, so that each is told once; more are not counted."""

LONGEST_OVERRIDE = 20
"""Bytes of the file of an override that are read."""
OVERRIDE = "override"
"""A file with the second until which blocks are signed whatever the shadow says."""


class ComparedStatus(msgspec.Struct):
    """One of the two nodes, as it was last seen."""

    url: str = ""
    version: str = ""
    number: int = 0
    id: str = ""
    irreversible: int = 0
    at: int = 0
    """The second at which it answered last; 0 for never."""
    problem: str = ""
    """Why it cannot be compared now."""


class EqualBlock(msgspec.Struct):
    """A block at which both stood when everything that is asked of each block was equal."""

    number: int = 0
    id: str = ""
    at: int = 0


class FirstDifference(msgspec.Struct):
    """The difference that was found first."""

    is_of_consensus: bool
    words: str
    block: int
    at: int
    file: str


class SnapshotCounts(msgspec.Struct):
    """The counts of compared snapshots."""

    compared: int = 0
    records: int = 0
    """The records in all compared snapshots."""
    block: int = 0
    """The block of the last one."""
    at: int = 0
    equal: int = 0
    """The last block at which every record was equal."""
    doubtful: int = 0
    """Places that differed in the last one, and have not done so for long enough."""
    problem: str = ""
    """Why none was compared when it was tried last."""
    unknown: list[str] = []
    """Sections and fields that the other node alone writes."""


class ShadowRecord(msgspec.Struct):
    """Everything that is counted, and the position of what goes on after a restart."""

    format: int = 1
    ours: ComparedStatus = msgspec.field(default_factory=ComparedStatus)
    theirs: ComparedStatus = msgspec.field(default_factory=ComparedStatus)
    chain_id: str = ""
    since: int = 0
    first_block: int = 0
    seed: int = 0
    equal: EqualBlock = msgspec.field(default_factory=EqualBlock)
    blocks: int = 0
    """Blocks whose ids are equal."""
    highest: int = 0
    """The highest of them."""
    rounds: int = 0
    questions: int = 0
    objects: int = 0
    """Records in equal answers."""
    reads: int = 0
    """Random questions, which are numbered."""
    sweeps: int = 0
    """How often every account and object was compared."""
    cursor: str = ""
    """Where the walk over everything has come to."""
    dropped: int = 0
    """Questions that were asked again, since a head had moved meanwhile."""
    unanswered: int = 0
    """Questions that one of both did not answer twice in a row."""
    cleared: int = 0
    """Answers that differed for a moment, as by transactions that only one node had."""
    doubtful: int = 0
    """Questions whose answers differ now, and have not done so for long enough."""
    doubt: str = ""
    """One of them that has differed at more than one block."""
    apart: str = ""
    """How the two nodes differ in where they stand; empty if they are at the same block."""
    apart_since: int = 0
    of_consensus: int = 0
    of_answers: int = 0
    first: FirstDifference | None = None
    snapshots: SnapshotCounts = msgspec.field(default_factory=SnapshotCounts)
    told: list[str] = []
    one_sided: list[str] = []

    @property
    def differences(self) -> int:
        return self.of_consensus + self.of_answers


def record_file(folder: Path, url: str) -> Path:
    """Another node is another record."""
    return folder / f"record-{hashlib.sha256(url.encode()).hexdigest()[:16]}.json"


def records_in(folder: Path) -> Iterator[ShadowRecord]:
    for path in sorted(folder.glob("record-*.json")):
        record = read_record(path)
        if record is not None:
            yield record


def read_record(file: Path) -> ShadowRecord | None:
    """The record, or None if there is no file. `OperatorError`: it is damaged."""
    try:
        with file.open("rb") as opened:
            raw = opened.read(LARGEST_RECORD)
        return msgspec.json.decode(raw, type=ShadowRecord)
    except FileNotFoundError:
        return None
    except OSError as problem:
        raise OperatorError(f"{file} cannot be read: {problem.strerror}") from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise OperatorError(f"{file} is no record of a shadow ({problem}): move it away to begin anew") from problem


def write_record(file: Path, record: ShadowRecord, *, durably: bool) -> None:
    """Replace it in one step. What was counted since it was durable may be lost with the power."""
    fresh = file.with_suffix(".new")
    fresh.write_bytes(msgspec.json.encode(record))
    if durably:
        put_in_place(fresh, file)
    else:
        fresh.replace(file)


def read_override(folder: Path) -> int:
    """The second until which blocks are signed whatever the shadow says; 0 if nobody has said so."""
    try:
        with (folder / OVERRIDE).open("rb") as opened:
            text = opened.read(LONGEST_OVERRIDE)
        return int(text)
    except (OSError, ValueError):
        return 0
