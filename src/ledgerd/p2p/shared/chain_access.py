"""What peers ask of the chain, as one small interface; and that interface over `chain.chain` (spec 04, sections 5, 12).

Nothing else of this room knows the chain.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from enum import Enum, auto
from typing import Protocol

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.database import BlockTooOld, UnlinkableBlock
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import LogDamaged
from ledgerd.chain.log.rolling import ROLLING_LOG
from ledgerd.protocol.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.transaction import Transaction
from ledgerd.state.objects.reversible import REVERSIBLE_BY_NUMBER
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES

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
        """Take a block in; while syncing it may become durable only with `settle`."""

    def settle(self) -> None:
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
        return self._chain.ledger.globals.time

    @property
    def lib_number(self) -> int:
        """The number of the last irreversible block."""
        return self._chain.irreversible

    @property
    def lib_id(self) -> BlockId:
        """Its id as the state has it; zeros where the state does not know."""
        return self._chain.ledger.globals.last_irreversible_block_id

    @property
    def _rolling(self) -> BlockLogReader | None:
        """The log of a node that began with a snapshot: it lacks the beginning of the chain."""
        log = self._chain.block_log
        return log if isinstance(log, BlockLogReader) and log.KIND is ROLLING_LOG else None

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
        return self._rolling is not None and self._chain.ledger.globals.emergency_consensus_active

    # -- blocks to serve and to recognise

    def read(self, number: int) -> bytes | None:
        """From the reversible blocks or the log: also from the full log, which the reference does not serve."""
        if not 0 < number <= self.head_number:
            return None
        kept = self._chain.store.lookup(REVERSIBLE_BY_NUMBER, number)
        if kept is not None:
            return kept.packed
        try:
            packed = self._chain.block_log.read(number)
        except LogDamaged as problem:
            self._tell_damage(problem)
            return None
        if packed is None:
            for item in self._chain.forks.items_at(number)[:1]:
                return item.block.packed
        return packed

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
        if block_id == NO_BLOCK:
            return False
        return self._chain.blocks.is_on_trunk(block_id) or self._chain.forks.is_known(block_id)

    def is_linked(self, block_id: BlockId) -> bool:
        """Among the candidates, and not merely waiting for a parent."""
        return block_id in self._chain.forks

    def tips(self) -> list[BlockId]:
        """In the order of their arrival at each height."""
        head = self.head_number
        heights = range(head, head + TIPS_ABOVE_HEAD + 1)
        return [item.id for number in heights for item in self._chain.forks.items_at(number)]

    def is_minority(self) -> bool:
        """Whether our head does not lie below the head of the candidates."""
        forks = self._chain.forks
        best = forks.head
        if best is None or best.number < self.head_number:
            return False
        ours = forks.below_head(self.head_number)
        return ours is not None and ours.id != self.head_id

    # -- blocks and transactions to take in

    def is_sound(self, block: Block) -> bool:
        """What can be said of any block before its place is known.

        The largest size is voted on, so that of another branch, or of some blocks on, may be another. Any time inside
        a slot is as good as its beginning (spec 03, section 6, quirk).
        """
        limit = MAX_SIZE_AHEAD * self._chain.ledger.globals.maximum_block_size
        return block.number > 0 and len(block.packed) <= limit

    def is_signed(self, block: Block) -> bool:
        """A key that has changed since, or changes inside the branch, is not known here: that proves nothing."""
        return self._chain.is_signed(block)

    def is_anchored(self, transaction: Transaction) -> bool:
        """By the same table as the chain's own check; number zero always passes (spec 04, section 14.1)."""
        if transaction.ref_block_num == 0:
            return True
        summary = self._chain.store.get(BLOCK_SUMMARIES, transaction.ref_block_num)
        return int.from_bytes(summary.block_id[4:8], "little") == transaction.ref_block_prefix

    def accept_block(self, block: Block, now: float, *, is_syncing: bool) -> Acceptance:
        """Push, and sort the outcome into the classes of the table of spec 04, section 12.

        The reference leaves the signatures of transactions out while it syncs; here everything is checked.
        """
        self._link_trunk_below(block)
        try:
            if self._chain.push_block(block, commit=not is_syncing):
                return Acceptance.ACCEPTED
        except BlockTooOld:
            return Acceptance.ALREADY_KNOWN
        except UnlinkableBlock:
            return self._unlinkable(block, now)
        except RuleViolation:
            return Acceptance.REJECTED
        is_on_trunk = block.number <= self.head_number and self._chain.blocks.is_on_trunk(block.id)
        return Acceptance.ALREADY_KNOWN if is_on_trunk else Acceptance.FORK_DB_ONLY

    def _link_trunk_below(self, block: Block) -> None:
        """Where a branch leaves the trunk, the candidates must hold the trunk from there on, or it could never win.

        They lose it when they are begun anew at the head (spec 03, sections 9.3 and 9.9).
        """
        chain = self._chain
        if not self.lib_number < block.number <= self.head_number or not chain.blocks.is_on_trunk(block.previous):
            return
        item = next((item for item in chain.forks.items_at(self.head_number) if item.id == self.head_id), None)
        while item is not None and item.number >= block.number:
            item = chain.forks.parent_of(item)
        if item is None:
            for number in range(self.head_number, block.number - 2, -1):
                base = chain.blocks.at(number)
                if base is not None:
                    chain.forks.insert_base(base)

    def _unlinkable(self, block: Block, now: float) -> Acceptance:
        """Dead, unless it is ahead, or its parent is at hand, or we have only just begun and know little."""
        behind = self.head_number - block.number
        if behind < 0:
            return Acceptance.FORK_DB_ONLY
        if block.previous != NO_BLOCK and self._chain.blocks.fetch(block.previous) is not None:
            return Acceptance.FORK_DB_ONLY
        if now - self._started <= DEAD_FORK_GRACE_SECONDS and behind <= DEAD_FORK_GRACE_BLOCKS:
            return Acceptance.FORK_DB_ONLY
        return Acceptance.DEAD_FORK

    def settle(self) -> None:
        """One commit for all blocks since the last."""
        self._chain.commit()

    def accept_transaction(self, transaction: Transaction) -> bool:
        """All checks; the reason of a refusal is nobody's business on the network."""
        try:
            self._chain.push_transaction(transaction)
        except RuleViolation:
            return False
        return True
