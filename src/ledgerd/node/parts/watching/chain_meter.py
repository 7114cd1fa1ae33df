"""Metrics of the chain, on its thread: events are counted and timed, the rest is read off once a second."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Callable, Sequence

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone
from ledgerd.metrics.cells import Cells, GaugeCell
from ledgerd.metrics.families import Family
from ledgerd.metrics.names import NOWHERE, ValidatorPlaces
from ledgerd.metrics.table import chain as table
from ledgerd.metrics.table import validators
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.versions import hardfork_version_of

SLOTS_OF_PARTICIPATION = 128


class ChainMeter(Observer):
    """Writes the metrics of a chain."""

    def __init__(
        self, cells: Cells, places: ValidatorPlaces, now: Callable[[], float], watched: tuple[AccountName, ...] = ()
    ) -> None:
        """`watched` names validators that have places whether or not they are scheduled."""
        self._cells, self._places, self._now, self._watched = cells, places, now, watched
        self._head, self._irreversible = cells.gauge(table.HEAD), cells.gauge(table.IRREVERSIBLE)
        self._head_time, self._age = cells.gauge(table.HEAD_TIME), cells.gauge(table.HEAD_AGE)
        self._blocks_at = cells.layout.of(table.BLOCKS_APPLIED).start
        self._made_at = cells.layout.of(validators.VALIDATOR_BLOCKS).start
        self._transactions = cells.counter(table.TRANSACTIONS_APPLIED)
        self._operations = {kind: cells.counter(table.OPERATIONS_APPLIED, kind) for kind in table.KIND.values}
        self._apply, self._commit = cells.histogram(table.APPLY_TIME), cells.histogram(table.COMMIT_TIME)
        self._reorganisations = cells.histogram(table.REORGANISATIONS)
        self._missed = cells.counter(table.MISSED_SLOTS)
        self._participation, self._emergency = cells.gauge(table.PARTICIPATION), cells.gauge(table.EMERGENCY)
        self._hardfork = cells.gauge(table.HARDFORK_NOW)
        self._votes, self._running = self._by_hardfork(table.HARDFORK_VOTES), self._by_hardfork(table.HARDFORKS_RUNNING)
        self._pending = cells.gauge(table.POOL_TRANSACTIONS, "chain")
        self._missed_of = self._places.counters(validators.VALIDATOR_MISSED)
        self._last_of = self._places.gauges(validators.VALIDATOR_LAST)
        self._chain: Chain | None = None
        self._last: BlockApplied | None = None
        self._height = 0
        """The head where there is none."""

    def _by_hardfork(self, family: Family) -> dict[str, GaugeCell]:
        return {name: self._cells.gauge(family, name) for name in table.HARDFORK.values}

    def observe(self, chain: Chain) -> None:
        self._chain, self._last, self._height = chain, None, chain.head_number
        chain.observe(self)
        self.sample()

    def applied(self, event: BlockApplied) -> None:
        """Count a block; a replay has so many that every lookup is felt."""
        place = self._places.by_name.get(event.block.validator, NOWHERE) or self._place_of(event)
        numbers = self._cells.numbers
        numbers[self._blocks_at] += 1.0
        numbers[self._made_at + place] += 1.0
        self._apply.observe(event.seconds)
        self._last = event
        if event.missed:
            self._missed.add(len(event.missed))
        if event.operations:
            self._count_operations(event)

    def undone(self, event: BlocksUndone) -> None:
        before = self._height if self._last is None else self._last.block.number
        self._reorganisations.observe(before - event.head_number)
        self._last, self._height = None, event.head_number

    def committed(self, seconds: float) -> None:
        self._commit.observe(seconds)
        self._show_head()

    def _place_of(self, event: BlockApplied) -> int:
        self._show_scheduled()
        return self._places[event.block.validator]

    def _count_operations(self, event: BlockApplied) -> None:
        virtual = sum(1 for each in event.operations if each.virtual_operation)
        self._transactions.add(len(event.block.transactions))
        self._operations["virtual"].add(virtual)
        self._operations["real"].add(len(event.operations) - virtual)

    def _show_head(self) -> None:
        """Show the head at each commit: a replay leaves this thread no time for samples."""
        if self._chain is not None:
            self._head.set(self._chain.head_number)
            self._irreversible.set(self._chain.irreversible)
            self._head_time.set(self._chain.head_time)

    def sample(self) -> None:
        chain = self._chain
        if chain is None:
            return
        facts = chain.globals
        self._show_head()
        self._age.set(max(0.0, self._now() - chain.head_time) if chain.head_number else 0.0)
        self._participation.set(facts.participation_count / SLOTS_OF_PARTICIPATION)
        self._emergency.set(facts.emergency_consensus_active)
        self._hardfork.set(chain.last_hardfork)
        self._pending.set(len(chain.waiting))
        self._sample_validators(chain)

    def _sample_validators(self, chain: Chain) -> None:
        found = {name: chain.validator(name) for name in self._show_scheduled()}
        known = {name: validator for name, validator in found.items() if validator is not None}
        for name, validator in known.items():
            place = self._places[name]
            self._missed_of[place].reach(validator.total_missed)
            self._last_of[place].set(validator.last_confirmed_block_num)
        versions = [hardfork_version_of(each.running_version) for each in known.values()]  # of their programs
        self._count_by_hardfork(self._votes, [each.hardfork_version_vote for each in known.values()], chain.network)
        self._count_by_hardfork(self._running, versions, chain.network)

    def _show_scheduled(self) -> Sequence[AccountName]:
        scheduled = () if self._chain is None else [name for name in dict.fromkeys(self._chain.scheduled) if name]
        self._places.show((*self._watched, *scheduled))
        return scheduled

    def _count_by_hardfork(
        self, gauges: dict[str, GaugeCell], versions: Sequence[int], network: ChainParameters
    ) -> None:
        tally = Tally(hardfork_name(each, network) for each in versions)
        for name, gauge in gauges.items():
            gauge.set(tally[name])


def hardfork_name(version: int, network: ChainParameters) -> str:
    for hardfork in network.hardforks:
        if hardfork.version == version and str(hardfork.number) in table.HARDFORK.values:
            return str(hardfork.number)
    return table.UNKNOWN if version > network.hardfork_version else table.HARDFORK.values[0]
