"""What peers ask of the chain, as one small interface; and that interface over `chain.chain` (spec 04, sections 5, 12).

Nothing else of this room asks the chain.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from enum import Enum, auto
from typing import Protocol

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import AlreadyKnown, Outcome, Refused, TooOld, Unlinked
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import LogDamaged
from ledgerd.protocol.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.identifiers import BlockId
from ledgerd.protocol.transaction import Transaction

log = logging.getLogger(__name__)

TIPS_ABOVE_HEAD = 5
DEAD_FORK_GRACE_SECONDS = 60
DEAD_FORK_GRACE_BLOCKS = 10
MAX_SIZE_AHEAD = 2
MOST_DAMAGED = 100
"""Damaged blocks that the operator is told of."""


class Acceptance(Enum):
    """What became of a block."""

    ACCEPTED = auto()
    """It was applied, and the head has moved."""
    ALREADY_KNOWN = auto()
    FORK_DB_ONLY = auto()
    """It is no part of the best chain, or not yet."""
    DEAD_FORK = auto()
    """It continues something that can never win."""
    REJECTED = auto()
    """It breaks a rule."""


def acceptance_of(outcome: Outcome, running: float) -> Acceptance:
    """The class of an outcome in the table of spec 04, section 12, so many seconds after the start.

    A block without a place is dead, unless it is ahead, or its parent is at hand, or we have only just begun and know
    little. A branch that breaks a rule above the place where it was tried says nothing about the block that came last.
    """
    if outcome.has_moved:
        return Acceptance.ACCEPTED
    if isinstance(outcome, Refused):
        return Acceptance.REJECTED
    if isinstance(outcome, AlreadyKnown | TooOld):
        return Acceptance.ALREADY_KNOWN
    if isinstance(outcome, Unlinked) and outcome.behind >= 0 and not outcome.has_parent:
        is_young = running <= DEAD_FORK_GRACE_SECONDS and outcome.behind <= DEAD_FORK_GRACE_BLOCKS
        return Acceptance.FORK_DB_ONLY if is_young else Acceptance.DEAD_FORK
    return Acceptance.FORK_DB_ONLY


class Standing(Protocol):
    """Where a chain stands."""

    @property
    def head_number(self) -> int: ...
    @property
    def head_id(self) -> BlockId: ...
    @property
    def head_time(self) -> int: ...
    @property
    def lib_number(self) -> int: ...
    @property
    def lib_id(self) -> BlockId: ...
    @property
    def earliest(self) -> int: ...
    @property
    def latest(self) -> int: ...
    @property
    def is_emergency(self) -> bool: ...


class ChainAccess(Standing, Protocol):
    """All that peers ask of the chain."""

    def read(self, number: int) -> bytes | None:
        """A block of the best chain, packed."""

    def read_run(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The blocks of the best chain from one number to another, packed, each with its number; gaps are left out."""

    def is_known(self, block_id: BlockId) -> bool:
        """Whether a block is part of the best chain or a candidate."""

    def is_linked(self, block_id: BlockId) -> bool:
        """Whether a block has a place in a known branch."""

    def tips(self) -> list[BlockId]:
        """The linked blocks at the height of the head and a few above."""

    def is_minority(self) -> bool:
        """Whether the longest branch is another than the applied one."""

    def is_sound(self, block: Block) -> bool:
        """Whether a block has a number and a size that a block may have."""

    def is_signed(self, block: Block) -> bool:
        """Whether the validator that a block names signed it, with the key that is known of it now."""

    def is_anchored(self, transaction: Transaction) -> bool:
        """Whether a transaction refers to a block of the best chain."""

    def accept_block(self, block: Block, now: float, *, is_syncing: bool) -> Acceptance:
        """Take a block in; while syncing it may become durable only with `commit`."""

    def commit(self) -> None:
        """Make durable, and servable, what was accepted."""

    def accept_transaction(self, transaction: Transaction) -> bool:
        """Whether a transaction may wait for a block."""


class ChainPeers:
    """The chain as peers see it."""

    def __init__(self, chain: Chain, started: float) -> None:
        self._chain = chain
        self._started = started
        self._damaged: set[int] = set()
        """Blocks of the log that could not be read."""

    # -- where it stands

    @property
    def head_number(self) -> int:
        """The number of the head."""
        return self._chain.head_number

    @property
    def head_id(self) -> BlockId:
        """The id of the head."""
        return self._chain.head_id

    @property
    def head_time(self) -> int:
        """The time of the head."""
        return self._chain.head_time

    @property
    def lib_number(self) -> int:
        """The number of the last irreversible block."""
        return self._chain.irreversible

    @property
    def lib_id(self) -> BlockId:
        """Its id as the state has it; zeros where the state does not know."""
        return self._chain.irreversible_id

    @property
    def _rolling(self) -> BlockLogReader | None:
        """The log of a node that began with a snapshot: it lacks the beginning of the chain."""
        return self._chain.block_log if self._chain.is_rolling else None

    @property
    def earliest(self) -> int:
        """The first block that can be served; 0 stands for all."""
        log = self._rolling
        return 0 if log is None else log.first_number

    @property
    def latest(self) -> int:
        """The last block that is served by ranges: the log of a pruned node ends at the irreversible one."""
        log = self._rolling
        return self.head_number if log is None else log.head_number

    @property
    def is_emergency(self) -> bool:
        """Told by pruned nodes only, as in the reference (spec 04, section 20)."""
        return self._chain.is_rolling and self._chain.is_emergency

    # -- blocks to serve and to recognise

    def read(self, number: int) -> bytes | None:
        """From the reversible blocks or the log: also from the full log, which the reference does not serve."""
        try:
            return self._chain.packed_at(number)
        except LogDamaged as problem:
            self._tell_damage(problem)
            return None

    def read_run(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        """The bytes of the log as they lie there, then what is reversible."""
        unlogged = max(1, first)
        try:
            for number, packed in self._chain.block_log.scan(unlogged, last):
                yield number, packed
                unlogged = number + 1
        except LogDamaged as problem:
            self._tell_damage(problem)
        for number in range(unlogged, min(last, self.head_number) + 1):
            kept = self.read(number)
            if kept is not None:
                yield number, kept

    def _tell_damage(self, problem: LogDamaged) -> None:
        """A peer is told that a damaged block is not here, and the operator, once, what to do about it."""
        if problem.number not in self._damaged and len(self._damaged) < MOST_DAMAGED:
            self._damaged.add(problem.number)
            log.error("%s", problem)

    def is_known(self, block_id: BlockId) -> bool:
        """On the trunk, or among the candidates, waiting ones included."""
        return self._chain.is_known(block_id)

    def is_linked(self, block_id: BlockId) -> bool:
        """Among the candidates, and not merely waiting for a parent."""
        return self._chain.is_linked(block_id)

    def tips(self) -> list[BlockId]:
        """In the order of their arrival at each height."""
        head = self.head_number
        heights = range(head, head + TIPS_ABOVE_HEAD + 1)
        return [block.id for number in heights for block in self._chain.candidates_at(number)]

    def is_minority(self) -> bool:
        """Whether our head does not lie below the head of the candidates."""
        return self._chain.is_minority()

    # -- blocks and transactions to take in

    def is_sound(self, block: Block) -> bool:
        """What can be said of any block before its place is known.

        The largest size is voted on, so that of another branch, or of some blocks on, may be another. Any time inside
        a slot is as good as its beginning (spec 03, section 6, quirk).
        """
        limit = MAX_SIZE_AHEAD * self._chain.globals.maximum_block_size
        return block.number > 0 and len(block.packed) <= limit

    def is_signed(self, block: Block) -> bool:
        """A key that has changed since, or changes inside the branch, is not known here: that proves nothing."""
        return self._chain.is_signed(block)

    def is_anchored(self, transaction: Transaction) -> bool:
        """By the same table as the chain's own check."""
        return self._chain.refers_to_trunk(transaction)

    def accept_block(self, block: Block, now: float, *, is_syncing: bool) -> Acceptance:
        """Push, and sort the outcome into the classes of the table of spec 04, section 12.

        The reference leaves the signatures of transactions out while it syncs; here everything is checked.
        """
        outcome = self._chain.push_block(block, commit=not is_syncing)
        return acceptance_of(outcome, now - self._started)

    def commit(self) -> None:
        """One commit for all blocks since the last."""
        self._chain.commit()

    def accept_transaction(self, transaction: Transaction) -> bool:
        """All checks; the reason of a refusal is nobody's business on the network."""
        try:
            self._chain.push_transaction(transaction)
        except RuleViolation:
            return False
        return True
