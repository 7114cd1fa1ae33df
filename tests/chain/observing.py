"""The events of a chain, for tests that look at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import NO_SAMPLERS, Observer, Samplers
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone, Event, IrreversibleAdvanced
from ledgerd.chain.ledger.tracing import Trace


class EventObserver(Observer):
    """Calls a function with each event of committed blocks."""

    def __init__(self, call: Callable[[Event], object], trace: Trace | None, samplers: Samplers) -> None:
        self.trace, self.samplers = trace, samplers
        self._call = call

    def applied(self, event: BlockApplied) -> None:
        self._call(event)

    def undone(self, event: BlocksUndone) -> None:
        self._call(event)

    def irreversible(self, number: int) -> None:
        self._call(IrreversibleAdvanced(number))


class CommitObserver(Observer):
    """Calls a function with the events of each commit, before they are durable."""

    def __init__(self, call: Callable[[list[Event]], object]) -> None:
        self._call = call

    def committing(self, events: Sequence[Event]) -> None:
        self._call([*events])


def observe(
    chain: Chain, call: Callable[[Event], object], trace: Trace | None = None, samplers: Samplers = NO_SAMPLERS
) -> EventObserver:
    """Have a function called with each event from now on."""
    observer = EventObserver(call, trace, samplers)
    chain.observe(observer)
    return observer
