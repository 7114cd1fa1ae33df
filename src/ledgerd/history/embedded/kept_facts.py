"""What a history has kept of blocks, as other processes read it of one commit; the node never waits for them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import NamedTuple

from ledgerd.chain.ledger.events import (
    AFTER_TRANSACTIONS,
    NO_TRANSACTION,
    NOTHING_MISSED,
    AppliedOperation,
    MissedSlotOwners,
)
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.store.balances import KeptChanges
from ledgerd.history.store.block_rows import BlockPart
from ledgerd.history.store.checksums import BLOCK_KEY
from ledgerd.history.store.pieces import NO_OWNER, VIRTUAL, Piece
from ledgerd.history.store.stored import StoredHistory
from ledgerd.protocol.blocks.block import SignedHeader
from ledgerd.protocol.types.identifiers import BlockId

ReadLoggedBlock = Callable[[int], bytes | None]


class KeptOperation(NamedTuple):
    """A recorded operation, and its bytes."""

    applied: AppliedOperation
    packed: bytes


class KeptBlock(NamedTuple):
    """A block, and what happened in it."""

    number: int
    header: SignedHeader
    size: int
    operations: list[KeptOperation]
    """The operations, in the order in which clients see them."""
    missed: MissedSlotOwners
    changes: KeptChanges
    """The changes of balances and the penalties of validators, if they are recorded."""


class KeptFacts:
    """The kept facts of one commit of a history. The blocks that are not in it are read from the log."""

    def __init__(self, stored: StoredHistory, logged: ReadLoggedBlock) -> None:
        self._stored = stored
        self._logged = logged
        self.balances, self.journal = stored.balances, stored.journal
        self.head, self.irreversible = stored.watermarks.head, stored.watermarks.irreversible

    @property
    def first(self) -> int:
        """The first block of which operations are known; 0 while there is none."""
        return self._stored.first_block

    @property
    def whole_from(self) -> int:
        """The first block from which on all of every block is here, with its bytes; one behind the head if none is."""
        head, table, transaction = self.head, self._stored.tables.blocks, self._stored.transaction
        cursor = transaction.cursor(table)
        count: int = transaction.stat(table)["entries"]
        first = BLOCK_KEY.unpack(cursor.key())[0] if cursor.first() else head + 1
        if count != head + 1 - first:
            first, found = head + 1, cursor.last()
            while found and cursor.key() == BLOCK_KEY.pack(first - 1):
                first, found = first - 1, cursor.prev()
        return max(first, self.known_from)

    @property
    def known_from(self) -> int:
        """The first block from which on everything that is recorded of blocks is here."""
        return max(self._stored.watermarks.forgotten + 1, self._stored.missed.first)

    def id_of(self, number: int) -> BlockId | None:
        """The id of a block; None if its bytes are not at hand."""
        packed = self.packed(number)
        return None if packed is None else _header_of(number, packed).id

    def time_of(self, number: int) -> int:
        """The time of a block; 0 if its bytes are not at hand."""
        packed = self.packed(number)
        return 0 if packed is None else _header_of(number, packed).timestamp

    def block(self, number: int) -> KeptBlock:
        packed = self.packed(number)
        if packed is None:
            raise HistoryDamaged(f"block {number} is neither in it nor in the block log")
        operations, part = list[KeptOperation](), BlockPart(number, packed)
        for piece in self._stored.pieces_at(number):
            operations += _operations_of(piece, part)
        slots = self._stored.missed.between(number, number)
        missed = next((each.validators for each in slots), NOTHING_MISSED)
        changes = self.balances.of_block(number)
        return KeptBlock(number, _header_of(number, packed), len(packed), operations, missed, changes)

    def packed(self, number: int) -> bytes | None:
        kept = self._stored.packed(number)
        return self._logged(number) if kept is None else kept


KeptSource = Callable[[], AbstractContextManager[KeptFacts]]


def _header_of(number: int, packed: bytes) -> SignedHeader:
    try:
        header, end = codec_of(SignedHeader).decode_from(packed, 0)
    except DecodeError as problem:
        raise HistoryDamaged(f"block {number} cannot be read: {problem}") from problem
    header.remember_packed(packed[:end])
    return header


def _operations_of(piece: Piece, part: BlockPart) -> list[KeptOperation]:
    rows, owners = piece.rows(), piece.transactions()
    if any(not row[3] & VIRTUAL for row in rows):
        piece.require_sound(part.data, part.begin)
    found = []
    for row in rows:
        _, owner, number, place = row
        transaction, identifier = (AFTER_TRANSACTIONS, NO_TRANSACTION) if owner == NO_OWNER else owners[owner]
        virtual = piece.virtual(place)[0] if place & VIRTUAL else 0
        operation, packed = part.operation_with_bytes(piece, row)
        numbers = piece.block, transaction, number, virtual
        found.append(KeptOperation(AppliedOperation(identifier, *numbers, piece.timestamp(row), operation), packed))
    return found
