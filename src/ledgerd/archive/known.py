"""Ids of blocks that a data directory has: of one that its state knows, and of all from which that one descends."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.archive.errors import ArchiveRefused
from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.chain.log.state_blocks import StateBlocks
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import SignedHeader
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader


class KnownBlocks:
    """The blocks of a directory whose log begins in the middle of the chain; a node may write there meanwhile."""

    def __init__(self, log: BlockLogReader) -> None:
        self._log = log

    @property
    def earliest(self) -> int:
        """The first block from which none is missing up to the last; 0 if the log is empty."""
        return self._log.earliest_number

    @property
    def latest(self) -> int:
        return self._log.head_number

    def id_at(self, number: int) -> BlockId | None:
        """The id of a block from the one before the earliest on; None for another."""
        following = self._header(number + 1)
        if following is not None:
            return following.previous
        found = self._header(number)
        return None if found is None else found.id

    def _header(self, number: int) -> SignedHeader | None:
        packed = self._log.read(number) if self.earliest <= number <= self.latest else None
        return None if packed is None else codec_of(SignedHeader).decode_from(packed, 0)[0]


@contextmanager
def known_blocks(state: Path, logs: Path, archive: Path, *, may_be_whole: bool = False) -> Iterator[KnownBlocks]:
    whole, log = BlockLogReader.open(logs), RollingBlockLogReader.open(logs)
    past = ArchivedBlocks(archive)
    log.earlier = past
    try:
        if whole.head_number and not may_be_whole:
            raise ArchiveRefused(f"{whole.path} has every block from the first on: nothing is missing")
        chosen = whole if whole.head_number else log
        _compare(state, chosen)
        yield KnownBlocks(chosen)
    finally:
        for each in (whole, log, past):
            each.close()


def _compare(state: Path, log: BlockLogReader) -> None:
    with StateReader.open(state, STORED_TABLES) as reader, reader.snapshot() as view:
        state_blocks = StateBlocks.of(view)
        last = min(state_blocks.irreversible, log.head_number)
        known = state_blocks.id_at(last)
    if not last:
        raise ArchiveRefused(f"{log.path} has no blocks yet: let the node run first")
    previous = None
    for number, packed in log.scan(log.first_number, last):
        header = codec_of(SignedHeader).decode_from(packed, 0)[0]
        if previous not in {None, header.previous}:
            raise ArchiveRefused(f"block {number} of {log.path} does not follow the block before it")
        previous = header.id
    if previous != known or known == NO_BLOCK:
        raise ArchiveRefused(f"block {last} of {log.path} is not the one of the state")
