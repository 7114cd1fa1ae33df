"""Keeps the projections consistent with a chain: they are written before the state is, and compared with it at the
start.

So after a kill they may be ahead of the state, never behind. What is ahead is undone, and where blocks of the state
were undone already, the chain applies them again, with their events.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import lmdb

from ledgerd.basics.closing import on_error
from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer, merged
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone, Event, IrreversibleAdvanced
from ledgerd.projections.kept import PROJECTIONS, TOKEN_BYTES, Beginning, KeptProjections
from ledgerd.projections.projection import Projection
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, block_number_of
from ledgerd.state.errors import StoreCorrupt
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.view import View

log = logging.getLogger(__name__)

FOREIGN = "those that were there are of another chain, or of a branch that was left"
LAPSED = "the node has run without them, or its state was replaced"
UNDONE = "the block behind which they began was undone"

DAMAGE = (StoreCorrupt, lmdb.CorruptedError, lmdb.PageNotFoundError)
"""What is raised where their file cannot be read any more."""


def follow(chain: Chain, projections: Sequence[Projection]) -> KeptProjections:
    """Make projections consistent with a chain, and keep them so from now on; the chain closes their store."""
    kept = KeptProjections(chain.state_folder, chain.space)
    recorder = ProjectionRecorder(chain, projections, kept)
    with on_error(kept.close):
        is_ahead = recorder.compare()
    chain.observe(recorder)
    common = max(block_number_of(kept.last_block), chain.irreversible)
    if is_ahead and common < chain.head_number:
        chain.apply_again(common)
    return kept


def leave(chain: Chain) -> None:
    if chain.named_value(PROJECTIONS):
        chain.set_named_value(PROJECTIONS, b"")


def projections_of(chain: Chain) -> View | None:
    return next((each.kept.store.uncached for each in chain.observers if isinstance(each, ProjectionRecorder)), None)


class ProjectionRecorder(Observer):
    """Has the projections take in what becomes durable next."""

    def __init__(self, chain: Chain, projections: Sequence[Projection], kept: KeptProjections) -> None:
        self._chain, self._projections, self.kept = chain, projections, kept
        self.samplers = merged(each.samplers for each in projections)
        self.tables = frozenset[Table[Any]]().union(*(each.tables for each in projections))
        self._owners: dict[object, Projection] = {
            sampler: each for each in projections for samplers in each.samplers.values() for sampler in samplers
        }
        self._names = frozenset(each.name for each in projections)
        self._base = chain.head_number
        """The last block up to which the projections agree with the durable state."""
        self._is_open = False
        """Whether events were taken in that are not known to be durable in the state."""
        self._is_changed = False
        """Whether there is something to commit."""
        self._must_begin = False
        """Whether the block was undone behind which they began."""

    def compare(self) -> bool:
        """Make them those of the state; whether they were ahead of it, and may lack its latest blocks now."""
        chain, kept = self._chain, self.kept
        known, position = chain.named_value(PROJECTIONS) or b"", kept.position
        is_ahead = known[:TOKEN_BYTES] == position[:TOKEN_BYTES] and known < position
        if not self._undo_to_trunk():
            kept.clear(FOREIGN)
            is_ahead = False
        if not known or known != position:
            self._is_changed = True
            if not is_ahead:
                kept.leave_changes()
            if not is_ahead or not self._names <= kept.names:
                kept.set_names(())
        if kept.begun > block_number_of(kept.last_block):
            kept.set_names(())
        missing = [each for each in self._projections if each.name not in kept.names]
        if missing:
            self._begin(missing, kept.fault or LAPSED)
            kept.fault = ""
        if self._is_changed:
            self._commit()
            chain.make_durable()
        kept.store.irreversible(chain.irreversible)
        return is_ahead

    def _undo_to_trunk(self) -> bool:
        """Undo what blocks have changed that are not on the trunk; whether that was possible."""
        kept, chain = self.kept, self._chain
        if kept.chain_id not in {b"", chain.network.chain_id}:
            return False
        while not self._is_on_trunk(kept.last_block):
            if not kept.store.undoable:
                return False
            kept.store.undo()
            self._is_changed = True
        return True

    def _is_on_trunk(self, block_id: BlockId) -> bool:
        number = block_number_of(block_id)
        known = self._chain.id_at(number)
        # Of an old block, the state and the log may not know the id any more.
        return known == block_id or (known == NO_BLOCK and number <= self._chain.irreversible)

    def _begin(self, projections: Sequence[Projection], reason: str) -> None:
        chain = self._chain
        self.kept.begin(projections, chain.state, Beginning(chain.head_number, chain.head_id, chain.network.chain_id))
        self._is_changed = True
        if chain.head_number:
            log.warning(
                "what is kept for APIs (%(names)s) begins after block %(block)d: %(reason)s; `ledgerd markets "
                "rebuild` makes all of it, where the block log has the first block",
                {"names": ", ".join(each.name for each in projections), "block": chain.head_number, "reason": reason},
            )

    def committing(self, events: Sequence[Event]) -> None:
        kept = self.kept
        try:
            self._apply_events(events)
        except DAMAGE as problem:
            kept.clear(f"those that were there cannot be read ({problem})")
            self._must_begin = True
        if self._must_begin:
            kept.set_names(())
            self._begin(self._projections, kept.fault or UNDONE)
        if kept.names != self._names:  # others are off
            kept.set_names(self._names)
            self._is_changed = True
        if self._is_changed:
            self._commit()

    def _apply_events(self, events: Sequence[Event]) -> None:
        if self._is_open:  # the commit before has failed, and its events come again
            self._undo_above(self._base)
        self._is_open = True
        settled, is_begun = _settled_by(events), False
        for event in events:
            if isinstance(event, BlockApplied):
                is_begun |= self._apply(event, is_merged=is_begun and event.block.number <= settled)
            elif isinstance(event, BlocksUndone):
                self._base = min(self._base, event.head_number)
                self._undo_above(event.head_number)

    def _apply(self, event: BlockApplied, *, is_merged: bool) -> bool:
        """Whether it has changed something. Merged with the block before, they are undone together."""
        store, owners = self.kept.store, self._owners
        with store.begin(revision=event.block.number) as session:
            for projection in self._projections:
                samples = [each for each in event.samples if owners.get(each.sampler) is projection]
                projection.apply(event, samples, store)
            if not session.changes:
                return False
            self.kept.set_last_block(event.block.id)
            self._is_changed = True
            if is_merged:
                session.squash()
            else:
                session.push()
        return True

    def _undo_above(self, number: int) -> None:
        store = self.kept.store
        while store.undoable and store.revision > number:
            store.undo()
            self._is_changed = True
        self._must_begin |= self.kept.begun > number

    def _commit(self) -> None:
        self._chain.set_named_value(PROJECTIONS, self.kept.commit())
        self._is_changed = False

    def irreversible(self, number: int) -> None:
        self.kept.store.irreversible(number)

    def committed(self, _seconds: float) -> None:
        self._is_open = self._must_begin = False
        self._base = self._chain.head_number

    def closing(self) -> None:
        self.kept.close()


def _settled_by(events: Sequence[Event]) -> int:
    """The last block that cannot be undone once these events are durable. A kill before that undoes all of them or
    none.
    """
    if any(isinstance(event, BlocksUndone) for event in events):
        return 0
    return max((event.number for event in events if isinstance(event, IrreversibleAdvanced)), default=0)
