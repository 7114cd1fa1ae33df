"""`validator-monitor`: the slots of the watched validators in the log, and a typed view for metrics and pages."""

from __future__ import annotations

import logging
from collections import deque
from functools import partial

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import Outcome
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.validators.tracker import SlotTracker, WatchedSlot
from ledgerd.node.parts.validators.watched import WatchedGauges, WatchedValidator, facts_of, view_of
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.operations.virtual import ShutdownValidator
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.rpc.api.node.node_status import UNKNOWN, WatchedFacts, WatchedSlotFacts
from ledgerd.supervision.line_rates import LineRate, limited

log = logging.getLogger(__name__)

SLOT_LINES = LineRate("slots of monitored validators", burst=10, a_second=10 / 60)
SUMMARY_EVERY = 3_600 // BLOCK_INTERVAL


MILLION = 1_000_000
SLOTS_SHOWN = 21


class MonitorPart(NodePart, Observer):
    """Follows the slots of the validators that are named."""

    def __init__(self, context: PartContext, chain: ChainPart, meters: MetersPart) -> None:
        super().__init__(context)
        self._names = context.configuration.validator_monitor.names
        self._chain = chain
        self.tracker = SlotTracker(self._names)
        meters.on_chain.append(lambda made: partial(self._sample, WatchedGauges(made.places)))

    async def start(self) -> None:
        await self._chain.attach(self._observe)

    # -- on the thread of the chain

    def _observe(self, chain: Chain) -> None:
        for name in self._names:
            if chain.validator(name) is None:
                log.warning(
                    "validator-monitor: there is no validator %(validator)s at block #%(block)d",
                    {"validator": name, "block": chain.head_number},
                )
        chain.observe(self)

    def _sample(self, gauges: WatchedGauges) -> None:
        gauges.sample(self.view())

    def pushed(self, block: Block, outcome: Outcome) -> None:
        if block.validator in self._names and self._chain.chain.is_signed(block):
            self.tracker.record(block, outcome, self._time.wall_seconds())

    def undone(self, event: BlocksUndone) -> None:
        self.tracker.undone(event.head_number)

    def applied(self, event: BlockApplied) -> None:
        self.tracker.applied(event, self._time.wall_seconds())
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
        fields: dict[str, object] = {"validator": slot.validator, "slot": time_text(slot.time)}
        rate = limited(SLOT_LINES)
        if slot.cause is not None:
            fields["cause"] = slot.cause
            log.warning("validator-monitor: %(validator)s missed its slot %(slot)s: %(cause)s", fields, extra=rate)
            return
        fields["block"] = slot.block
        if slot.late is None:
            log.info("validator-monitor: %(validator)s made block #%(block)d of %(slot)s", fields, extra=rate)
        else:
            fields["late"] = slot.late
            log.info(
                "validator-monitor: %(validator)s made block #%(block)d of %(slot)s, seen %(late).2f s after its slot "
                "began",
                fields,
                extra=rate,
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
        chain = self._chain.chain
        return tuple(view_of(chain, name, counts) for name, counts in self.tracker.counts.items())

    def facts(self) -> tuple[WatchedFacts, ...]:
        latest: dict[AccountName, deque[WatchedSlotFacts]] = {name: deque(maxlen=SLOTS_SHOWN) for name in self._names}
        for slot in self.tracker.latest:
            delay = UNKNOWN if slot.late is None else round(1_000 * slot.late)
            latest[slot.validator].append(WatchedSlotFacts(slot.time, slot.block, delay, slot.cause or ""))
        return tuple(facts_of(each, tuple(latest[each.name])) for each in self.view())
