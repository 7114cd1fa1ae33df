"""Damaged files of block logs: what was whole before the damage is kept, and nothing is taken for what it is not."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import NamedTuple

import msgspec

from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.files import OFFSET, LogDamaged, sum_of, sums_path
from ledgerd.chain.log.rolling import RollingBlockLog, RollingBlockLogReader
from ledgerd.codec import CodecError, codec_of
from ledgerd.protocol.blocks.block import Block
from tests.chain.logged_blocks import packed_block
from tests.fuzz.mutations import damaged
from tests.fuzz.target import Broken
from tests.recorded import recorded_blocks

BLOCKS = 14
KINDS: tuple[tuple[type[BlockLog], type[BlockLogReader], int], ...] = (
    (BlockLog, BlockLogReader, 1),
    (RollingBlockLog, RollingBlockLogReader, 120),
)
"""A log, its reader, and the number of the first block here."""


class Files(NamedTuple):
    """The files of a log of one of the kinds."""

    place: int
    data: bytes
    offsets: bytes
    sums: bytes
    """Of the checksums; empty where there are none."""


class Sound(NamedTuple):
    """A log as it was before the damage."""

    first: int
    blocks: tuple[bytes, ...]
    starts: tuple[int, ...]
    data: bytes
    offsets: bytes
    sums: bytes

    @property
    def head(self) -> int:
        return self.first + len(self.blocks) - 1

    def is_unproven(self, number: int, data: bytes, head: int) -> bool:
        """Whether a block before a damaged one is told from it by its checksum alone: none after that is sound."""
        start, end = self.starts[number - self.first + 2 :][:2] if number + 2 <= self.head else (0, 0)
        return number + 2 > head or data[start:end] != self.data[start:end]

    def whole_until(self, size: int) -> int:
        """The last block of those that end within so many bytes."""
        return self.first - 1 + sum(end <= size for end in self.starts[1:])


@cache
def sound(place: int) -> Sound:
    """Recorded blocks, and small ones after them."""
    first = KINDS[place][2]
    blocks = recorded_blocks("open-2")[first - 1 : first + BLOCKS // 2]
    while len(blocks) < BLOCKS:
        before = codec_of(Block).decode_exactly(blocks[-1])
        small = codec_of(Block).decode_exactly(packed_block(first + len(blocks), b"v" * (len(blocks) % 5 + 1)))
        blocks += (msgspec.structs.replace(small, previous=before.id).packed,)
    starts = tuple(accumulate((len(each) + OFFSET.size for each in blocks), initial=0))
    data = b"".join(each + OFFSET.pack(start) for each, start in zip(blocks, starts, strict=False))
    header = OFFSET.pack(first) if place else b""
    sums = OFFSET.pack(first) + b"".join(sum_of(each).to_bytes(4, "little") for each in blocks)
    return Sound(first, blocks, starts, data, header + b"".join(map(OFFSET.pack, starts[:-1])), sums)


def some_sums(random: Random, log: Sound) -> bytes:
    """The checksums, sound, missing or damaged: they decide nothing."""
    return random.choice((log.sums, b"", damaged(random, log.sums)))


class LogData:
    """The file of the blocks is damaged; its index is sound, empty or damaged too."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self, random: Random) -> Files:
        place = int(random.random() * len(KINDS))
        log = sound(place)
        offsets = log.offsets
        if random.random() < 0.3:
            offsets = random.choice((b"", damaged(random, log.offsets)))
        data = damaged(random, log.data, (*map(OFFSET.pack, log.starts), bytes(40)))
        return Files(place, data, offsets, some_sums(random, log))

    def survive(self, given: Files) -> bool:
        log, (kind, _, _) = sound(given.place), KINDS[given.place]
        paths = write(self._folder, given)
        untouched = next((at for at, (a, b) in enumerate(zip(given.data, log.data, strict=False)) if a != b), None)
        whole = log.whole_until(min(len(given.data), len(log.data)) if untouched is None else untouched)
        try:
            opened = kind.open(self._folder)
        except LogDamaged:
            if paths[0].read_bytes() != given.data:
                raise Broken("blocks were touched where the operator has to decide") from None
            return False
        found = (opened.first_number, opened.head_number)
        try:
            if whole >= log.first:
                is_unproven = given.sums != log.sums and log.is_unproven(whole, given.data, opened.head_number)
                _keeps(opened, log, whole - is_unproven, may_refuse=given.offsets not in {log.offsets, b""})
            _reads_orderly(opened)
        finally:
            opened.close()
        left = [path.read_bytes() for path in paths[:2]]
        again = kind.open(self._folder)
        same = (again.first_number, again.head_number) == found and not (again.repaired.cut or again.repaired.indexed)
        again.close()
        if not same or [path.read_bytes() for path in paths[:2]] != left:
            raise Broken("a repaired log is repaired once more")
        return True


class LogIndex:
    """The index alone is damaged: readers do not follow it to a wrong block, and the next opening makes it again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def make(self, random: Random) -> Files:
        place = int(random.random() * len(KINDS))
        log = sound(place)
        offsets = damaged(random, log.offsets, (*map(OFFSET.pack, log.starts), bytes(16)))
        return Files(place, log.data, offsets, some_sums(random, log))

    def survive(self, given: Files) -> bool:
        log, (kind, reading, _) = sound(given.place), KINDS[given.place]
        paths = write(self._folder, given)
        reader = reading.open(self._folder)
        is_right = _reads_orderly(reader, log)
        reader.close()
        opened = kind.open(self._folder)
        if (opened.first_number, opened.head_number) != (log.first, log.head):
            raise Broken(f"blocks {opened.first_number} to {opened.head_number} are left")
        _keeps(opened, log, log.head)
        opened.close()
        if [path.read_bytes() for path in paths[:2]] != [log.data, log.offsets]:
            raise Broken("the index was not made as it was")
        return is_right


def write(folder: Path, given: Files) -> tuple[Path, Path, Path]:
    """The files into a folder."""
    kind = KINDS[given.place][0].KIND
    paths = folder / kind.name, folder / f"{kind.name}.index", sums_path(folder, kind)
    for path, content in zip(paths, given[1:], strict=True):
        path.write_bytes(content)
    return paths


def _keeps(log: BlockLogReader, expected: Sound, until: int, *, may_refuse: bool = False) -> None:
    """The blocks below the damage are there; where both files are damaged, some may be errors."""
    for number in range(expected.first, until + 1):
        try:
            block = log.read(number)
        except LogDamaged:
            if may_refuse:
                continue
            raise
        if block != expected.blocks[number - expected.first]:
            raise Broken(f"block {number} is not what it was")


def _is_block(packed: bytes) -> bool:
    """What is cut too short by a wrong index is seen by whoever decodes it."""
    with suppress(CodecError):
        codec_of(Block).decode_exactly(packed)
        return True
    return False


def _reads_orderly(log: BlockLogReader, expected: Sound | None = None) -> bool:
    """Whether every block can be read: one that cannot is an error that names it, by itself or in a row."""
    first, head, refused = log.first_number, log.head_number, 0
    numbers = range(first, min(head, first + 2 * BLOCKS) + 1) if head else range(0)
    read: dict[int, bytes | None] = {}
    for number in numbers:
        try:
            read[number] = log.read(number)
        except LogDamaged:
            refused += 1
    try:
        for number, packed in log.scan(first, numbers.stop - 1):
            if read.get(number, packed) != packed:
                raise Broken(f"block {number} is read in two ways")
    except LogDamaged:
        refused += 1
    for number, block in read.items():
        if block is None:
            raise Broken(f"block {number} is missing below the head, and nobody says why")
        is_right = block[:4] == (number - 1).to_bytes(4, "big")
        if expected is not None:
            is_right = block == expected.blocks[number - expected.first]
        if not is_right and _is_block(block):
            raise Broken(f"not block {number}: {block!r:.100}")
    return not refused
