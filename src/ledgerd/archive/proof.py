"""Whether a file of blocks is of our chain: the id of its last block proves all others (spec 01, section 11)."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ledgerd.archive.errors import ArchiveRefused
from ledgerd.archive.known import KnownBlocks
from ledgerd.archive.sealed import SealedFile, sealed_files
from ledgerd.chain.log.files import LARGEST_ENTRY, OFFSET, paths_of, sum_of
from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import BlockId

WINDOW = 8 << 20
"""Bytes of the file that are in memory at a time."""


class Proven(NamedTuple):
    """The result of proving a file."""

    first: int
    previous: BlockId
    """The id of the block before its first one."""
    offsets: list[int]
    """Where each block begins."""
    sums: list[int]
    """The checksum of each block."""

    @property
    def packed_index(self) -> bytes:
        """The content of the index, the file beside this one: where each block begins."""
        return OFFSET.pack(self.first) + b"".join(map(OFFSET.pack, self.offsets))


def prove(path: Path, file: SealedFile, last_id: BlockId) -> Proven:
    with path.open("rb") as opened:
        if not opened.seek(0, 2):
            raise ArchiveRefused(f"{file.name} is empty")
        with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _proven(_Entries(data), file, last_id)


def sound_part(path: Path, file: SealedFile) -> tuple[int, int]:
    """For a file that has arrived in part: the number of the next block, and the offset where it begins."""
    number, place = file.first, 0
    if not path.exists() or not path.stat().st_size:
        return number, place
    with path.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
        entries = _Entries(data)
        while entries.rest and number <= file.last:
            try:
                block, _, is_closed = entries.next()
            except CodecError:
                break
            if block.number != number or not is_closed:
                break
            number, place = number + 1, entries.place
    return number, place


class _Entries:
    """The entries of a file, read through a window that moves with them."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._window, self._base = b"", 0
        self.place = 0

    @property
    def rest(self) -> int:
        return len(self._data) - self.place

    def next(self) -> tuple[Block, bytes, bool]:
        """The next block, its bytes, and whether its place is written after it."""
        at = self.place - self._base
        if len(self._window) - at < min(LARGEST_ENTRY, self.rest):
            self._window, self._base, at = self._data[self.place : self.place + WINDOW], self.place, 0
        block, end = codec_of(Block).decode_from(self._window, at)
        is_closed = self._window[end : end + OFFSET.size] == OFFSET.pack(self.place)
        self.place = self._base + end + OFFSET.size
        return block, self._window[at:end], is_closed


def _proven(entries: _Entries, file: SealedFile, last_id: BlockId) -> Proven:
    previous = follows = None
    offsets: list[int] = []
    sums: list[int] = []
    for number in range(file.first, file.last + 1):
        offsets.append(entries.place)
        try:
            block, packed, is_closed = entries.next()
            fault = _fault_in(block, number, follows) or ("" if is_closed else "its place is not written after it")
        except CodecError as problem:
            fault = str(problem)
        if fault:
            raise _refused(file, number, fault)
        sums.append(sum_of(packed))
        previous, follows = previous or block.previous, block.id
    if entries.rest:
        raise _refused(file, file.last, f"{entries.rest} bytes follow it")
    if previous is None or follows != last_id:
        raise _refused(file, file.last, "this chain has another block of that number")
    return Proven(file.first, previous, offsets, sums)


def _fault_in(block: Block, number: int, previous: BlockId | None) -> str:
    if block.number != number:
        return f"block {block.number} is in its place"
    if block.merkle_root != block.transaction_merkle_root:
        return "its transactions are not those of its header"
    return "" if previous in {None, block.previous} else "it does not follow the block before it"


def _refused(file: SealedFile, number: int, what: str) -> ArchiveRefused:
    return ArchiveRefused(f"block {number} of {file.name} is refused: {what}")


def check_archive(folder: Path, known: KnownBlocks, report: Callable[[int], None] = lambda _: None) -> Iterator[str]:
    """The faults of an archive, a line for each file, from the newest down. `report` is called with the number of
    blocks that were read.
    """
    read = 0
    for file in reversed(sealed_files(folder)):
        fault = _fault_of(folder, file, known)
        if fault:
            yield fault
        read += file.last - file.first + 1
        report(read)


def _fault_of(folder: Path, file: SealedFile, known: KnownBlocks) -> str:
    last_id = known.id_at(file.last)
    if last_id is None:
        return f"{file.name} cannot be proven: the block after it is missing"
    try:
        proven = prove(folder / file.name, file, last_id)
    except ArchiveRefused as problem:
        return str(problem)
    return "" if _has_index(folder, file, proven) else f"the index of {file.name} is wrong: delete both, and fetch them"


def _has_index(folder: Path, file: SealedFile, proven: Proven) -> bool:
    index = paths_of(folder, file.kind)[1]
    return index.is_file() and index.read_bytes() == proven.packed_index
