"""What is asked of the snapshot server, and what the node is told by a server of the time."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from ledgerd.snapshot.exchange.frames import DataRequest, InfoRequest, packed
from tests.attack.aim import HOST, Line, close
from tests.attack.kind import FAILURES, PATIENCE, Kind, Side
from tests.attack.time_server import TimeServer

PART = 8 << 20
AHEAD = 5 * 3600
"""Seconds."""


class Snapshots(Kind):
    """Downloads of the largest parts again and again, sockets that are silent, and connections that come and go."""

    name, side, pause = "snapshots", Side.OTHER, 0.05

    async def play(self) -> None:
        """A third each."""
        lines: list[Line] = []
        try:
            if self.number % 3 == 0:
                lines.append(await self.dial(self.aim.snapshots))
                reader, writer = lines[0]
                await self.write(writer, packed(InfoRequest()) + packed(DataRequest(0, 0, PART)) * 1_000)
                await self.swallow(reader, PATIENCE)
            elif self.number % 3 == 1:
                with suppress(*FAILURES):
                    for _ in range(8):
                        line = await self.dial(self.aim.snapshots)
                        lines.append(line)
                await asyncio.gather(*(self.swallow(reader, 5) for reader, _ in lines))
            else:
                lines.append(await self.dial(self.aim.snapshots))
                await self.write(lines[0][1], packed(InfoRequest()))
                await self.swallow(lines[0][0], 0.1)
        finally:
            for _, writer in lines:
                close(writer)


class LyingTime(Kind):
    """A time server that is hours away, answers twice, and in the name of nobody's question."""

    name, side = "ntp", Side.OTHER

    async def play(self) -> None:
        """Serve; only one of the attackers has the port."""
        loop = asyncio.get_running_loop()
        transport, _ = await loop.create_datagram_endpoint(
            lambda: TimeServer(AHEAD, answers=3), local_addr=(HOST, self.aim.time_server)
        )
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            transport.close()
