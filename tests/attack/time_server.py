"""A server of the time, right or wrong by some seconds, as time servers speak (spec 06, section 9)."""

from __future__ import annotations

import asyncio
import struct
from typing import cast

SHORTEST = 48
FRACTION = 32


class TimeServer(asyncio.DatagramProtocol):
    """Tells the asker its own time, and so much more."""

    def __init__(self, ahead: int = 0, answers: int = 1) -> None:
        self._ahead = ahead
        self._answers = answers

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep it, for answers."""
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        """Answer."""
        if len(data) < SHORTEST:
            return
        (asked,) = struct.unpack_from(">Q", data, SHORTEST - 8)
        there = (asked + (self._ahead << FRACTION)) % (1 << 64)
        for _ in range(self._answers):
            self._transport.sendto(bytes(24) + struct.pack(">QQQ", asked, there, there), addr)
