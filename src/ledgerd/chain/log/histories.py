"""The interface through which APIs read recorded operations, by block and by account."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from enum import IntEnum
from typing import NamedTuple

import msgspec

from ledgerd.codec import record_kind
from ledgerd.codec.types.numbers import UInt16, UInt32, UInt64
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import LATEST, Time


class RecordedOperation(msgspec.Struct, frozen=True):
    """An operation that took effect, as clients see it (spec 05, section 12.3)."""

    trx_id: TransactionId
    block: UInt32
    trx_in_block: UInt32
    op_in_trx: UInt16
    virtual_op: UInt64
    timestamp: Time
    op: Operation

    @property
    def text(self) -> str:
        return record_kind(RecordedOperation).printer(self)


class HistoryEntry(msgspec.Struct, frozen=True):
    """One entry in the history of an account: a pair of its sequence number and the operation."""

    sequence: UInt32
    operation: RecordedOperation

    def json_text(self) -> str:
        """An array of two, not an object."""
        return entry_text(self.sequence, self.operation.text)


def entry_text(sequence: int, operation: str) -> str:
    """The JSON text of an entry, of which the operation is one already."""
    return f"[{sequence},{operation}]"


class Direction(IntEnum):
    """What an operation is to an account in whose history it stands."""

    ANY = 0
    INCOMING = 1
    """Another account, or the chain, does it to the account."""
    OUTGOING = 2
    """The account does it, or it takes something away from it."""


class OperationPlace(NamedTuple):
    """Where on the chain an operation stands."""

    block: int
    transaction_in_block: int
    operation_in_transaction: int
    virtual_operation: int


class Wanted(msgspec.Struct, frozen=True):
    """Which operations are looked for. Whatever is not said, any will do."""

    tags: frozenset[int] | None = None
    """Their kinds, by their tags on the wire."""
    accounts: frozenset[AccountName] = frozenset()
    """They touch one of these."""
    direction: Direction = Direction.ANY
    """With respect to one of the accounts."""
    since: int = 0
    until: int = LATEST + 1
    """Their times: from the first one on, and before the second."""
    picks: Callable[[Operation, OperationPlace], bool] | None = None
    """What else must hold of the operation itself, by what it says and where it stands."""


class SequenceRange(NamedTuple):
    """The first and the last entry that the history of an account has."""

    first: int
    last: int


class EntryPage(NamedTuple):
    """Some entries of an account, and which it has."""

    known: SequenceRange
    first: int
    """The number of the first of them."""
    entries: list[str]


class TransactionPlace(NamedTuple):
    """Where on the chain a transaction stands."""

    block: int
    transaction_in_block: int


class KindCount(NamedTuple):
    """How many operations of one kind a block has."""

    tag: int
    is_virtual: bool
    operations: int


class FoundOperations(NamedTuple):
    """What a search through blocks has found."""

    operations: list[str]
    """Those that are wanted, as they follow one another on the chain, whichever way the search went."""
    reached: int
    """The last block that was looked at."""


class PastAccount(NamedTuple):
    """An account as it was, by the bytes of its objects."""

    account: bytes
    authority: bytes
    metadata: bytes
    votes: tuple[AccountName, ...]
    """The validators that it voted for."""


class HistoryView(ABC):
    """The history at one moment. Operations come as the JSON text of a `RecordedOperation`."""

    @property
    @abstractmethod
    def head_number(self) -> int:
        """The last block whose operations are in it."""

    @property
    @abstractmethod
    def irreversible_number(self) -> int:
        """The last irreversible block in it."""

    @property
    def balances_begin(self) -> int | None:
        """The first block after which it is known what accounts have; nothing where that is not kept."""
        return None

    def balances_at(self, account: AccountName, block: int) -> tuple[int, ...]:
        """What an account had after a block, from the first one with balances up to the last one."""
        raise NotImplementedError

    @property
    def accounts_begin(self) -> int | None:
        """The first block after which it is known how accounts were; nothing where that is not kept."""
        return None

    def account_at(self, account: AccountName, block: int) -> PastAccount | None:
        """An account as it was after a block, under the same condition; nothing where there was none."""
        raise NotImplementedError

    @abstractmethod
    def mark_of(self, block: int) -> bytes:
        """What distinguishes a block from others of the same number; empty when it is not known."""

    @abstractmethod
    def operations_of(self, block: int, *, only_virtual: bool = False) -> list[str]:
        """The operations of a block by transaction, operation and virtual number; none where it is not known."""

    @abstractmethod
    def part_of(self, block: int, first: int, most: int) -> list[str]:
        """Some operations of a block, in the same order, without the work for the others."""

    @abstractmethod
    def kinds_of(self, block: int) -> list[KindCount]:
        """What a block has, by kind; nothing where it is not known."""

    def offsets_of(self, place: TransactionPlace) -> list[int]:  # noqa: ARG002 - who knows them looks there
        """Where the recorded operations of a transaction begin in its block's bytes; none where it is not known."""
        return []

    @abstractmethod
    def followed_from(self, place: TransactionPlace, most: int) -> list[str]:
        """The first virtual operations of a transaction."""

    @abstractmethod
    def place_of(self, transaction: TransactionId) -> TransactionPlace | None:
        """Where the first recorded operation of a transaction stands."""

    @abstractmethod
    def range_of(self, account: AccountName) -> SequenceRange | None:
        """The entries that an account has; nothing when it has none."""

    @abstractmethod
    def entries_of(self, account: AccountName, first: int, last: int) -> list[str]:
        """The entries of an account from one number to another, both included, in their order."""

    def page_of(self, account: AccountName, last: int | None, more: int) -> EntryPage | None:
        """An entry of an account, or its newest one, and so many before it, in their order.

        Nothing when the account has no entries; no entries when it does not have that one.
        """
        known = self.range_of(account)
        if known is None:
            return None
        end = known.last if last is None else last
        first = max(known.first, end - more)
        is_there = known.first <= end <= known.last
        return EntryPage(known, first, self.entries_of(account, first, end) if is_there else [])

    # -- looking for some operations among many; whoever asks does so in slices, so that none takes long

    @abstractmethod
    def first_block_since(self, time: int) -> int:
        """The first block with operations that is not older than a time; behind the head where there is none."""

    @abstractmethod
    def first_entry_since(self, account: AccountName, block: int) -> int:
        """The first entry of an account that is of this block or of a later one; behind the last if there is none."""

    @abstractmethod
    def find_operations(self, first: int, last: int, wanted: Wanted, most: int) -> FoundOperations:
        """Go through blocks from one to another, upwards or downwards, until so many operations were looked at.

        None of the last block that was looked at is left out.
        """

    @abstractmethod
    def find_entries(self, account: AccountName, first: int, last: int, wanted: Wanted) -> list[tuple[int, str]]:
        """The entries of an account from one number to another that are wanted, each with its number.

        It is this account that the direction refers to; others are not looked for.
        """


class History:
    """A history that can be read while it is written."""

    count_blocks: int
    """How many of the newest blocks are kept: `history-count-blocks`."""

    def reading(self) -> AbstractContextManager[HistoryView]:
        """The history as it is now, for as long as the block lasts. Keep it short."""
        raise NotImplementedError


class JournaledHistory:
    """The history that may have a journal of accounts; another one may be asked for operations."""

    def __init__(self, history: History) -> None:
        self.reading = history.reading
