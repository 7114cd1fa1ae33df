"""Metrics of the validators of `validator-monitor`, from what that part knows of them; on the thread of the chain."""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.metrics.names import ValidatorPlaces
from ledgerd.metrics.table import validators as table
from ledgerd.node.parts.validators.tracker import MissCause
from ledgerd.node.parts.validators.watched import WatchedValidator

RESULTS = {
    MissCause.UNSEEN: "unseen",
    MissCause.LATE: "late",
    MissCause.BRANCH: "branch",
    MissCause.REFUSED: "refused",
    MissCause.NOT_WATCHED: "not_watched",
}
MADE = "made"
MILLION = 1_000_000


class WatchedGauges:
    """Writes what is known of the watched validators."""

    def __init__(self, places: ValidatorPlaces) -> None:
        self._places = places
        self._slots = {result: places.counters(table.WATCHED_SLOTS, result) for result in table.RESULT.values}
        self._delays = [places.gauges(table.WATCHED_DELAY, each) for each in table.LATENESS.values]
        self._votes = [places.gauges(table.WATCHED_VOTES, each) for each in table.VOTES.values]
        self._penalties = places.gauges(table.WATCHED_PENALTY)
        self._rewards = places.counters(table.WATCHED_REWARD)
        self._keys = places.gauges(table.WATCHED_KEY)

    def sample(self, watched: Iterable[WatchedValidator]) -> None:
        """Write the values of now. A block that is undone takes its slot back, which no counter shows."""
        for each in watched:
            place = self._places[each.name]
            self._slots[MADE][place].rise_to(each.made)
            for cause, count in each.missed.items():
                self._slots[RESULTS[cause]][place].rise_to(count)
            if each.lateness is not None:
                late = each.lateness
                for gauges, value in zip(self._delays, (late.mean, late.most, late.last), strict=True):
                    gauges[place].set(value)
            for gauges, votes in zip(self._votes, (each.votes, each.counted_votes), strict=True):
                gauges[place].set(votes / MILLION)
            self._penalties[place].set(each.penalty_percent / HUNDRED_PERCENT)
            self._rewards[place].rise_to(each.reward / MILLION)
            self._keys[place].set(each.has_key)
