"""The blocks that a data directory has, wherever they are: in its archive, in its log, or still in its state.

A node may write there meanwhile. Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ledgerd.archive.sealed import ArchivedBlocks, merged, sealed_files
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.chain.log.state_blocks import StateBlocks
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import SignedHeader
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader

SCANNED_AT_ONCE = 10_000
"""Then it is looked anew where the next blocks are: the node may have moved them from its log into the archive."""


class BlockRange(NamedTuple):
    """Blocks without a gap, by the numbers of the first and the last."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"block {self.first}" if self.first == self.last else f"blocks {self.first} to {self.last}"


class DirectoryBlocks:
    """The blocks of a data directory."""

    def __init__(self, archive: Path, log: BlockLogReader, past: ArchivedBlocks, state: Path) -> None:
        self._archive = archive
        self._log = log
        self._past = past
        self._state = state
        self._latest: dict[int, bytes] = {}
        """The blocks that are only in the state."""
        self.head_number = 0
        """The last block of the directory, as it was when this was opened."""
        self._read_state()

    def _read_state(self) -> None:
        """The state lets a block go when the log has it: the log is looked at afterwards."""
        kept: dict[int, bytes] = {}
        if (self._state / DATA_FILE).exists():
            with StateReader.open(self._state, STORED_TABLES) as reader, reader.snapshot() as view:
                blocks = StateBlocks.of(view)
                self.head_number = blocks.head
                numbers = range(blocks.kept_from, blocks.head + 1) if blocks.kept_from else ()
                kept = {number: packed for number in numbers if (packed := blocks.kept(number)) is not None}
        logged = self._log.head_number
        self._latest = {number: packed for number, packed in kept.items() if number > logged}
        ranges = self.ranges()
        self.head_number = max(self.head_number, ranges[-1].last if ranges else 0)

    def ranges(self) -> list[BlockRange]:
        found = [BlockRange(file.first, file.last) for file in merged(sealed_files(self._archive))]
        if self._log.head_number:
            found.append(BlockRange(self._log.first_number, self._log.head_number))
        found += [BlockRange(number, number) for number in self._latest]
        joined: list[BlockRange] = []
        for each in sorted(found):
            if joined and each.first <= joined[-1].last + 1:
                joined[-1] = joined[-1]._replace(last=max(joined[-1].last, each.last))
            else:
                joined.append(each)
        return joined

    def missing(self, first: int, last: int) -> list[BlockRange]:
        gaps = []
        for each in self.ranges():
            if first < each.first and first <= last:
                gaps.append(BlockRange(first, min(last, each.first - 1)))
            first = max(first, each.last + 1)
        if first <= last:
            gaps.append(BlockRange(first, last))
        return gaps

    def id_at(self, number: int) -> BlockId | None:
        """The id of a block, if it, the one that follows it or the state tells it."""
        following = self._header(number + 1)
        if following is not None:
            return following.previous
        header = self._header(number)
        if header is not None:
            return header.id
        if not (self._state / DATA_FILE).exists():
            return None
        with StateReader.open(self._state, STORED_TABLES) as reader, reader.snapshot() as view:
            found = StateBlocks.of(view).id_at(number)
        return None if found == NO_BLOCK else found

    def _header(self, number: int) -> SignedHeader | None:
        packed = next((packed for _, packed in self._found(number, number)), None)
        return None if packed is None else codec_of(SignedHeader).decode_from(packed, 0)[0]

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """Packed. `LogDamaged`: the bytes of one are not those that were written. `OperatorError`: one is missing."""
        following = first
        while following <= last:
            begun = following
            for number, packed in self._found(following, min(last, following + SCANNED_AT_ONCE - 1)):
                yield number, packed
                following = number + 1
            if following == begun:
                raise OperatorError(f"{self.missing(following, last)[0]} of the range are gone meanwhile: try again")

    def _found(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The blocks from one number on, up to the first that is not where its predecessor was."""
        for source in (self._past, self._log):
            begun = first
            for number, packed in source.scan(first, last):
                if number != first:
                    break
                yield number, packed
                first += 1
            if first > begun:
                return
        while first <= last and first in self._latest:
            yield first, self._latest[first]
            first += 1


@contextmanager
def directory_blocks(state: Path, logs: Path, archive: Path) -> Iterator[DirectoryBlocks]:
    whole, rolling, past = BlockLogReader.open(logs), RollingBlockLogReader.open(logs), ArchivedBlocks(archive)
    try:
        yield DirectoryBlocks(archive, whole if whole.head_number else rolling, past, state)
    finally:
        for each in (whole, rolling, past):
            each.close()
