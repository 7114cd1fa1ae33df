"""The round trip of a connection, as the TCP of Linux measures it."""

from __future__ import annotations

import socket
import struct
import sys

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
