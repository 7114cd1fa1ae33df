"""Places of a state that have differed, until it is known that they stay so.

A reference node writes the effects of the transactions that wait in it into its snapshot (spec 03, section 27.3), so a
place may differ once and mean nothing. The same two values again an hour later do: what waits has expired by then. A
place whose values change has to differ in several snapshots in a row.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.basics.durable import write_whole
from ledgerd.protocol.errors import OperatorError
from ledgerd.shadow.snapshots.outcome import FoundRecord, SnapshotOutcome

EXPIRED_BLOCKS = 1_200
"""Blocks of an hour, the longest that a transaction can wait (spec 01, section 9)."""
CHANGING_TIMES = 6
"""Snapshots in a row in which a place whose values change has to differ."""
MOST_DOUBTS = 2_000
"""Places that differ and are looked at again."""
LARGEST_PROGRESS = 4 << 20
"""Bytes of the stored progress."""


class PlaceDoubt(msgspec.Struct):
    """A place that differs."""

    first: int
    """The first block at which it did."""
    since: int
    """The first block at which it had these two values."""
    digest: str
    """The digest of both values."""
    times: int = 1


class SnapshotProgress(msgspec.Struct):
    """The progress that is stored for a restart."""

    due: int = 0
    """The second at which the next snapshot is asked for."""
    last: int = 0
    """The block of the last one that was compared."""
    equal: int = 0
    """The last block at which all was equal."""
    doubts: dict[str, PlaceDoubt] = {}


def lasting(progress: SnapshotProgress, outcome: SnapshotOutcome) -> list[FoundRecord]:
    """Note what differs now, and return what has done so for long enough."""
    known, now, found = progress.doubts, dict[str, PlaceDoubt](), list[FoundRecord]()
    for record in outcome.differing:
        is_lasting = False
        for place, digest in record.digests():
            if len(now) >= MOST_DOUBTS:
                break
            doubt = now[place] = _next(known.get(place), digest, outcome.number)
            is_lasting |= outcome.number - doubt.since >= EXPIRED_BLOCKS or doubt.times >= CHANGING_TIMES
        if is_lasting:
            found.append(record)
    progress.doubts = now
    return found


def _next(known: PlaceDoubt | None, digest: str, number: int) -> PlaceDoubt:
    if known is None:
        return PlaceDoubt(number, number, digest)
    since = known.since if known.digest == digest else number
    return PlaceDoubt(known.first, since, digest, known.times + 1)


def read_progress(file: Path) -> SnapshotProgress:
    """The stored progress, or that of a first start if there is no file. `OperatorError`: it is damaged."""
    try:
        with file.open("rb") as opened:
            return msgspec.json.decode(opened.read(LARGEST_PROGRESS), type=SnapshotProgress)
    except FileNotFoundError:
        return SnapshotProgress()
    except OSError as problem:
        raise OperatorError(f"{file} cannot be read: {problem.strerror}") from problem
    except (msgspec.DecodeError, UnicodeDecodeError) as problem:
        raise OperatorError(f"{file} tells no snapshots of a shadow ({problem}): remove it to begin anew") from problem


def write_progress(file: Path, progress: SnapshotProgress) -> None:
    write_whole(file, msgspec.json.encode(progress))
