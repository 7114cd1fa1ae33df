"""Observing a chain: the one class to derive from for whoever wants to know what a chain does.

Everything is called on the chain's thread; observers are called in the order in which they were registered.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ledgerd.chain.forks.outcome import Outcome
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone, Event
from ledgerd.chain.ledger.ledger import Sampler
from ledgerd.chain.ledger.tracing import Trace
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.state.tables.records import Row
from ledgerd.state.tables.tables import Table

Samplers = Mapping["type[Operation | Block]", "tuple[Sampler, ...]"]
"""Who samples around which operations, and behind blocks."""
NO_SAMPLERS: Samplers = MappingProxyType({})


class Observer:
    """Learns what a chain does: a subclass overrides the methods that concern it."""

    wants_pending = False
    """Whether it wants to know which rows pending transactions change."""
    trace: Trace | None = None
    """The rows that it wants traced through blocks: `BlockApplied.traced`. All observers that do must want the same."""
    samplers: Samplers = NO_SAMPLERS
    """What it wants sampled around which operations, and behind blocks: `BlockApplied.samples`."""
    tables: frozenset[Table[Any]] = frozenset()
    """The tables of which it wants to know what blocks change: `BlockApplied.changes`."""

    def pushed(self, block: Block, outcome: Outcome) -> None:
        """A block was pushed: also one that was refused or is on a branch. Its validator may not have signed it."""

    def committing(self, events: Sequence[Event]) -> None:
        """These events become durable next: for records that must never be behind the state.

        A kill between this and the commit leaves such a record ahead. A commit that failed is repeated with the same
        events.
        """

    def applied(self, event: BlockApplied) -> None:
        """A block became the head, and is durable."""

    def undone(self, event: BlocksUndone) -> None:
        """Blocks were undone, and that is durable."""

    def irreversible(self, number: int) -> None:
        """No block up to this one can be undone any more."""

    def committed(self, seconds: float) -> None:
        """All events of a commit were passed on; to make them durable took so long."""

    def closing(self) -> None:
        """The chain is being closed: nothing follows."""

    def pending_changed(self, rows: list[Row]) -> None:
        """A transaction was accepted to wait for a block; the objects that it changes, as they are with it."""

    def pending_dropped(self) -> None:
        """The changes of all pending transactions are undone."""


def merged(wanted: Iterable[Samplers]) -> Samplers:
    found: dict[type[Operation | Block], tuple[Sampler, ...]] = {}
    for each in wanted:
        for kind, samplers in each.items():
            found[kind] = (*found.get(kind, ()), *samplers)
    return found
