"""A validator of `validator-monitor` as it is now, for metrics, the log and the page of the operator."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.chain import Chain
from ledgerd.metrics.names import ValidatorPlaces
from ledgerd.metrics.table import validators as table
from ledgerd.node.parts.validators.tracker import MissCause, SlotCounts
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.node.node_status import UNKNOWN, WatchedFacts, WatchedSlotFacts
from ledgerd.rpc.api.shared.kinds import record_of


class Lateness(msgspec.Struct, frozen=True):
    """Seconds between the slots of blocks and their first arrival here."""

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
    lateness: Lateness | None
    reward: int
    """Millionths of a share."""
    votes: int
    counted_votes: int
    penalty_percent: int
    """Hundredths of a percent."""
    total_missed: int
    """Missed slots since the validator was declared, as the chain counts them."""
    is_scheduled: bool
    has_key: bool


def facts_of(validator: WatchedValidator, slots: tuple[WatchedSlotFacts, ...]) -> WatchedFacts:
    late = validator.lateness
    delay = UNKNOWN if late is None else round(1_000 * late.mean)
    return record_of(WatchedFacts, validator, slots=slots, missed=validator.slots - validator.made, mean_delay=delay)


def view_of(chain: Chain, name: AccountName, counts: SlotCounts) -> WatchedValidator:
    validator, timed = chain.validator(name), counts.timed
    lateness = Lateness(timed, counts.late_sum / timed, counts.late_most, counts.late_last) if timed else None
    return WatchedValidator(
        name=name,
        slots=counts.made + sum(counts.missed.values()),
        made=counts.made,
        missed=dict(counts.missed),
        lateness=lateness,
        reward=counts.reward,
        votes=0 if validator is None else validator.votes,
        counted_votes=0 if validator is None else validator.counted_votes,
        penalty_percent=0 if validator is None else validator.penalty_percent,
        total_missed=0 if validator is None else validator.total_missed,
        is_scheduled=name in chain.scheduled,
        has_key=validator is not None and validator.is_active,
    )


MADE = "made"
MILLION = 1_000_000


class WatchedGauges:
    """Writes gauges on the watched validators."""

    def __init__(self, places: ValidatorPlaces) -> None:
        self._places = places
        self._slots = {result: places.counters(table.WATCHED_SLOTS, result) for result in table.RESULT.values}
        self._delays = [places.gauges(table.WATCHED_DELAY, each) for each in table.LATENESS.values]
        self._votes = [places.gauges(table.WATCHED_VOTES, each) for each in table.VOTES.values]
        self._penalties = places.gauges(table.WATCHED_PENALTY)
        self._rewards = places.counters(table.WATCHED_REWARD)
        self._keys = places.gauges(table.WATCHED_KEY)

    def sample(self, watched: Iterable[WatchedValidator]) -> None:
        """Write the current values as gauges: an undone block takes its slot back, which a counter cannot show."""
        for each in watched:
            place = self._places[each.name]
            self._slots[MADE][place].rise_to(each.made)
            for cause, count in each.missed.items():
                self._slots[cause.name.lower()][place].rise_to(count)
            if each.lateness is not None:
                late = each.lateness
                for gauges, value in zip(self._delays, (late.mean, late.most, late.last), strict=True):
                    gauges[place].set(value)
            for gauges, votes in zip(self._votes, (each.votes, each.counted_votes), strict=True):
                gauges[place].set(votes / MILLION)
            self._penalties[place].set(each.penalty_percent / HUNDRED_PERCENT)
            self._rewards[place].rise_to(each.reward / MILLION)
            self._keys[place].set(each.has_key)
