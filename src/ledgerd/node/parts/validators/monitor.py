"""`validator-monitor`: the slots of the watched validators in the log, and a typed view for metrics and pages."""

from __future__ import annotations

import logging
from collections import deque
from typing import TYPE_CHECKING

import msgspec

from ledgerd.chain.interface.observer import Observer
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.validators.tracker import MissCause, SlotCounts, SlotTracker, WatchedSlot
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.virtual import ShutdownValidator
from ledgerd.protocol.time_text import time_text
from ledgerd.rpc.api.node_status import UNKNOWN, WatchedFacts, WatchedSlotFacts
from ledgerd.supervision.line_rates import LineRate, limited
from ledgerd.supervision.part import Part

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.chain.events import BlockApplied, BlocksUndone
    from ledgerd.chain.forks.outcome import Outcome
    from ledgerd.node.config.configuration import Configuration
    from ledgerd.protocol.block import Block

log = logging.getLogger(__name__)

SLOT_LINES = LineRate("slots of monitored validators", burst=10, a_second=10 / 60)
SUMMARY_EVERY = 3_600 // BLOCK_INTERVAL
"""Blocks between two summaries: an hour."""


MILLION = 1_000_000
SLOTS_SHOWN = 21
"""On the page, of each validator."""


class Lateness(msgspec.Struct, frozen=True):
    """How many seconds after their slots blocks were first seen here."""

    blocks: int
    mean: float
    most: float
    last: float


class WatchedValidator(msgspec.Struct, frozen=True):
    """A validator of `validator-monitor`: its settled slots since the start of the node, and the state as it is now."""

    name: AccountName
    slots: int
    made: int
    missed: dict[MissCause, int]
    """For every cause, also where it is none."""
    lateness: Lateness | None
    """Nothing before the first block."""
    last_block: int
    """The number of its last block; 0 for none."""
    last_seen: int
    """The time of the slot of its last block; 0 for none."""
    reward: int
    """In millionths of a share."""
    votes: int
    counted_votes: int
    """What is left of the votes after penalties."""
    penalty_percent: int
    """In hundredths of a percent."""
    total_missed: int
    """Since the validator was declared, as the chain counts it."""
    is_scheduled: bool
    """Whether it has a slot in this round."""
    has_key: bool
    """Whether it has a signing key; without one it gets no slots."""


class MonitorPart(Part, Observer):
    """Watches the validators that are named; it does nothing if there are none."""

    def __init__(self, configuration: Configuration, chain: ChainPart, time: TimeSource) -> None:
        super().__init__("validator_monitor")
        self._names = configuration.validator_monitor.names
        self._chain = chain
        self._time = time
        self.tracker = SlotTracker(self._names)

    async def start(self) -> None:
        """Follow the chain from now on."""
        if self._names:
            await self._chain.attach(self._follow)

    async def stop(self) -> None:
        """Nothing runs."""

    # -- on the thread of the chain

    def _follow(self, chain: Chain) -> None:
        for name in self._names:
            if chain.validator(name) is None:
                log.warning(
                    "validator-monitor: there is no validator %(validator)s at block #%(block)d",
                    {"validator": name, "block": chain.head_number},
                )
        chain.observe(self)

    def _now(self) -> float:
        return self._time.wall() / MICRO

    def pushed(self, block: Block, outcome: Outcome) -> None:
        if block.validator in self._names and self._chain.chain.is_signed(block):
            self.tracker.see(block, outcome, self._now())

    def undone(self, event: BlocksUndone) -> None:
        self.tracker.undone(event.head_number)

    def applied(self, event: BlockApplied) -> None:
        self.tracker.applied(event, self._now())
        for slot in self.tracker.settle(event.block.timestamp):
            self._log(slot)
        for each in event.operations:
            if isinstance(each.operation, ShutdownValidator) and each.operation.owner in self._names:
                log.warning(
                    "validator-monitor: %(validator)s was switched off: it has no signing key",
                    {"validator": each.operation.owner},
                )
        if event.block.number % SUMMARY_EVERY == 0:
            self._log_summary()

    def _log(self, slot: WatchedSlot) -> None:
        """The lines of slots have a rate of their own, as a node may watch every validator."""
        told: dict[str, object] = {"validator": slot.validator, "slot": time_text(slot.time)}
        own = limited(SLOT_LINES)
        if slot.cause is not None:
            told["cause"] = slot.cause
            log.warning("validator-monitor: %(validator)s missed its slot %(slot)s: %(cause)s", told, extra=own)
            return
        told["block"] = slot.block
        if slot.late is None:
            log.info("validator-monitor: %(validator)s made block #%(block)d of %(slot)s", told, extra=own)
        else:
            told["late"] = slot.late
            log.info(
                "validator-monitor: %(validator)s made block #%(block)d of %(slot)s, seen %(late).2f s after its slot "
                "began",
                told,
                extra=own,
            )

    def _log_summary(self) -> None:
        for each in self.view():
            log.info(
                "validator-monitor: %(validator)s since the start: %(made)d of %(slots)d slots made, on average "
                "%(late).2f s late; reward %(reward).6f; %(votes)d votes, of which %(counted)d count; missed in all "
                "%(missed)d",
                {
                    "validator": each.name,
                    "made": each.made,
                    "slots": each.slots,
                    "late": 0.0 if each.lateness is None else each.lateness.mean,
                    "reward": each.reward / MILLION,
                    "votes": each.votes,
                    "counted": each.counted_votes,
                    "missed": each.total_missed,
                },
            )

    def view(self) -> tuple[WatchedValidator, ...]:
        """The watched validators as they are now, in the order of their names in the configuration."""
        chain = self._chain.chain
        return tuple(_view_of(chain, name, counts) for name, counts in self.tracker.counts.items())

    def facts(self) -> tuple[WatchedFacts, ...]:
        """The same for the page of the operator, with the latest slots of each."""
        latest: dict[AccountName, deque[WatchedSlotFacts]] = {name: deque(maxlen=SLOTS_SHOWN) for name in self._names}
        for slot in self.tracker.latest:
            delay = UNKNOWN if slot.late is None else round(1_000 * slot.late)
            latest[slot.validator].append(WatchedSlotFacts(slot.time, slot.block, delay, slot.cause or ""))
        return tuple(_facts_of(each, tuple(latest[each.name])) for each in self.view())


def _facts_of(validator: WatchedValidator, slots: tuple[WatchedSlotFacts, ...]) -> WatchedFacts:
    late = validator.lateness
    return WatchedFacts(
        name=validator.name,
        slots=slots,
        made=validator.made,
        missed=validator.slots - validator.made,
        mean_delay=UNKNOWN if late is None else round(1_000 * late.mean),
        reward=validator.reward,
        votes=validator.votes,
        counted_votes=validator.counted_votes,
        penalty_percent=validator.penalty_percent,
        is_scheduled=validator.is_scheduled,
        has_key=validator.has_key,
    )


def _view_of(chain: Chain, name: AccountName, counts: SlotCounts) -> WatchedValidator:
    validator, timed = chain.validator(name), counts.timed
    lateness = Lateness(timed, counts.late_sum / timed, counts.late_most, counts.late_last) if timed else None
    return WatchedValidator(
        name=name,
        slots=counts.made + sum(counts.missed.values()),
        made=counts.made,
        missed=dict(counts.missed),
        lateness=lateness,
        last_block=counts.last_block,
        last_seen=counts.last_time,
        reward=counts.reward,
        votes=0 if validator is None else validator.votes,
        counted_votes=0 if validator is None else validator.counted_votes,
        penalty_percent=0 if validator is None else validator.penalty_percent,
        total_missed=0 if validator is None else validator.total_missed,
        is_scheduled=name in chain.scheduled,
        has_key=validator is not None and validator.is_active,
    )
