"""The trunk: the applied blocks, each in its own undo session. Which block belongs on it is decided in `choice`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any

from ledgerd.chain.ledger import events
from ledgerd.chain.ledger.assumption import AssumedBlockDiffers, Assumption
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import BELOW_CHECKPOINT, Skip, SkipFlags
from ledgerd.chain.steps.applying import apply_block
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.state.objects.transactions import REVERSIBLE_BLOCKS, REVERSIBLE_BY_NUMBER, ReversibleBlock
from ledgerd.state.tables.tables import Table

KEPT_BLOCKS = 64
"""So many irreversible blocks stay in the state: without transactions, two pages of a disk."""

Checkpoints = Mapping[int, BlockId]


class PopEmptyChain(RuleViolation):
    """There is no block that can be undone."""

    code, name, what = 4070001, "pop_empty_chain", "there are no blocks to pop"


class Trunk:
    """The applied blocks, and the events since the last commit."""

    def __init__(self, ledger: Ledger, checkpoints: Checkpoints, clock: Callable[[], float]) -> None:
        self.ledger = ledger
        self.clock = clock
        self.store = ledger.store
        self.happened: list[events.Event] = []
        """Events that are not committed yet, in order."""
        self.pops = 0
        """How many blocks were taken off since the start."""
        self.assumption: Assumption | None = None
        """The block up to which signatures of transactions are not checked, while the chain does not have it yet."""
        self.is_assumption_refuted = False
        """Whether a block came that is valid in the place of the assumed one."""
        self.is_observed = False
        """Whether anybody wants to know what happens."""
        self.watched: frozenset[Table[Any]] = frozenset()
        """The tables of which observers want to know what blocks change."""
        self.checkpoints = checkpoints
        self._last_checkpoint = max(checkpoints, default=0)

    @property
    def head_number(self) -> int:
        """The number of the head block; 0 when there is none."""
        return self.ledger.globals.head_block_number

    @property
    def head_id(self) -> BlockId:
        return self.ledger.globals.head_block_id

    @property
    def irreversible(self) -> int:
        return self.ledger.globals.last_irreversible_block_num

    def is_vouched(self, number: int) -> bool:
        """Whether a checkpoint vouches for who signed the block of a number."""
        return number <= self._last_checkpoint

    def apply(self, block: Block, skip: SkipFlags) -> None:
        """Apply a block; when it breaks a rule, nothing of it stays."""
        irreversible_before = self.irreversible
        with self.store.begin() as session:
            happened = self._apply(block, skip)
            session.push()
        self._record(happened, irreversible_before)

    def apply_for_good(self, blocks: Sequence[Block], skip: SkipFlags) -> bool:
        """Apply blocks that are never undone: what was before each need not be remembered.

        When one breaks a rule, nothing of any stays, and the answer is no; so it is where somebody asks what each block
        has changed.
        """
        if self.watched or self.ledger.tracer is not None:
            return False
        so_far = len(self.happened)
        self.ledger.is_reporting = self.is_observed
        try:
            with self.store.begin(revision=blocks[-1].number) as session:
                for block in blocks:
                    irreversible_before = self.irreversible
                    happened = self._apply(block, skip)
                    if self.is_observed:
                        self._record(happened, irreversible_before)
                session.push()
        except BaseException as problem:
            del self.happened[so_far:]
            if isinstance(problem, RuleViolation):
                return False
            raise
        finally:
            self.ledger.is_reporting = True
        self.store.irreversible(session.revision)
        if not self.is_observed:  # events would keep the blocks in memory until the commit
            self.happened.append(events.IrreversibleAdvanced(self.irreversible))
        return True

    def _apply(self, block: Block, skip: SkipFlags) -> events.BlockApplied:
        """Apply a block in the session that is open."""
        began = self.clock()
        self._carry_out(block, self.skipped(block, skip))
        changes = self._changes() if self.watched else events.UNCHANGED
        self.store.create(REVERSIBLE_BLOCKS, ReversibleBlock(number=block.number, packed=block.packed))
        ledger, now = self.ledger, self.ledger.globals
        return events.BlockApplied(
            block,
            tuple(ledger.operations),
            now.average_block_size,
            now.current_aslot,
            now.last_irreversible_block_num,
            ledger.missed,
            ledger.traced,
            self.clock() - began,
            tuple(ledger.samples),
            changes,
        )

    def _record(self, happened: events.BlockApplied, irreversible_before: int) -> None:
        self.happened.append(happened)
        if happened.irreversible > irreversible_before:
            self.store.irreversible(happened.irreversible)
            self.happened.append(events.IrreversibleAdvanced(happened.irreversible))

    def _changes(self) -> events.TableChanges:
        found = (
            (table, tuple(starmap(events.Change.copied, self.store.last_changes(table)))) for table in self.watched
        )
        return {table: changes for table, changes in found if changes}

    def _carry_out(self, block: Block, skip: SkipFlags) -> None:
        """All steps of a block; up to the assumed one, no signatures of transactions are checked."""
        assumption = self.assumption
        if assumption is None or block.number > assumption.number:
            apply_block(self.ledger, block, skip)
            return
        apply_block(self.ledger, block, skip | Skip.TRANSACTION_SIGNATURES)
        try:
            assumption.require_own(block)
        except AssumedBlockDiffers:
            self.is_assumption_refuted = True
            raise

    def can_pop(self) -> bool:
        return self.can_go_back_to(self.head_number - 1)

    def can_go_back_to(self, number: int) -> bool:
        """Whether the blocks above this one can be undone."""
        return number >= self.irreversible and number >= self.store.oldest_revision

    def pop(self) -> Block:
        block = self.reversible(self.head_number)
        if block is None or not self.can_pop():
            raise PopEmptyChain("")
        self.store.undo()
        self.pops += 1
        self._forget_happening(block)
        return block

    def reversible(self, number: int) -> Block | None:
        """A block of the trunk that the state has: reversible, or irreversible for a short time only."""
        kept = self.store.lookup(REVERSIBLE_BY_NUMBER, number)
        return None if kept is None else codec_of(Block).decode_exactly(kept.packed)

    def irreversible_after(self, number: int) -> Iterator[tuple[int, bytes]]:
        """The irreversible blocks above a number that the state has, packed, each with its number, oldest first.

        They are looked up one by one: a scan would write entries of the index that are gone before the next commit.
        """
        oldest = self.store.oldest(REVERSIBLE_BLOCKS)
        if oldest is not None:
            for each in range(max(oldest.number, number + 1), self.irreversible + 1):
                yield each, self.store.at(REVERSIBLE_BY_NUMBER, each).packed

    def forget_logged(self) -> None:
        """Let irreversible blocks go that the log has had for a while; call it before a commit, with no session open.

        The latest stay: branches may leave the trunk at the irreversible block, and a log that has lost its end is
        mended with them. If the head block is undone again, the forgotten ones are there once more.
        """
        store, last = self.store, self.irreversible - KEPT_BLOCKS
        while (oldest := store.oldest(REVERSIBLE_BLOCKS)) is not None and oldest.number <= last:
            store.remove(oldest)

    def _forget_happening(self, block: Block) -> None:
        """Drop the events of a block that was never committed; undoing a committed one is an event of its own."""
        last = self.happened[-1] if self.happened else None
        if isinstance(last, events.BlockApplied) and last.block.id == block.id:
            self.happened.pop()
            return
        if isinstance(last, events.BlocksUndone):
            self.happened.pop()
        self.happened.append(events.BlocksUndone(self.head_number, self.head_id))

    def skipped(self, block: Block, skip: SkipFlags) -> SkipFlags:
        """A block at a checkpoint must be that block; up to the last checkpoint, fewer checks are made."""
        expected = self.checkpoints.get(block.number)
        if expected is not None:
            require(
                block.id == expected,
                "itr->second == next_block.id(): Block did not match checkpoint ${number}",
                number=block.number,
            )
        return BELOW_CHECKPOINT if self.is_vouched(block.number) else skip
