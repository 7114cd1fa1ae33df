"""Who has a place among the connections of one worker, and who gives way to whom when there are too many. No I/O.

An address that has as many as it may makes room by the oldest of its own that does nothing. When the worker is full,
the address with the most gives way: first what does nothing, then, to an address with fewer, what is busy.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Generic, NamedTuple, Protocol, TypeVar


class Doing(IntEnum):
    """What a client does, as far as it matters when somebody has to leave."""

    NOTHING = 0
    SENDING = 1
    """A request has begun and is not whole."""
    WAITING = 2
    """An answer is being made, or taken."""


class Sitting(Protocol):
    """A connection."""

    charged: str
    """The address that its place counts for; empty where many clients share it."""

    @property
    def doing(self) -> Doing: ...


S = TypeVar("S", bound=Sitting)


class Room(NamedTuple, Generic[S]):
    """Whether there is a place, who has to leave for it, and the option that would be reached without that."""

    is_there: bool
    leaving: S | None = None
    option: str = ""


class Places(Generic[S]):
    """The connections of one worker, in the order in which they came."""

    def __init__(self, most: int, most_each: int) -> None:
        self._most = most
        self._most_each = most_each
        self.all: dict[S, None] = {}
        self._by_address: dict[str, dict[S, None]] = {}

    def room_for(self, address: str) -> Room[S]:
        """Whether one more may come from an address."""
        own = self._by_address.get(address, {})
        if address and 0 < self._most_each <= len(own):
            leaving = _idlest(own)
            return Room(leaving is not None, leaving, "webserver-max-connections-per-address")
        if not 0 < self._most <= len(self.all):
            return Room(is_there=True)
        largest = max(self._by_address.values(), key=len)
        leaving = _idlest(largest) or _idlest(self.all)
        oldest = next(iter(largest))
        if leaving is None and oldest.charged and len(largest) > len(own) + 1:
            leaving = oldest
        return Room(leaving is not None, leaving, "webserver-max-connections")

    def enter(self, connection: S) -> None:
        """Give a place."""
        self.all[connection] = None
        self._by_address.setdefault(connection.charged, {})[connection] = None

    def leave(self, connection: S) -> bool:
        """Take a place back; whether there was one."""
        if connection not in self.all:
            return False
        del self.all[connection]
        own = self._by_address[connection.charged]
        del own[connection]
        if not own:
            del self._by_address[connection.charged]
        return True

    def crowdest(self) -> S:
        """The oldest connection of the address with the most."""
        largest = max(self._by_address.values(), key=len)
        return next(iter(largest))


def _idlest(connections: Iterable[S]) -> S | None:
    """The oldest that does nothing, or else the oldest that has not sent its request whole."""
    sending: S | None = None
    for each in connections:
        doing = each.doing
        if doing is Doing.NOTHING:
            return each
        if doing is Doing.SENDING and sending is None:
            sending = each
    return sending
