"""What is counted of messages and blocks of peers, on the thread of the chain."""

from __future__ import annotations

import socket
import struct
import sys

from ledgerd.metrics.cells import Cells, CounterCell
from ledgerd.metrics.table import peers

MICRO = 1_000_000
UP_TO_ROUND_TRIP = 72
"""Bytes of the kernel's record up to the smoothed round trip, a number of microseconds at byte 68."""
_ROUND_TRIP = struct.Struct("=68xI")


def round_trip(connection: socket.socket) -> float | None:
    if sys.platform != "linux":
        return None
    try:
        record = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, UP_TO_ROUND_TRIP)
        (measured,) = _ROUND_TRIP.unpack(record)
    except (OSError, struct.error):
        return None
    return measured / MICRO if measured else None


HEADER = 8


class PeerMeter:
    """Counts for the network state."""

    def __init__(self, cells: Cells) -> None:
        self._received = _by_type(cells, "received")
        self._sent = _by_type(cells, "sent")
        self._strikes = cells.counter(peers.STRIKES)
        self._bans = {reason: cells.counter(peers.BANS, reason) for reason in peers.REASON.values}
        self._blocks = {outcome: cells.counter(peers.PEER_BLOCKS, outcome) for outcome in peers.OUTCOME.values}
        self._delay = cells.histogram(peers.BLOCK_DELAY)

    def received(self, number: int, payload: int) -> None:
        _count(self._received, number, HEADER + payload)

    def sent(self, number: int, size: int) -> None:
        _count(self._sent, number, size)

    def struck(self) -> None:
        self._strikes.add()

    def banned(self, reason: str) -> None:
        self._bans[reason].add()

    def block(self, outcome: str) -> None:
        self._blocks[outcome].add()

    def pushed_late_by(self, seconds: float) -> None:
        """A pushed block became the head, so long after its slot began."""
        self._delay.observe(max(0.0, seconds))


MessageCounters = dict[int, tuple[CounterCell, CounterCell]]

_OTHER = 0


def _by_type(cells: Cells, direction: str) -> MessageCounters:
    types = {**peers.MESSAGE_TYPES, _OTHER: peers.OTHER_TYPE}
    return {
        number: (
            cells.counter(peers.MESSAGES, direction, name),
            cells.counter(peers.MESSAGE_BYTES, direction, name),
        )
        for number, name in types.items()
    }


def _count(counters: MessageCounters, number: int, size: int) -> None:
    messages, sizes = counters.get(number) or counters[_OTHER]
    messages.add()
    sizes.add(size)
