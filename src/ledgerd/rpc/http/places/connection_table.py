"""The connections of one worker, and which of them is closed for a new one at the limits. No I/O.

At the limit of an address, its oldest idle connection is closed. At the limit of the worker, one of the address with
the most is closed: an idle one, or, for an address with fewer, a busy one.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Iterable
from enum import IntEnum
from typing import Generic, NamedTuple, Protocol, TypeVar

CANCELLED_AT_ONCE = 256
"""Answers that are given up before the loop does something else; each then ends by itself. More than clients can begin
in that time, or else those that were given up would be ever more.
"""


class Activity(IntEnum):
    """The activity of a client, which decides on the connection to close."""

    IDLE = 0
    SENDING = 1
    """A request has begun and has not arrived whole."""
    WAITING = 2
    """An answer is being made, or read by the client."""


class LimitedConnection(Protocol):
    """A connection."""

    charged: str
    """The address that it counts for; empty if many clients share it."""

    @property
    def activity(self) -> Activity: ...


S = TypeVar("S", bound=LimitedConnection)


class PlaceCheck(NamedTuple, Generic[S]):
    """Whether a connection is within the limits, which one is closed for it, and the option of the reached limit."""

    is_within: bool
    evicted: S | None = None
    option: str = ""


class ConnectionTable(Generic[S]):
    """The connections of one worker, in the order of their arrival."""

    def __init__(self, most: int, most_each: int) -> None:
        self._most = most
        self._most_each = most_each
        self.all: dict[S, None] = {}
        self._by_address: dict[str, dict[S, None]] = {}

    def check(self, address: str) -> PlaceCheck[S]:
        own = self._by_address.get(address, {})
        if address and 0 < self._most_each <= len(own):
            evicted = _most_idle(own)
            return PlaceCheck(evicted is not None, evicted, "webserver-max-connections-per-address")
        if not 0 < self._most <= len(self.all):
            return PlaceCheck(is_within=True)
        largest = max(self._by_address.values(), key=len)
        evicted = _most_idle(largest) or _most_idle(self.all)
        oldest = next(iter(largest))
        if evicted is None and oldest.charged and len(largest) > len(own) + 1:
            evicted = oldest
        return PlaceCheck(evicted is not None, evicted, "webserver-max-connections")

    def add(self, connection: S) -> None:
        self.all[connection] = None
        self._by_address.setdefault(connection.charged, {})[connection] = None

    def remove(self, connection: S) -> bool:
        if connection not in self.all:
            return False
        del self.all[connection]
        own = self._by_address[connection.charged]
        del own[connection]
        if not own:
            del self._by_address[connection.charged]
        return True

    def oldest_of_largest(self) -> S:
        largest = max(self._by_address.values(), key=len)
        return next(iter(largest))


def _most_idle(connections: Iterable[S]) -> S | None:
    sending: S | None = None
    for each in connections:
        activity = each.activity
        if activity is Activity.IDLE:
            return each
        if activity is Activity.SENDING and sending is None:
            sending = each
    return sending


class GivenUpAnswers:
    """The answers that are yet to be cancelled."""

    def __init__(self) -> None:
        self._tasks: deque[asyncio.Task[None]] = deque()

    def add(self, answers: Iterable[asyncio.Task[None]]) -> None:
        """Cancel answers, those of many in several rounds of the loop."""
        is_first = not self._tasks
        self._tasks.extend(answers)
        if is_first:
            self._cancel_some()

    def _cancel_some(self) -> None:
        for _ in range(min(CANCELLED_AT_ONCE, len(self._tasks))):
            self._tasks.popleft().cancel()
        if self._tasks:
            asyncio.get_running_loop().call_soon(self._cancel_some)
