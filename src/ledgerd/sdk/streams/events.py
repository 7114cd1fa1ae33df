"""What streams give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.identifiers import BlockId, TransactionId, block_number_of
from ledgerd.sdk.streams.cursor import PlaceInBlock, StreamCursor


class HistoryRow(msgspec.Struct, frozen=True):
    """An operation of a block."""

    place: PlaceInBlock
    transaction_id: TransactionId
    operation: Operation


class ReadBlock(msgspec.Struct, frozen=True):
    """A block as it was read; with its operations, as a history has them, where these were asked for."""

    block: Block
    rows: Sequence[HistoryRow] | None = None


class BlockEvent(msgspec.Struct, frozen=True):
    """A block that the chain has."""

    id: BlockId
    block: Block
    is_irreversible: bool
    """Whether it was when it was read."""
    rows: Sequence[HistoryRow] | None = None

    @property
    def number(self) -> int:
        return block_number_of(self.id)

    @property
    def cursor(self) -> StreamCursor:
        return StreamCursor(self.id)


class Undone(msgspec.Struct, frozen=True):
    """A block, and with it all of its operations, that the chain does not have any more."""

    id: BlockId
    block: Block | None
    """The undone block; None if the stream has not given it itself, but was begun after it."""
    cursor: StreamCursor
    """The position after the blocks that are left."""

    @property
    def number(self) -> int:
        return block_number_of(self.id)


class OperationEvent(msgspec.Struct, frozen=True):
    """An operation that the chain has."""

    operation: Operation
    place: PlaceInBlock
    transaction_id: TransactionId
    """The id of its transaction; zeros for what the chain itself does after the transactions."""
    block_id: BlockId
    time: int
    """The time of its block, in seconds since 1970."""
    is_irreversible: bool

    @property
    def number(self) -> int:
        """The number of its block."""
        return block_number_of(self.block_id)

    @property
    def cursor(self) -> StreamCursor:
        return StreamCursor(self.block_id, self.place)


Since: TypeAlias = int | str | StreamCursor | Sequence[StreamCursor | str] | None
"""Where a stream begins: with a block by its number; after a cursor; after the newest of several that the chain still
has, or with block 1 where the list has none; without any, with the next block.
"""
