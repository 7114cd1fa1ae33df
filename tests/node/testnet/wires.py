"""Proxies between the nodes of a local network, so that a test can cut connections: silently or with a reset.

A wire is a port that one node dials instead of the other's own. It neither drops nor adds bytes: a silent cut delays
everything until it ends, as packet loss does to TCP.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future
from contextlib import suppress
from typing import Self, TypeVar

from ledgerd.node.testnet.plan import HOST, Plan, Seeds

T = TypeVar("T")

CHUNK = 1 << 16


class Wire:
    """From the node that dials to the one that is dialled."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._flows = asyncio.Event()
        self._flows.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.server: asyncio.Server | None = None

    async def open(self) -> int:
        """The port to dial."""
        self.server = await asyncio.start_server(self._carry, HOST, 0)
        port: int = self.server.sockets[0].getsockname()[1]
        return port

    def cut(self, *, silently: bool) -> None:
        """Carry nothing more; without silence, connections break as well."""
        self._flows.clear()
        if not silently:
            for writer in self._writers:
                writer.transport.abort()

    def mend(self) -> None:
        """Carry on."""
        self._flows.set()

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            await self._flows.wait()
            far_reader, far_writer = await asyncio.open_connection(HOST, self._target)
        except OSError:
            writer.transport.abort()
            self._writers.discard(writer)
            return
        self._writers.add(far_writer)
        try:
            await asyncio.gather(self._pump(reader, far_writer), self._pump(far_reader, writer))
        finally:
            for each in (writer, far_writer):
                each.transport.abort()
                self._writers.discard(each)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._flows.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()


class Wires:
    """A wire for each ordered pair of nodes, on a loop of their own."""

    def __init__(self) -> None:
        self._wires: dict[tuple[int, int], Wire] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="wires", daemon=True)
        self._thread.start()

    def between(self, plan: Plan) -> Seeds:
        """The ports at which the nodes of a plan dial one another."""
        return self._do(self._open(plan)).result(10)

    async def _open(self, plan: Plan) -> Seeds:
        ports = {}
        for one in plan.members:
            for other in plan.members:
                if one is not other:
                    wire = self._wires[one.number, other.number] = Wire(other.p2p_port)
                    ports[one.number, other.number] = await wire.open()
        return ports

    def part(self, *groups: Iterable[int], silently: bool = True) -> None:
        """Cut every wire between two groups of nodes."""
        sides = [frozenset(group) for group in groups]
        self._on_each(
            lambda pair, wire: wire.cut(silently=silently) if not any(side.issuperset(pair) for side in sides) else None
        )

    def mend(self) -> None:
        """Mend every wire."""
        self._on_each(lambda _, wire: wire.mend())

    def _on_each(self, action: Callable[[tuple[int, int], Wire], None]) -> None:
        async def act() -> None:
            for pair, wire in self._wires.items():
                action(pair, wire)

        self._do(act()).result(10)

    def _do(self, coroutine: Coroutine[object, object, T]) -> Future[T]:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop)

    def close(self) -> None:
        """Let go of all ports."""
        self._do(self._close()).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _close(self) -> None:
        for wire in self._wires.values():
            if wire.server is not None:
                wire.server.close()
            wire.cut(silently=False)
            wire.mend()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
