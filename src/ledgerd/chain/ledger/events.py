"""Events of the chain: facts of committed blocks, in order (spec 02, section 18).

An `Observer` gets them; nothing else leaves the chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, overload

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.identifiers import BlockId, TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.tables.tables import Entity, Table

NO_TRANSACTION = TransactionId(bytes(20))
AFTER_TRANSACTIONS = 65535
"""The place in the block of what happens after its transactions: a 16-bit minus one (spec 02, section 18.1)."""


class AppliedOperation(NamedTuple):
    """An operation that took effect, with its numbering: virtual ones count from one."""

    transaction_id: TransactionId
    block: int
    transaction_in_block: int
    operation_in_transaction: int
    virtual_operation: int
    timestamp: int
    operation: Operation


class MissedSlotOwners(Sequence[AccountName]):
    """The validators of a gap, in the order of its slots: the schedule repeats within it (spec 03, section 6)."""

    __slots__ = ("_number", "cycle")

    def __init__(self, cycle: Sequence[AccountName] = (), number: int | None = None) -> None:
        """A gap of a number of slots, which go to the validators of `cycle` in turn; by default each has one."""
        self._number = len(cycle) if number is None else number
        if self._number and not cycle:
            raise ValueError(f"{number} slots of nobody")
        self.cycle = tuple(cycle[: self._number])

    def __len__(self) -> int:
        return self._number

    @overload
    def __getitem__(self, place: int) -> AccountName: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[AccountName, ...]: ...
    def __getitem__(self, place: int | slice) -> AccountName | tuple[AccountName, ...]:
        if isinstance(place, slice):
            return tuple(self.cycle[each % len(self.cycle)] for each in range(self._number)[place])
        return self.cycle[range(self._number)[place] % len(self.cycle)]

    def count(self, value: AccountName) -> int:
        """How many of the slots are of a validator, without a walk through all of them."""
        if not self._number:
            return 0
        rounds, rest = divmod(self._number, len(self.cycle))
        return rounds * self.cycle.count(value) + self.cycle[:rest].count(value)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MissedSlotOwners):
            return NotImplemented
        return (self.cycle, self._number) == (other.cycle, other._number)

    def __hash__(self) -> int:
        return hash((self.cycle, self._number))

    def __repr__(self) -> str:
        return f"MissedSlotOwners({self.cycle!r}, {self._number})"


NOTHING_MISSED = MissedSlotOwners()


ChangeCause = int | str
"""Of a change: the place among the operations of the block's event of the one that made it, or that reports it; or the
name of the step of the block (`chain/steps`) that did it without an operation."""


class TracedChange(NamedTuple):
    """The traced value of a row before and after an operation, or a step of a block: none of a new row, or of a removed
    one.
    """

    cause: ChangeCause
    before: Any
    after: Any


class Sample(NamedTuple):
    """What a sampler has found around an operation, or behind a block."""

    sampler: object
    """Which one, of those that an observer has."""
    place: int
    """Of the operation, among those of the block; behind them for the block itself."""
    found: Any


class Change(NamedTuple):
    """An object before a block and after it; there is no former one of a new object, and no later one of a removed."""

    before: Any
    after: Any

    @classmethod
    def copied(cls, before: Entity | None, after: Entity | None) -> Change:
        """Of objects as the store has them: an image from before a change is nobody else's, but of a removed object."""
        if before is not None and after is None:
            return cls(before.__copy__(), None)
        return cls(before, None if after is None else after.__copy__())


TableChanges = Mapping[Table[Any], Sequence[Change]]
UNCHANGED: TableChanges = MappingProxyType({})


class BlockApplied(NamedTuple):
    """A block became the head."""

    block: Block
    operations: tuple[AppliedOperation, ...]
    average_block_size: int
    slot: int
    """The number of its slot, counted from the genesis (`current_aslot`)."""
    irreversible: int
    """The last irreversible block as soon as this one was applied."""
    missed: MissedSlotOwners = NOTHING_MISSED
    """Whose slots between the block before and this one have no block."""
    traced: tuple[TracedChange, ...] | None = None
    """The changes of traced rows, in order; None where no observer traced any before the block was applied."""
    seconds: float = 0.0
    """How long it took to apply."""
    samples: tuple[Sample, ...] = ()
    """What the samplers of observers have found, in the order of the operations."""
    changes: TableChanges = UNCHANGED
    """What it has changed in the tables that an observer wants, and in which it has changed something. Nobody may edit
    these objects.
    """

    def found(self, sampler: object) -> Any:  # noqa: ANN401 - each sampler knows its own
        """What a sampler of blocks has found; None where no observer had it before the block was applied."""
        return next((each.found for each in reversed(self.samples) if each.sampler is sampler), None)


class BlocksUndone(NamedTuple):
    """A fork switch undid blocks; the head is again the one named here."""

    head_number: int
    head_id: BlockId


class IrreversibleAdvanced(NamedTuple):
    """No block up to this one can be undone any more."""

    number: int


Event = BlockApplied | BlocksUndone | IrreversibleAdvanced
