"""The block log: every irreversible block from the first on, in the reference's two files (spec 03, section 24)."""

from __future__ import annotations

import os
import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import ClassVar, Protocol, Self

from ledgerd.basics.durable import sync_folder
from ledgerd.chain.log.files import (
    LARGEST_ENTRY,
    LARGEST_FILE,
    OFFSET,
    LogDamaged,
    LogFiles,
    LogKind,
    read_at,
    sum_of,
    write_at,
)
from ledgerd.chain.log.repair import Repaired, repair
from ledgerd.chain.log.soundness import fault_in
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import BLOCK_SIZE
from ledgerd.protocol.errors import OperatorError

FULL_LOG = LogKind(
    name="block_log",
    header=0,
    remedy="stop the node, delete the .index file beside it, which is made again, and start again; if this comes back, "
    "put a sound copy of the file in its place (from a backup or another node) and delete the .index file once more, "
    "or start once with --resync-blockchain to fetch every block from peers again",
)

INDEX_AT_ONCE = 4096
DATA_AT_ONCE = 1 << 20

ELSEWHERE = "the index leads to something else"


class EarlierBlocks(Protocol):
    """Blocks from before the first one of a log."""

    def read(self, number: int) -> bytes | None:
        """A block, packed; nothing where it is not there."""

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The blocks from one number to another, up to the first that is not there."""

    def first_before(self, number: int) -> int:
        """The first block from which none is missing below a number; that number where its predecessor is missing."""


class BlockLogReader:
    """A log that is only read, also while another process appends to it."""

    KIND: ClassVar[LogKind] = FULL_LOG

    def __init__(self, folder: Path, kind: LogKind | None = None) -> None:
        self.kind = kind or self.KIND
        self.earlier: EarlierBlocks | None = None
        """Where blocks from before its first one are."""
        self._folder = folder
        self._files: LogFiles | None = None
        self._head = 0
        self._known_end = (0, 0)
        self.decoded = 0
        """Bytes of blocks that had no checksum, and were decoded to be checked: a hundred times dearer."""

    @classmethod
    def open(cls, folder: Path, kind: LogKind | None = None) -> Self:
        log = cls(folder, kind)
        log._refresh()
        return log

    @property
    def path(self) -> Path:
        return self._folder / self.kind.name

    @property
    def head_number(self) -> int:
        self._refresh()
        return self._head

    @property
    def first_number(self) -> int:
        self._refresh()
        return self._files.first if self._files is not None and self._head else 0

    @property
    def earliest_number(self) -> int:
        """The first block from which none is missing up to the last, with those that are elsewhere; 0 without any."""
        first = self.first_number
        return first if first <= 1 or self.earlier is None else self.earlier.first_before(first)

    def read(self, number: int) -> bytes | None:
        """`LogDamaged` where its bytes are not those that were logged."""
        entry = self._entry(number)
        if entry is None:
            self._known_end = (0, 0)
            self._refresh()  # perhaps the writer has appended it, or has replaced or repaired the files
            entry = self._entry(number)
            if entry is None:
                if self._files is not None and self._files.first <= number <= self._head:
                    raise self.damaged(number, ELSEWHERE)
                return self._read_earlier(number)
        packed = entry[: -OFFSET.size]
        self._require_sound(number, packed, self._known_sum(number))
        return packed

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        begins = self.first_number
        if self.earlier is not None and first < begins:
            yield from self.earlier.scan(max(first, self.earliest_number), min(last, begins - 1))
        yield from self._scan_files(first, last)

    def _scan_files(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        if last > self._head:
            self._refresh()
        files = self._files
        if files is None:
            return
        number, last = max(first, files.first), min(last, self._head)
        while number <= last:
            starts = self._starts(files, number, min(last - number + 1, INDEX_AT_ONCE))
            count = max(1, bisect_right(starts, starts[0] + DATA_AT_ONCE) - 1)
            base, size = starts[0], starts[count] - starts[0]
            if not 0 < size <= DATA_AT_ONCE + LARGEST_ENTRY or starts[count] > LARGEST_FILE:
                raise self.damaged(number, ELSEWHERE)
            data = read_at(files.data, size, base)
            sums = files.sums.read(files.first, number, count)
            for (start, end), known in zip(pairwise(starts[: count + 1]), sums, strict=True):
                entry = data[start - base : end - base]
                if not _is_entry(entry, number, start, end - start):
                    raise self.damaged(number, ELSEWHERE)
                packed = entry[: -OFFSET.size]
                self._require_sound(number, packed, known)
                yield number, packed
                number += 1

    def _read_earlier(self, number: int) -> bytes | None:
        if self.earlier is None or not 0 < number < self.first_number:
            return None
        return self.earlier.read(number)

    def block(self, number: int) -> Block | None:
        packed = self.read(number)
        return None if packed is None else codec_of(Block).decode_exactly(packed)

    def close(self) -> None:
        if self._files is not None:
            self._files.close()
        self._files = None
        self._head = 0

    def faults(self) -> Iterator[str]:
        """What is wrong with the log, by its blocks alone: each is looked at, whatever its checksum says."""
        last = self.head_number
        for number in range(self.first_number, last + 1) if last else ():
            packed = self._unchecked(number)
            what = ELSEWHERE if packed is None else fault_in(number, packed, self._unchecked, lambda *_: False)
            if what:
                yield str(self.damaged(number, what))

    # -- whether a block is what it was

    def _require_sound(self, number: int, packed: bytes, known: int) -> None:
        if known and known == sum_of(packed):
            return
        self.decoded += len(packed)
        what = fault_in(number, packed, self._unchecked, lambda *of: self._known_sum(of[0]) == sum_of(of[1]))
        if what:
            raise self.damaged(number, what)
        if self._files is not None:
            with suppress(OSError):
                self._files.sums.record(self._files.first, number, (packed,))

    def _known_sum(self, number: int) -> int:
        return 0 if self._files is None else self._files.sums.read(self._files.first, number, 1)[0]

    def _unchecked(self, number: int) -> bytes | None:
        entry = self._entry(number)
        return None if entry is None else entry[: -OFFSET.size]

    # -- where a block is

    def _entry(self, number: int) -> bytes | None:
        files = self._files
        if files is None or not files.first <= number <= self._head:
            return None
        bounds = read_at(files.index, 2 * OFFSET.size, files.place_of(number))
        if len(bounds) == 2 * OFFSET.size:
            start, end = struct.unpack("<2Q", bounds)
        elif len(bounds) >= OFFSET.size:
            (start,) = OFFSET.unpack_from(bounds)
            end = self._end_of_last(files, number, start)
        else:
            return None
        if not OFFSET.size < end - start <= LARGEST_ENTRY or end > LARGEST_FILE:
            return None
        entry = read_at(files.data, end - start, start)
        return entry if _is_entry(entry, number, start, end - start) else None

    def _starts(self, files: LogFiles, number: int, count: int) -> list[int]:
        entries = read_at(files.index, (count + 1) * OFFSET.size, files.place_of(number))
        starts = list(struct.unpack(f"<{len(entries) // OFFSET.size}Q", entries[: len(entries) & -OFFSET.size]))
        if len(starts) == count:
            starts.append(self._end_of_last(files, number + count - 1, starts[-1]))
        if len(starts) <= count:
            raise self.damaged(number + len(starts), ELSEWHERE)
        return starts

    def _end_of_last(self, files: LogFiles, number: int, start: int) -> int:
        """Where the entry of the index's last block ends; only decoding tells, so once for each head."""
        if self._known_end[0] != number:
            self._known_end = number, files.end_of_entry(number, start, files.data_size) or 0
        return self._known_end[1]

    def _refresh(self) -> None:
        """Take notice of what the writer has appended, or of the files that it has put in the place of the old."""
        if self._files is None or self._files.replaced:
            self._files = self._reopened()
            self._known_end = (0, 0)
            self._head = 0
        if self._files is not None:
            self._files.read_first()
            self._head = self._files.indexed_head

    def _reopened(self) -> LogFiles | None:
        with suppress(FileNotFoundError):
            files = LogFiles(self._folder, self.kind, writable=False)
            if os.path.samestat(os.fstat(files.data), files.data_path.stat()):
                return files
        return None

    def damaged(self, number: int, what: str) -> LogDamaged:
        """What to raise about a block that is not what it should be; also for those who look into it."""
        return LogDamaged(self._folder, self.kind, number, what)


class BlockLog(BlockLogReader):
    """The log of the node that writes it: one at a time, which the lock of the state sees to."""

    def __init__(self, folder: Path, kind: LogKind | None = None) -> None:
        super().__init__(folder, kind)
        self.repaired = Repaired(0, 0)
        """What the last opening found, truncated and indexed again."""
        self._end = 0
        self._is_synced = True

    @classmethod
    def open(cls, folder: Path, kind: LogKind | None = None) -> Self:
        log = cls(folder, kind)
        with log._writing():
            folder.mkdir(parents=True, exist_ok=True)
            log._load()
        return log

    def append(self, number: int, packed: bytes) -> None:
        """Add the next block. From now on it outlives this process; after `sync`, also a failure of power."""
        self.extend([(number, packed)])

    def extend(self, blocks: Iterable[tuple[int, bytes]]) -> None:
        """Add the next blocks, a megabyte at once: a commit has hundreds of them, and most are small."""
        batch: list[bytes] = []
        last, size = self._head, 0
        for number, packed in blocks:
            self._require_next(number, packed, last)
            batch.append(packed)
            last, size = number, size + len(packed)
            if size >= DATA_AT_ONCE:
                self._write(last, batch)
                batch, size = [], 0
        if batch:
            self._write(last, batch)

    def _require_next(self, number: int, packed: bytes, last: int) -> None:
        if number != last + 1 and (last or not self.kind.header):
            raise ValueError(f"block {number} cannot follow block {last} in {self._opened().data_path}")
        if number < 1 or packed[:4] != (number - 1).to_bytes(4, "big"):
            raise ValueError(f"these are not the bytes of block {number}")
        if len(packed) > BLOCK_SIZE:
            raise ValueError(f"block {number} has {len(packed)} bytes; nobody reads more than {BLOCK_SIZE}")

    def _write(self, last: int, batch: Sequence[bytes]) -> None:
        files, number = self._opened(), last - len(batch) + 1
        *starts, end = accumulate((len(packed) + OFFSET.size for packed in batch), initial=self._end)
        offsets = [OFFSET.pack(start) for start in starts]
        header = OFFSET.pack(number) if self.kind.header and not self._head else b""
        self._is_synced = False
        with self._writing():
            try:
                write_at(files.data, b"".join(chain.from_iterable(zip(batch, offsets, strict=True))), self._end)
                files.first = files.first if self._head else number
                write_at(files.index, header + b"".join(offsets), files.place_of(number) - len(header))
                files.sums.record(files.first, number, batch)
            except OSError:
                self._undo_append(files)
                raise
        self._head, self._end = last, end

    def cut_after(self, number: int) -> None:
        files = self._opened()
        end = files.start_of(number + 1)
        if end is None:
            return
        with self._writing():
            os.ftruncate(files.index, files.place_of(number + 1))
            os.ftruncate(files.data, end)
        self._head, self._end, self._is_synced = number, end, False

    def sync(self) -> None:
        """Bring what was appended to the disk: to be called before a state that relies on it is committed."""
        if not self._is_synced:
            with self._writing():
                self._opened().sync()
            self._is_synced = True

    def _load(self) -> None:
        files = LogFiles(self._folder, self.kind, writable=True)
        self.repaired = repair(files)
        files.sync()  # what was truncated stays truncated, and what was kept stays, after a loss of power
        sync_folder(self._folder)
        self._is_synced = True
        self._files, self._head, self._end = files, self.repaired.head, self.repaired.end

    def _opened(self) -> LogFiles:
        if self._files is None:
            raise ValueError(f"the {self.kind.name} in {self._folder} is closed")
        return self._files

    def _undo_append(self, files: LogFiles) -> None:
        """Undo an append that failed; what cannot be undone now is truncated by the next opening."""
        with suppress(OSError):
            if self._head:
                os.ftruncate(files.index, files.place_of(self._head + 1))
                os.ftruncate(files.data, self._end)
            else:
                files.clear()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OperatorError(
                f"the {self.kind.name} in {self._folder} cannot be written ({error}): check the disk's free space "
                "and the permissions, then start again; every block that was taken in whole is kept"
            ) from error

    def _end_of_last(self, files: LogFiles, number: int, start: int) -> int:
        """Known without looking, in the files that are written."""
        return self._end if files is self._files else super()._end_of_last(files, number, start)

    def _refresh(self) -> None:
        """Nobody else changes these files."""


def _is_entry(entry: bytes, number: int, start: int, size: int) -> bool:
    """Whether bytes are those of a block's entry: all there, of this number, and closed by their own offset."""
    return (
        len(entry) == size
        and entry[-OFFSET.size :] == OFFSET.pack(start)
        and int.from_bytes(entry[:4], "big") == number - 1
    )
