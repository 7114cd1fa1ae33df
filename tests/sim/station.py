"""Whoever is on the simulator's network: what the world tells it, and what it asks of the world."""

from __future__ import annotations

import hashlib
from typing import Protocol

from ledgerd.p2p.shared.actions import Action
from ledgerd.protocol.types.endpoint import Endpoint


class Station(Protocol):
    """One machine with one address. Peers are numbers of its own, as in `NetworkState`."""

    name: str
    is_up: bool
    runs: int
    """How often it was started: what was meant for one run is not for the next."""

    def accepted(self, endpoint: Endpoint) -> int | None:
        """Somebody has dialled it."""

    def connected(self, peer: int, address: str) -> bool:
        """Somebody it dialled has answered."""

    def lost(self, peer: int) -> None:
        """A connection is over."""

    def received(self, peer: int, data: bytes) -> None:
        """Bytes have come."""

    def tick(self) -> None:
        """Five seconds are over."""

    def look(self) -> float | None:
        """A moment at which a block may be due; the seconds until the next, if there is to be one."""

    def work(self) -> bool:
        """Do what waits to be done; whether something did."""

    def actions(self) -> list[Action]:
        """What is to be carried out now."""

    def stop(self) -> None:
        """The process is killed."""


def address_of(name: str) -> str:
    """Every station has a public address of a neighbourhood of its own, which its name says."""
    number = hashlib.sha256(name.encode()).digest()
    return f"62.{number[0]}.{number[1]}.{number[2] | 1}"


PORT = 2001


def endpoint_of(name: str) -> Endpoint:
    """Where a station listens."""
    return Endpoint(address_of(name), PORT)
