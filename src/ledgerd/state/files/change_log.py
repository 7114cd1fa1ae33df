"""The log of changes: the records of the latest commits, in files beside the state, for copies of it elsewhere.

A record is written before its commit, and is there for readers once the file of the state has its position: they never
look further. Nothing is synced. What a loss of power takes from the log is missing to copies that were behind, which
then begin with a whole state.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, NamedTuple

from ledgerd.basics.framing.frames import FrameFault, read_frame
from ledgerd.state.files import change_frames
from ledgerd.state.files.recording import FileChanges

log = logging.getLogger(__name__)

POSITION_VALUE = "changes"
"""The named value of a state that has its position in the log of changes."""

FIRST_BESIDE = 512
"""The number of the first database of the store beside the state; a file has no more than so many."""

CHANGES_FOLDER = "changes"
SUFFIX = ".changes"
MOST_BYTES = 1 << 30
MOST_BLOCKS = 10_000
FILE_BYTES = 8 << 20
FILE_BLOCKS = 500
RUN_BYTES = 8
NOWHERE = b""
"""The position of a state that was changed without the log."""

_MAGIC = b"ledgerd changes 2\n"
_DIGEST_BYTES = 16
START = len(_MAGIC) + _DIGEST_BYTES
"""Where the first record of a file begins."""

HEAD_SIZE = len(change_frames.RecordHead(NOWHERE, NOWHERE, 0, 0).packed)
"""Bytes of the first frame of a record."""


class LogGap(Exception):
    """The log does not have what was asked for, or not any more."""


class Place(NamedTuple):
    """A place in the log: a file by its number, and an offset in it."""

    file: int
    offset: int


def digest_of_layout(layout: str) -> bytes:
    """What tells the tables of one version of this program from those of another."""
    return blake2b(layout.encode(), digest_size=_DIGEST_BYTES).digest()


class ChangeLogReader:
    """Reads the log, also while another process writes it."""

    def __init__(self, folder: Path, layout: bytes) -> None:
        self.folder = folder
        self._start = _MAGIC + layout
        self._opened: tuple[int, IO[bytes]] | None = None
        """The file that was read last."""

    def close(self) -> None:
        if self._opened is not None:
            self._opened[1].close()
            self._opened = None

    def _file(self, number: int) -> IO[bytes]:
        if self._opened is None or self._opened[0] != number:
            file = self.path(number).open("rb", buffering=0)
            self.close()
            self._opened = number, file
        return self._opened[1]

    def path(self, number: int) -> Path:
        return self.folder / f"{number:012d}{SUFFIX}"

    def numbers(self) -> list[int]:
        return sorted(
            int(path.name.removesuffix(SUFFIX))
            for path in self.folder.glob(f"*{SUFFIX}")
            if path.name.removesuffix(SUFFIX).isdecimal()
        )

    def records(self, number: int) -> Iterator[tuple[change_frames.RecordHead, Place]]:
        """The heads of the records of a file, each with the place behind its record, up to one that is not whole."""
        with suppress(FileNotFoundError, FrameFault), self.path(number).open("rb") as file:
            end = os.fstat(file.fileno()).st_size
            place = Place(number, START)
            if file.read(START) != self._start:
                return
            while place.offset < end:
                head = read_head_at(file, place.offset)
                place = Place(number, place.offset + head_size(head))
                if place.offset > end:
                    return
                yield head, place

    def place_of(self, position: bytes) -> Place:
        """Where the changes from a position on begin. `LogGap`: they are not there, or not any more."""
        for number in reversed(self.numbers()):
            for head, place in self.records(number):
                if head.before == position:
                    return Place(number, place.offset - head_size(head))
                if head.after == position:
                    return place
        raise LogGap("the changes from there on are not kept any more")

    def record_at(self, place: Place) -> tuple[change_frames.RecordHead, Place]:
        """The head of the record at a place, and the place of its parts. `LogGap`: there is none."""
        for at in (place, Place(place.file + 1, START)):
            with suppress(FileNotFoundError, FrameFault):
                file = self._file(at.file)
                if os.fstat(file.fileno()).st_size <= at.offset:
                    continue
                file.seek(0)
                if file.read(START) != self._start:
                    break
                head = read_head_at(file, at.offset)
                return head, Place(at.file, at.offset + HEAD_SIZE)
        raise LogGap("the log of changes goes on elsewhere")

    def bytes_at(self, place: Place, size: int, at_once: int) -> Iterator[bytes]:
        """So many bytes from a place on, in pieces. `LogGap`: they are not there."""
        try:
            while size:
                file = self._file(place.file)
                file.seek(place.offset)
                piece = file.read(min(size, at_once))
                if not piece:
                    raise LogGap("a record of the log of changes is cut off")
                size -= len(piece)
                place = place._replace(offset=place.offset + len(piece))
                yield piece
        except FileNotFoundError as error:
            raise LogGap("the changes there are not kept any more") from error


def head_size(head: change_frames.RecordHead) -> int:
    return HEAD_SIZE + head.size


def read_head_at(file: IO[bytes], offset: int) -> change_frames.RecordHead:
    file.seek(offset)
    kind, body = change_frames.opened(read_frame(file.read, change_frames.MOST_FRAME) or b"")
    if kind != change_frames.RecordFrame.HEAD:
        raise change_frames.ChangeFault(f"a frame of kind {kind} where a record should begin")
    return change_frames.read_head(body)


class ChangeLog:
    """Writes the log: one record for each commit, and drops the oldest. One run of one writer."""

    def __init__(self, folder: Path, run: bytes, *, most_bytes: int = MOST_BYTES, file_bytes: int = FILE_BYTES) -> None:
        if len(run) != RUN_BYTES:
            raise ValueError(f"a run has {RUN_BYTES} bytes")
        self.folder = folder
        self._run = run
        self._count = 0
        self._most_bytes, self._file_bytes = most_bytes, file_bytes
        self._reader = ChangeLogReader(folder, b"")
        self._start = b""
        self._files: list[tuple[int, int, int]] = []
        """Of each file but the last: its number, its size, and the last block in it."""
        self._number = 0
        self._file: IO[bytes] | None = None
        self._end = self._written = 0
        """Where the committed records of the last file end, and where the one that is being committed does."""
        self._first_revision = 0
        self._revision = self._committing = 0
        self._is_failing = False
        self._beside: FileChanges = {}
        """What the store beside the state has changed since the last record."""
        self._is_cut = False
        """Whether the next record continues none."""
        self._record = bytearray()
        """The last record, if it was small: the next one is made in the same memory."""

    def begin(self, layout: bytes, position: bytes) -> None:
        """Go on behind the last commit of the state; what the log has of another past is dropped."""
        self._start = _MAGIC + layout
        self._reader = ChangeLogReader(self.folder, layout)
        self.folder.mkdir(parents=True, exist_ok=True)
        numbers = self._reader.numbers()
        kept: list[tuple[int, int, int]] = []
        found = False
        for number in numbers:
            end, revision = START, 0
            for head, place in self._reader.records(number) if not found else ():
                end, revision = place.offset, head.revision
                if head.after == position:
                    found = True
                    break
            if revision:
                kept.append((number, end, revision))
        if not found:
            kept = []
        for number in set(numbers) - {number for number, _, _ in kept}:
            self._reader.path(number).unlink()
        self._number = kept[-1][0] if kept else max(numbers, default=0)
        self._files = kept
        if kept:
            number, end, self._revision = kept[-1]
            os.truncate(self._reader.path(number), end)

    @property
    def following(self) -> bytes:
        return change_frames.POSITION.pack(self._run, self._count + 1)

    def add(self, changes: FileChanges) -> None:
        """The store beside the state has committed changes, which belong to the next commit of the state."""
        for number, entries in changes.items():
            self._beside.setdefault(number, {}).update(entries)

    def cut(self) -> None:
        """What is there leads no further, as something was changed without it: copies begin with a whole state."""
        self._drop_all()
        self._beside, self._is_cut = {}, True

    def write(self, before: bytes, revision: int, changes: FileChanges) -> None:
        """Write the record of a commit that is about to be made; one that failed is overwritten."""
        if self._beside:
            changes = {**changes, **self._beside}
        if self._is_cut:
            before = NOWHERE
        try:
            file = self._opened(revision)
            file.seek(self._end)
            record = self._record
            if change_frames.put_small_part(changes, record, HEAD_SIZE):
                size = len(record) - HEAD_SIZE
                record[:HEAD_SIZE] = change_frames.RecordHead(before, self.following, revision, size).packed
                _write_all(file, record)
            else:
                file.seek(self._end + HEAD_SIZE)
                size = sum([_write_all(file, part) for part in change_frames.parts_of(changes)])
                file.seek(self._end)
                _write_all(file, change_frames.RecordHead(before, self.following, revision, size).packed)
            self._written, self._committing = self._end + HEAD_SIZE + size, revision
        except OSError as problem:
            self._fail(problem)
        else:
            self._is_failing = False

    def confirm(self) -> None:
        self._count += 1
        self._end, self._revision = self._written, self._committing
        self._beside, self._is_cut = {}, False
        self._drop_old()

    def _opened(self, revision: int) -> IO[bytes]:
        file = self._file
        if file is not None and (self._end >= self._file_bytes or abs(revision - self._first_revision) >= FILE_BLOCKS):
            self._files.append((self._number, self._end, self._revision))
            file.close()
            file = None
        if file is None:
            self._number += 1
            file = self._reader.path(self._number).open("w+b", buffering=0)
            _write_all(file, self._start)
            self._file, self._end, self._first_revision = file, START, revision
        return file

    def _drop_old(self) -> None:
        while self._files:
            number, _, last = self._files[0]
            total = self._end + sum(size for _, size, _ in self._files)
            if total <= self._most_bytes and last > self._revision - MOST_BLOCKS:
                break
            del self._files[0]
            self._reader.path(number).unlink(missing_ok=True)

    def _fail(self, problem: OSError) -> None:
        """A log that cannot be written ends: the node goes on, and copies that are behind begin with a whole state."""
        if not self._is_failing:
            log.warning("the log of changes cannot be written: %(reason)s", {"reason": problem.strerror})
        self._is_failing = True
        self._drop_all()

    def _drop_all(self) -> None:
        self.close()
        with suppress(OSError):
            for number in self._reader.numbers():
                self._reader.path(number).unlink()
        self._files, self._end, self._written = [], START, START

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _write_all(file: IO[bytes], data: bytes | bytearray) -> int:
    """Write all of it, without a buffer; a disk takes some of it first when it is about to be full."""
    written = file.write(data)
    while written < len(data):
        written += file.write(memoryview(data)[written:])
    return written
