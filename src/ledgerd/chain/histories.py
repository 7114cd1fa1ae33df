"""How recorded operations are read: the interface that a history offers, and that APIs ask, by block and by account.

Who keeps a history, and in what, is no matter here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledgerd.codec import record_kind
from ledgerd.codec.lazy import lazy
from ledgerd.codec.numbers import UInt16, UInt32, UInt64
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.times import Time

if TYPE_CHECKING:
    from ledgerd.protocol.names import AccountName


class RecordedOperation(msgspec.Struct, frozen=True, dict=True):
    """An operation that took effect, as clients see it (spec 05, section 12.3). Its text is worked out once."""

    trx_id: TransactionId
    block: UInt32
    trx_in_block: UInt32
    op_in_trx: UInt16
    virtual_op: UInt64
    timestamp: Time
    op: Operation

    @lazy
    def text(self) -> str:
        """The JSON text."""
        return record_kind(RecordedOperation).printer(self)

    def json_text(self) -> str:
        """The JSON text, for the codec."""
        return self.text


class HistoryEntry(msgspec.Struct, frozen=True):
    """One entry in the history of an account: a pair of its sequence number and the operation."""

    sequence: UInt32
    operation: RecordedOperation

    def json_text(self) -> str:
        """An array of two, not an object."""
        return f"[{self.sequence},{self.operation.text}]"


class SequenceRange(NamedTuple):
    """The first and the last entry that the history of an account has."""

    first: int
    last: int


class TransactionPlace(NamedTuple):
    """Where on the chain a transaction stands."""

    block: int
    transaction_in_block: int


class HistoryView(ABC):
    """The history at one moment."""

    @property
    @abstractmethod
    def head_number(self) -> int:
        """The last block whose operations are in it."""

    @abstractmethod
    def operations_of(self, block: int) -> list[RecordedOperation]:
        """The operations of a block by transaction, operation and virtual number; none where it is not known."""

    @abstractmethod
    def place_of(self, transaction: TransactionId) -> TransactionPlace | None:
        """Where the first recorded operation of a transaction stands."""

    @abstractmethod
    def range_of(self, account: AccountName) -> SequenceRange | None:
        """The entries that an account has; nothing when it has none."""

    @abstractmethod
    def entries_of(self, account: AccountName, first: int, last: int) -> list[HistoryEntry]:
        """The entries of an account from one number to another, both included, in their order."""


class History:
    """A history that can be read while it is written."""

    @property
    def count_blocks(self) -> int:
        """How many of the newest blocks are kept: `history-count-blocks`."""
        raise NotImplementedError

    def reading(self) -> AbstractContextManager[HistoryView]:
        """The history as it is now, for as long as the block lasts. Keep it short."""
        raise NotImplementedError
