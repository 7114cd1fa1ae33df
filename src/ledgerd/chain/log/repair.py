"""Repair of a block log when it is opened for writing, after a crash or an operator left its files torn (spec 03,
section 24).

The data decides. Whole blocks stay, the index is made to agree with them, and an unfinished append at the end is
truncated. A damaged block that whole ones follow is no torn end: what to do then is for the operator to decide.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, NamedTuple

from ledgerd.chain.log.files import LARGEST_ENTRY, OFFSET, LogDamaged, LogFiles, end_in, read_at

AGREEING = 1024
"""So many entries of the index, counted from the last, are compared with the data on every opening."""

BATCH = 1 << 16
"""Offsets held in memory at a time: the index of many millions of blocks is rebuilt in bounded space."""

WINDOW = 4 * LARGEST_ENTRY


class Repaired(NamedTuple):
    """What a log holds after its repair, and what the repair did."""

    head: int
    end: int
    """Where the last block's entry ends."""
    cut: int = 0
    """Bytes of an unfinished append that were truncated."""
    indexed: int = 0
    """Blocks whose entry in the index was missing or wrong."""


class LogEntry(NamedTuple):
    """The place of a block in the data, its trailing offset included."""

    number: int
    start: int
    end: int


def repair(files: LogFiles) -> Repaired:
    """Make both files agree and end after a whole block."""
    size = files.data_size
    if size <= OFFSET.size:
        files.clear()
        return Repaired(0, 0)
    first = files.number_at(0)
    if first != 1 and not files.kind.header:
        raise LogDamaged(files.folder, files.kind, 1, f"the file begins with block {first}")
    known = files.first == first
    files.first = first
    last = _last_entry(files, size)
    if last is not None:
        corrected = _follow_backwards(files, last, known=known)
        if corrected is not None:
            return Repaired(last.number, last.end, indexed=corrected)
    repaired = _follow_forwards(files, size, known=known, whole_at_end=last is not None)
    last = _last_entry(files, repaired.end) if repaired.head else None
    corrected = _follow_backwards(files, last, known=True) if last is not None else None
    return repaired._replace(indexed=repaired.indexed + (corrected or 0))


def _last_entry(files: LogFiles, size: int) -> LogEntry | None:
    """The head, if the data ends with a whole block."""
    (start,) = OFFSET.unpack(read_at(files.data, OFFSET.size, size - OFFSET.size))
    if start >= size:
        return None
    number = files.number_at(start)
    return LogEntry(number, start, size) if files.end_of_entry(number, start, size) == size else None


# -- from the head down, by the trailing offsets


def _follow_backwards(files: LogFiles, last: LogEntry, *, known: bool) -> int | None:
    """Make the index agree, and say how many of its entries were wrong; None, with nothing changed, if no trail leads.

    Quick, since what lies far from the end is not decoded. A block can carry bytes that look like entries, and the
    data may have been cut right after such bytes: so blocks are decoded as far down as one torn block could reach,
    or to the first that the index confirms.
    """
    near = last.end - LARGEST_ENTRY
    confirmed = False
    wrong = agreeing = 0
    entry = last
    with SpooledTemporaryFile(max_size=BATCH * OFFSET.size, dir=str(files.folder)) as found:
        for entry in _trail(files, last):
            agrees = known and files.start_of(entry.number) == entry.start
            if not confirmed and (agrees or entry.end > near):
                if files.end_of_entry(entry.number, entry.start, entry.end) != entry.end:
                    return None
                confirmed = agrees
            wrong, agreeing = (wrong, agreeing + 1) if agrees else (wrong + 1, 0)
            found.write(OFFSET.pack(entry.start))
            if agreeing == AGREEING:
                break
        else:
            if entry.start != 0 or entry.number != files.first:
                return None
        if wrong or files.index_size != files.place_of(last.number + 1):
            _write_index(files, entry.number, _reversed(found))
    return wrong


def _trail(files: LogFiles, entry: LogEntry) -> Iterator[LogEntry]:
    """A block and those before it, as far as each starts where the one after it says."""
    while True:
        yield entry
        if entry.start < OFFSET.size:
            return
        number, end = entry.number - 1, entry.start
        (start,) = OFFSET.unpack(read_at(files.data, OFFSET.size, end - OFFSET.size))
        if not OFFSET.size < end - start <= LARGEST_ENTRY or files.number_at(start) != number:
            return
        entry = LogEntry(number, start, end)


def _reversed(found: IO[bytes]) -> Iterator[bytes]:
    end = found.tell()
    while end > 0:
        begin = max(0, end - BATCH * OFFSET.size)
        found.seek(begin)
        offsets = struct.unpack(f"<{(end - begin) // OFFSET.size}Q", found.read(end - begin))
        yield struct.pack(f"<{len(offsets)}Q", *reversed(offsets))
        end = begin


# -- from the last block that the index knows up, by decoding


def _follow_forwards(files: LogFiles, size: int, *, known: bool, whole_at_end: bool) -> Repaired:
    """Take every whole block up to the torn one, index them, and cut the data there."""
    base = _last_indexed(files, size) if known else None
    number, end = (base.number + 1, base.end) if base else (files.first, 0)
    before = number
    entries = _whole_entries(files, number, end, size)
    files.put_index(number, b"")
    while batch := list(islice(entries, BATCH)):
        files.put_index(number, b"".join(OFFSET.pack(entry.start) for entry in batch))
        number, end = batch[-1].number + 1, batch[-1].end
    left = size - end
    if left:
        # One append leaves no more than this behind it, whatever the bytes in it look like.
        torn_append = base is not None and left <= LARGEST_ENTRY
        foreign = end == 0 and left > LARGEST_ENTRY
        if whole_at_end or foreign or not (torn_append or not _holds_entry(files, number, end, size)):
            raise LogDamaged(files.folder, files.kind, number, f"damaged from byte {end} on")
        os.ftruncate(files.data, end)
    if end == 0:
        files.clear()
        return Repaired(0, 0, cut=left)
    return Repaired(number - 1, end, cut=left, indexed=number - before)


def _last_indexed(files: LogFiles, size: int) -> LogEntry | None:
    for number in range(files.indexed_head, files.first - 1, -1):
        start = files.start_of(number)
        end = None if start is None else files.end_of_entry(number, start, size)
        if start is not None and end is not None:
            return LogEntry(number, start, end)
    return None


def _whole_entries(files: LogFiles, number: int, start: int, size: int) -> Iterator[LogEntry]:
    window, base = b"", start
    while start < size:
        at = start - base
        if len(window) - at < LARGEST_ENTRY and base + len(window) < size:
            window, base, at = read_at(files.data, WINDOW, start), start, 0
        if int.from_bytes(window[at : at + 4], "big") + 1 != number:
            return
        end = end_in(window, at, start)
        if end is None:
            return
        yield LogEntry(number, start, end)
        number, start = number + 1, end


def _holds_entry(files: LogFiles, number: int, begin: int, size: int) -> bool:
    """Whether a whole block with a later number stands anywhere in a stretch of the data."""
    for first, last in _written_stretches(files, begin, size):
        for base in range(first, last, WINDOW):
            window = read_at(files.data, min(WINDOW, last - base) + OFFSET.size - 1, base)
            for place in _likely_offsets(window, base):
                (start,) = OFFSET.unpack_from(window, place - base)
                end = place + OFFSET.size
                later = files.number_at(start) if begin <= start < place else 0
                if later > number and files.end_of_entry(later, start, end) == end:
                    return True
    return False


def _written_stretches(files: LogFiles, begin: int, size: int) -> Iterator[tuple[int, int]]:
    """Where an offset may begin: a file that was made longer has a hole, which may be larger than the disk."""
    at = begin
    while at < size:
        try:
            first = os.lseek(files.data, at, os.SEEK_DATA)
            at = os.lseek(files.data, first, os.SEEK_HOLE)
        except OSError as problem:
            if problem.errno != errno.ENXIO:  # the file system knows no holes
                yield at, size
            return
        yield max(begin, first - OFFSET.size), min(at, size)


def _likely_offsets(window: bytes, base: int) -> Iterator[int]:
    """Where in a window an offset of the data shortly before it may stand, told by its upper bytes."""
    low = OFFSET.size - 5
    for upper in range(max(0, base - LARGEST_ENTRY) >> 24, (base + len(window) >> 24) + 1):
        piece = upper.to_bytes(5, "little")
        at = window.find(piece, low)
        while at >= 0:
            yield base + at - low
            at = window.find(piece, at + 1)


def _write_index(files: LogFiles, number: int, pieces: Iterator[bytes]) -> None:
    """Replace the index from a block on; cut short on the way, it is merely too short."""
    files.put_index(number, b"")
    for piece in pieces:
        files.put_index(number, piece)
        number += len(piece) // OFFSET.size
