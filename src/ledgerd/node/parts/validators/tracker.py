"""What became of each slot of the watched validators, as far as this node can tell; settled some slots later."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from ledgerd.chain.forks.outcome import Outcome, Refused
from ledgerd.chain.ledger.events import BlockApplied, MissedSlotOwners
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.operations.virtual import ValidatorReward
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName

SETTLED_AFTER = 10 * BLOCK_INTERVAL
"""Seconds of the chain's time between a slot and the head at which the slot is settled."""

BEHIND = 60.0
"""A block that comes so many seconds after its slot was made while this node was behind: its lateness says nothing."""

SLOTS_KEPT = 2_400
"""The latest slots of all watched validators together, settled ones too: what a fork switch may take back."""

SEEN_KEPT = 1_000
"""Blocks that were seen, and are remembered with the time."""


def slot_time_of(timestamp: int) -> int:
    """The second at which the slot of a block begins: a block may have any time within its slot (spec 03,
    section 6).
    """
    return timestamp - timestamp % BLOCK_INTERVAL


class MissCause(StrEnum):
    """Why a slot has no block in the chain, as far as this node can tell."""

    UNSEEN = "no block seen"
    LATE = "block seen late"
    BRANCH = "block on a branch"
    REFUSED = "block refused"
    NOT_WATCHED = "this node was behind"


class WatchedSlot(NamedTuple):
    """One slot of a watched validator."""

    validator: AccountName
    time: int
    above: int
    """The number of the block that made the slot known: its own, or the next one of the chain."""
    block: int = 0
    """The number of its block; 0 if it was missed."""
    late: float | None = None
    """Seconds from the slot until its block was seen; None if there is none, or this node was behind."""
    cause: MissCause | None = None


class Payment(NamedTuple):
    """A reward of a watched validator, for a block or for an epoch."""

    validator: AccountName
    block: int
    amount: int
    """Millionths of a share."""


class SeenBlock(NamedTuple):
    """A block of a watched validator, as it was first seen."""

    id: BlockId
    validator: AccountName
    time: int
    at: float
    is_refused: bool


class SlotCounts:
    """The settled slots of one validator."""

    def __init__(self) -> None:
        self.made = 0
        self.missed = dict.fromkeys(MissCause, 0)
        self.reward = 0
        self.timed = 0
        self.late_sum = 0.0
        self.late_most = 0.0
        self.late_last = 0.0

    def add(self, slot: WatchedSlot) -> None:
        self._count(slot, 1)
        if slot.late is not None:
            self.late_last, self.late_most = slot.late, max(self.late_most, slot.late)

    def uncount(self, slot: WatchedSlot) -> None:
        self._count(slot, -1)

    def _count(self, slot: WatchedSlot, one: int) -> None:
        if slot.cause is not None:
            self.missed[slot.cause] += one
        else:
            self.made += one
        if slot.late is not None:
            self.timed += one
            self.late_sum += one * slot.late


class SlotTracker:
    """The latest slots of the watched validators, and what was counted since the start."""

    def __init__(self, names: tuple[AccountName, ...]) -> None:
        self.counts = {name: SlotCounts() for name in names}
        self._waiting: deque[WatchedSlot] = deque()
        self._settled: deque[WatchedSlot] = deque(maxlen=SLOTS_KEPT)
        self._payments: deque[Payment] = deque(maxlen=SLOTS_KEPT)
        self._seen: deque[SeenBlock] = deque(maxlen=SEEN_KEPT)

    def record(self, block: Block, outcome: Outcome, now: float) -> None:
        name = AccountName(block.validator)
        if name in self.counts and not any(each.id == block.id for each in self._seen):
            self._seen.append(
                SeenBlock(block.id, name, slot_time_of(block.timestamp), now, isinstance(outcome, Refused))
            )

    def applied(self, event: BlockApplied, now: float) -> None:
        block, slot_time = event.block, slot_time_of(event.block.timestamp)
        is_behind = now - slot_time > BEHIND
        first = slot_time - BLOCK_INTERVAL * len(event.missed)
        cause = MissCause.NOT_WATCHED if is_behind else MissCause.UNSEEN
        first_kept = max(0, len(event.missed) - SLOTS_KEPT)
        earlier = MissedSlotOwners(event.missed.cycle, first_kept)  # of a gap that is longer than what is kept
        for name, counts in self.counts.items():
            counts.missed[cause] += earlier.count(name)
        for place, name in enumerate(event.missed[first_kept:], first_kept):
            if name in self.counts:
                self._waiting.append(WatchedSlot(name, first + BLOCK_INTERVAL * place, block.number, cause=cause))
        name = AccountName(block.validator)
        if name in self.counts:
            seen = next((each.at for each in self._seen if each.id == block.id), now)
            late = seen - slot_time
            timed = None if late > BEHIND else late
            self._waiting.append(WatchedSlot(name, slot_time, block.number, block.number, timed))

        for each in event.operations:
            if isinstance(each.operation, ValidatorReward) and each.operation.validator in self.counts:
                payment = Payment(each.operation.validator, block.number, each.operation.shares.amount)
                self.counts[payment.validator].reward += payment.amount
                self._payments.append(payment)

    def undone(self, head: int) -> None:
        self._waiting = deque(slot for slot in self._waiting if slot.above <= head)
        while self._settled and self._settled[-1].above > head:
            slot = self._settled.pop()
            self.counts[slot.validator].uncount(slot)
        while self._payments and self._payments[-1].block > head:
            payment = self._payments.pop()
            self.counts[payment.validator].reward -= payment.amount

    def settle(self, head_time: int) -> Iterator[WatchedSlot]:
        while self._waiting and (self._waiting[0].time <= head_time - SETTLED_AFTER or len(self._waiting) > SLOTS_KEPT):
            slot = self._waiting.popleft()
            if slot.cause is MissCause.UNSEEN:
                slot = slot._replace(cause=self._cause(slot))
            self.counts[slot.validator].add(slot)
            self._settled.append(slot)
            yield slot

    def _cause(self, slot: WatchedSlot) -> MissCause:
        blocks = [each for each in self._seen if (each.validator, each.time) == (slot.validator, slot.time)]
        if not blocks:
            return MissCause.UNSEEN
        if all(each.is_refused for each in blocks):
            return MissCause.REFUSED
        if min(each.at for each in blocks if not each.is_refused) >= slot.time + BLOCK_INTERVAL:
            return MissCause.LATE
        return MissCause.BRANCH

    @property
    def latest(self) -> tuple[WatchedSlot, ...]:
        return tuple(self._settled)
