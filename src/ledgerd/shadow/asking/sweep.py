"""The slow walk over every account and object: each step gives a question and is told the answer of both.

A cursor says where it is, so that it goes on there after a restart.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from ledgerd.codec.json.text import Json
from ledgerd.compare.reads import Read
from ledgerd.shadow.asking.questions import (
    COMMITTEE_STATES,
    INVITE_STATES,
    LONGEST_NAME,
    NAMES_A_READ,
    account_reads,
    market_reads,
)

GAP = 100
"""Numbers in a row without an object, after which no more are expected."""
PAGE = 100
MOST_PAGES = 100_000
"""The most pages of one list in one walk, so that a node that answers without end does not hold it for ever."""

STAGES = ("accounts", "validators", "committee", "invites", "subscriptions", "markets")

SweepWalk = Generator[Read, Json, None]


class Sweep:
    """Walks over everything that can be listed, one walk after the other."""

    def __init__(self, cursor: str, done: int) -> None:
        self.cursor = cursor
        self.done = done
        """How often the walk has come to its end."""

    def reads(self) -> SweepWalk:
        while True:
            stage, _, after = self.cursor.partition(":")
            begins = STAGES.index(stage) if stage in STAGES else 0
            for name in STAGES[begins:]:
                yield from self._stage(name, after)
                after = ""
            self.done += 1
            self.cursor = ""

    def _stage(self, name: str, after: str) -> SweepWalk:
        self.cursor = f"{name}:{after}"
        match name:
            case "accounts":
                yield from self._accounts(after)
            case "validators":
                yield from self._validators(after)
            case "committee":
                yield from _of_committee()
            case "invites":
                yield from _of_invites()
            case "subscriptions":
                yield from self._subscriptions()
            case _:
                yield from self._markets(after)

    def _accounts(self, after: str) -> SweepWalk:
        for _ in range(MOST_PAGES):
            page = yield Read("database_api", "lookup_accounts", [after, NAMES_A_READ])
            names = _names_above(page, after)
            if not names:
                return
            yield Read("database_api", "get_accounts", [names])
            for name in names:
                yield from _each(account_reads(name))
            after = names[-1]
            self.cursor = f"accounts:{after}"

    def _validators(self, after: str) -> SweepWalk:
        for _ in range(MOST_PAGES):
            page = yield Read("validator_api", "lookup_validator_accounts", [after, PAGE])
            names = _names_above(page, after)
            if not names:
                return
            for name in names:
                yield Read("validator_api", "get_validator_by_account", [name])
            after = names[-1]
            self.cursor = f"validators:{after}"

    def _subscriptions(self) -> SweepWalk:
        for page in range(MOST_PAGES):
            found = yield Read("paid_subscription_api", "get_paid_subscriptions", [page * PAGE, PAGE])
            if not isinstance(found, list) or not found:
                return

    def _markets(self, after: str) -> SweepWalk:
        first, empty = int(after) if after.isascii() and after.isdigit() and len(after) < 10 else 0, 0
        for number in range(first, first + MOST_PAGES):
            found = yield Read("prediction_market_api", "get_market", [number])
            empty = 0 if found is not None else empty + 1
            if found is not None:
                yield from _each(market_reads(number))
            self.cursor = f"markets:{number + 1}"
            if empty >= GAP:
                return


def _each(reads: Iterator[Read]) -> SweepWalk:
    for read in reads:  # noqa: UP028 - an iterator is not told answers
        yield read


def _of_committee() -> SweepWalk:
    for status in COMMITTEE_STATES:
        found = yield Read("committee_api", "get_committee_requests_list", [status])
        for number in _numbers(found):
            yield Read("committee_api", "get_committee_request", [number, -1])
            yield Read("committee_api", "get_committee_request_votes", [number])


def _of_invites() -> SweepWalk:
    for status in INVITE_STATES:
        found = yield Read("invite_api", "get_invites_list", [status])
        for number in _numbers(found):
            yield Read("invite_api", "get_invite_by_id", [number])


def _numbers(found: Json) -> list[int]:
    return [each for each in found if type(each) is int and each >= 0] if isinstance(found, list) else []


def _names_above(page: Json, after: str) -> list[str]:
    """The names of a page above the last one, in order; those of a node that goes back would never end."""
    found: list[str] = []
    for name in page if isinstance(page, list) else []:
        if isinstance(name, str) and len(name) <= LONGEST_NAME and name > (found[-1] if found else after):
            found.append(name)
    return found[:NAMES_A_READ]
