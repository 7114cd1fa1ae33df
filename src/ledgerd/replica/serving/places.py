"""Who is connected to the server of replicas, and who gives way to whom. Nothing here does I/O.

A connection that has shown nothing yet has a place among strangers, of which an address has few. With its certificate
shown, or its hello said where none is asked for, it leaves that for a place among the replicas.
"""

from __future__ import annotations

import asyncio
from collections import Counter

from ledgerd.basics.quotas import Recent

MOST_STRANGERS = 16
"""Connections that have shown nothing yet, of all addresses that have never shown a right certificate."""
MOST_STRANGERS_OF_ADDRESS = 4
"""Connections of one address that have not shown what they are."""
KNOWN_ADDRESSES = 64
"""Addresses that have shown one: they need no place of the others."""
MOST_REPLICAS = 32
"""Replicas that are served."""


class HeldPlace:
    """The place of one connection."""

    __slots__ = ("lost", "owner")

    def __init__(self, owner: str) -> None:
        self.owner = owner
        """An address, a certificate, or a user of this machine."""
        self.lost = asyncio.Event()
        """Set when the connection has to end, for another one."""


class StrangerPlaces:
    """Places of those who have shown nothing: a newcomer always gets one, and the oldest give way."""

    def __init__(self) -> None:
        self._places: dict[HeldPlace, None] = {}
        self._known = Recent(lambda _: True, KNOWN_ADDRESSES)

    def enter(self, address: str) -> HeldPlace:
        """A place for a newcomer; of whoever has most, the oldest one loses its own where there are too many."""
        counts = Counter(each.owner for each in self._places)
        strangers = Counter({owner: count for owner, count in counts.items() if owner not in self._known.kept})
        if counts[address] >= MOST_STRANGERS_OF_ADDRESS:
            self._evict_from(address)
        elif address not in self._known.kept and strangers.total() >= MOST_STRANGERS:
            most = max(strangers.values())
            self._evict_from(next(each.owner for each in self._places if strangers[each.owner] == most))
        place = HeldPlace(address)
        self._places[place] = None
        return place

    def _evict_from(self, owner: str) -> None:
        oldest = next(each for each in self._places if each.owner == owner)
        self.leave(oldest)
        oldest.lost.set()

    def leave(self, place: HeldPlace) -> None:
        """A connection has shown what it is, or has ended."""
        self._places.pop(place, None)

    def remember(self, address: str) -> None:
        """An address has shown a right certificate."""
        self._known.of(address)


class ReplicaPlaces:
    """Places of replicas: who has one keeps it, unless it has several more than a newcomer."""

    def __init__(self) -> None:
        self._places: dict[HeldPlace, None] = {}

    def enter(self, owner: str) -> HeldPlace | None:
        """A place for a replica of an owner; None if all are taken by owners that have no more than it."""
        if len(self._places) >= MOST_REPLICAS:
            counts = Counter(each.owner for each in self._places)
            (largest, most), *_ = counts.most_common(1)
            if most <= counts[owner] + 1:
                return None
            newest = next(each for each in reversed(self._places) if each.owner == largest)
            self.leave(newest)
            newest.lost.set()
        place = HeldPlace(owner)
        self._places[place] = None
        return place

    def leave(self, place: HeldPlace) -> None:
        self._places.pop(place, None)
