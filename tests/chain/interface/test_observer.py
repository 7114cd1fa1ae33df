"""What observers of a chain learn, in which order, and what of it is durable by then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.forks.outcome import Outcome
from ledgerd.chain.interface.observer import NO_SAMPLERS, Observer, Samplers
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone, Event
from ledgerd.chain.ledger.ledger import Ledger, Sampler
from ledgerd.chain.ledger.tracing import Trace
from ledgerd.protocol.blocks.block import Block
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from tests.chain.networks import Network


class Recorder(Observer):
    """Records each call, with the head that is durable."""

    def __init__(self, network: Network, name: str, calls: list[str]) -> None:
        self._network = network
        self._name = name
        self._calls = calls

    def _record(self, text: str) -> None:
        with self._network.chain.parts.store.committed() as view:
            (head,) = (each.head_block_number for each in view.scan(DYNAMIC_GLOBAL_PROPERTIES))
        self._calls.append(f"{self._name} {text}, {head} on disk")

    def pushed(self, block: Block, outcome: Outcome) -> None:
        self._record(f"pushed {block.number} {type(outcome).__name__}")

    def committing(self, events: Sequence[Event]) -> None:
        self._record(f"committing {len(events)}")

    def applied(self, event: BlockApplied) -> None:
        self._record(f"applied {event.block.number}")

    def undone(self, event: BlocksUndone) -> None:
        self._record(f"undone to {event.head_number}")

    def irreversible(self, number: int) -> None:
        self._record(f"irreversible {number}")

    def committed(self, seconds: float) -> None:
        assert seconds >= 0
        self._record("committed")


@pytest.fixture
def network(tmp_path: Path) -> Iterator[Network]:
    network = Network(tmp_path)
    yield network
    network.chain.close()


def test_every_observer_learns_before_the_commit_and_then_of_each_event_in_order(network: Network) -> None:
    calls: list[str] = []
    network.chain.observe(Recorder(network, "a", calls))
    network.chain.observe(Recorder(network, "b", calls))
    network.produce()
    calls.clear()
    network.produce()

    assert calls == [
        "a committing 2, 1 on disk",
        "b committing 2, 1 on disk",
        "a applied 2, 2 on disk",
        "b applied 2, 2 on disk",
        "a irreversible 1, 2 on disk",
        "b irreversible 1, 2 on disk",
        "a committed, 2 on disk",
        "b committed, 2 on disk",
        "a pushed 2 Applied, 2 on disk",
        "b pushed 2 Applied, 2 on disk",
    ]


def test_a_block_that_is_undone_is_an_event(network: Network) -> None:
    calls: list[str] = []
    network.chain.observe(Recorder(network, "a", calls))
    network.produce(2)
    head = network.chain.head_number
    calls.clear()
    network.chain.pop_block()
    assert calls == [
        f"a committing 1, {head} on disk",
        f"a undone to {head - 1}, {head - 1} on disk",
        f"a committed, {head - 1} on disk",
    ]


def test_a_batch_of_blocks_is_one_commit(network: Network) -> None:
    calls: list[str] = []
    network.chain.observe(Recorder(network, "a", calls))
    for _ in range(2):
        network.chain.push_block(network.make(), commit=False).or_raise()
    assert calls == ["a pushed 1 Applied, 0 on disk", "a pushed 2 Applied, 0 on disk"]
    network.chain.commit()
    assert [each.split(",")[0] for each in calls[2:]] == [
        "a committing 3",
        "a applied 1",
        "a applied 2",
        "a irreversible 1",
        "a committed",
    ]


def test_a_commit_that_failed_is_repeated_with_the_same_events(network: Network) -> None:
    seen: list[list[Event]] = []

    class FullDisk(Observer):
        def committing(self, events: Sequence[Event]) -> None:
            seen.append([*events])
            if len(seen) == 1:
                raise OSError("full")

    network.chain.observe(FullDisk())
    block = network.make()
    with pytest.raises(OSError, match="full"):
        network.chain.push_block(block)
    network.chain.commit()
    assert seen[0] == seen[1]


class HeadSampler(Sampler):
    """Samples the number of the head behind each block."""

    def after(self, ledger: Ledger, _operation: Any, _before: Any) -> int:
        return ledger.head_number


def test_one_table_is_traced_at_a_time(network: Network) -> None:
    def tracing(name: str) -> Observer:
        observer = Observer()
        observer.trace = Trace(ACCOUNTS, attrgetter(name))
        return observer

    network.chain.observe(tracing("name"))
    with pytest.raises(ValueError, match="one table"):
        network.chain.observe(tracing("balance"))
    network.produce()
    assert len(network.chain.observers) == 1


def test_whoever_stops_observing_learns_nothing_more_and_its_details_are_not_found_out(network: Network) -> None:
    class Wanting(Observer):
        def __init__(self, trace: Trace | None, samplers: Samplers) -> None:
            self.trace, self.samplers = trace, samplers
            self.events: list[BlockApplied] = []

        def applied(self, event: BlockApplied) -> None:
            self.events.append(event)

    wanting = Wanting(Trace(ACCOUNTS, attrgetter("name")), {Block: (HeadSampler(),)})
    plain = Wanting(None, NO_SAMPLERS)
    network.chain.observe(plain)
    network.chain.observe(wanting)
    network.produce()
    network.chain.stop_observing(wanting)
    network.produce()

    assert len(wanting.events) == 1
    assert [each.traced is None for each in plain.events] == [False, True]
    assert [[sample.found for sample in each.samples] for each in plain.events] == [[1], []]
