"""Serving snapshots, without sockets: admission, answers, and deadlines (spec 06, section 14.2). Unlike the
reference's, a connection stays open for as long as the client reads at a fair rate.
"""

from __future__ import annotations

from collections import deque
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.addresses import charged_as
from ledgerd.basics.durations import HOUR
from ledgerd.basics.quotas import HeldAmounts
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.exchange.frames import (
    DataRequest,
    Denial,
    InfoReply,
    InfoRequest,
    NoSnapshot,
    SnapshotMessage,
)

MOST_CONNECTIONS = 5
"""Clients that are served at a time."""
MOST_OF_ONE_ADDRESS = 3
"""Connections of one address at a time."""
MOST_IN_AN_HOUR = 10
"""Connections of one address within an hour."""
MOST_ADDRESSES = 10_000
"""Addresses whose visits are remembered."""

FIRST_SECONDS = 10.0
SECONDS = 60.0
"""The time that every connection has, as with the reference."""
SLOWEST = 64 << 10
"""The rate that keeps a connection open beyond that, in bytes a second."""
LONGEST_SECONDS = 3600.0
"""The longest time of a connection."""

LARGEST_PART = 8 << 20
"""Bytes of the file in one answer."""


class Offer(NamedTuple):
    """The snapshot that is served."""

    path: Path
    number: int
    size: int
    checksum: bytes
    """The checksum of the file, not of the state in it."""


class FileRange(NamedTuple):
    """A range of the file, to be read and sent."""

    offset: int
    size: int
    is_last: bool


class Answer(NamedTuple):
    """The message to send, and whether the connection is closed afterwards."""

    message: SnapshotMessage | FileRange | None
    ends: bool = False


class AdmissionControl:
    """Admits clients within the limits."""

    def __init__(self, trusted: frozenset[str] | None = None, *, is_limited: bool = True) -> None:
        self._trusted = trusted
        self._is_limited = is_limited
        self._present = HeldAmounts(MOST_CONNECTIONS)
        self._visits: dict[str, deque[float]] = {}
        """The times of each address's connections, ordered by the latest."""

    def admit(self, address: str, now: float) -> Denial | None:
        """Admit a client, or return the denial. An admitted client has to `leave`."""
        if self._trusted is not None and address not in self._trusted:
            return Denial.UNTRUSTED
        charged = charged_as(address)
        if self._is_limited:
            refusal = self._limit(charged, now)
            if refusal is not None:
                return refusal
        self._present.change(charged, 1)
        return None

    def _limit(self, address: str, now: float) -> Denial | None:
        self._forget(now)
        if self._present.total >= MOST_CONNECTIONS:
            return Denial.FULL
        if self._present.of(address) >= MOST_OF_ONE_ADDRESS:
            return Denial.TOO_MANY_SESSIONS
        visits = self._visits.get(address) or deque(maxlen=MOST_IN_AN_HOUR)
        if len(visits) == MOST_IN_AN_HOUR and visits[0] > now - HOUR:
            return Denial.TOO_OFTEN
        visits.append(now)
        self._visits.pop(address, None)
        self._visits[address] = visits
        return None

    def _forget(self, now: float) -> None:
        while self._visits:
            address, visits = next(iter(self._visits.items()))
            if visits[-1] > now - HOUR and len(self._visits) < MOST_ADDRESSES:
                return
            del self._visits[address]

    def leave(self, address: str) -> None:
        self._present.change(charged_as(address), -1)


class ServerSession:
    """One connection: a request for the snapshot, then requests for parts of it."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._offer: Offer | None = None
        self._sent = 0
        self.has_begun = False

    @property
    def deadline(self) -> float:
        if not self.has_begun:
            return self._started + FIRST_SECONDS
        return self._started + min(LONGEST_SECONDS, SECONDS + self._sent / SLOWEST)

    def sent(self, size: int) -> None:
        self._sent += size

    def begin(self, message: SnapshotMessage, offer: Offer | None) -> Answer:
        self.has_begun = True
        if not isinstance(message, InfoRequest):
            return Answer(None, ends=True)
        if offer is None or offer.size == 0:
            return Answer(NoSnapshot(), ends=True)
        self._offer = offer
        return Answer(InfoReply(offer.number, NO_BLOCK, offer.checksum, offer.size))

    def answer(self, message: SnapshotMessage) -> Answer:
        """Answer a later request. Its block number is ignored: the file is the one that was announced."""
        offer = self._offer
        if offer is None or not isinstance(message, DataRequest):
            return Answer(None, ends=True)
        if message.offset > offer.size or message.size == 0:
            return Answer(None, ends=True)
        size = min(message.size, LARGEST_PART, offer.size - message.offset)
        is_last = message.offset + size >= offer.size
        return Answer(FileRange(message.offset, size, is_last), ends=is_last)
