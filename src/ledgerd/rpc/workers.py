"""The API workers as the main process keeps them: started, watched, replaced when they end or hang, and stopped."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.link.frames import Event, frame
from ledgerd.rpc.link.link import STOP
from ledgerd.rpc.link.switchboard import Line, Switchboard
from ledgerd.rpc.worker import Listener, Order

log = logging.getLogger(__name__)

START_SECONDS = 30.0
SILENT_SECONDS = 20.0
"""A worker whose loop has not turned for so long hangs, and is killed."""

STEADY_SECONDS = 10.0
"""Who has lived for so long is replaced at once; who has not, a little later each time."""

LONGEST_PAUSE = 10.0


class Endpoint(NamedTuple):
    """Where clients are served, and in what."""

    host: str
    port: int
    speech: Speech


class Slot:
    """The place of one worker: its sockets stay while the processes in it come and go."""

    def __init__(self, number: int, sockets: list[tuple[socket.socket, Speech]]) -> None:
        self.number = number
        self.sockets = sockets
        self.process: asyncio.subprocess.Process | None = None
        self.line: Line | None = None
        self.serves = asyncio.Event()


class Workers:
    """All workers of a node."""

    def __init__(
        self,
        board: Switchboard,
        endpoints: Sequence[Endpoint],
        parts: str,
        settings: msgspec.Struct | None,
        *,
        count: int,
        limits: Limits | None = None,
        silent_seconds: float = SILENT_SECONDS,
    ) -> None:
        self._board = board
        self._endpoints = endpoints
        self._parts = parts
        self._settings = msgspec.Raw(msgspec.json.encode(settings))
        self._count = count
        self._limits = limits or Limits()
        self._silent_seconds = silent_seconds
        self._slots: list[Slot] = []
        self._keepers: list[asyncio.Task[None]] = []
        self._is_stopping = False

    @property
    def addresses(self) -> list[tuple[str, int]]:
        """Where each endpoint listens."""
        return [plug.getsockname() for plug, _ in self._slots[0].sockets]

    @property
    def processes(self) -> list[int]:
        """The process ids of the workers that live."""
        living = [slot.process for slot in self._slots if slot.process is not None]
        return [process.pid for process in living if process.returncode is None]

    async def start(self) -> None:
        """Listen, start every worker, and return when all of them serve."""
        spread = [(listen(each.host, each.port, self._count), each.speech) for each in self._endpoints]
        self._slots = [
            Slot(number, [(sockets[number], speech) for sockets, speech in spread]) for number in range(self._count)
        ]
        self._keepers = [asyncio.create_task(self._keep(slot)) for slot in self._slots]
        all_serve = asyncio.create_task(self._all_serve())
        await asyncio.wait([all_serve, *self._keepers], timeout=START_SECONDS, return_when=asyncio.FIRST_COMPLETED)
        if not all_serve.done():
            all_serve.cancel()
            await self.stop()
            raise OperatorError("the API workers do not start; the messages above say why")

    async def _all_serve(self) -> None:
        for slot in self._slots:
            await slot.serves.wait()

    async def stop(self) -> None:
        """Ask every worker to answer what it has begun and to end; kill those that do not."""
        self._is_stopping = True
        for slot in self._slots:
            if slot.line is not None:
                slot.line.send(frame(Event(STOP, b"")))
        with suppress(TimeoutError):
            async with asyncio.timeout(self._limits.stop_seconds + 1):
                for slot in self._slots:
                    if slot.process is not None:
                        await slot.process.wait()
        for keeper in self._keepers:
            keeper.cancel()
        await asyncio.gather(*self._keepers, return_exceptions=True)
        for slot in self._slots:
            for plug, _ in slot.sockets:
                plug.close()

    async def _keep(self, slot: Slot) -> None:
        """Have a worker in a slot for as long as the node runs."""
        loop, pause = asyncio.get_running_loop(), 0.0
        try:
            while not self._is_stopping:
                began = loop.time()
                process = await self._launch(slot)
                await self._watch(slot, process)
                if self._is_stopping or not slot.serves.is_set():
                    return
                log.warning("API worker %d ended (%s) and is replaced", slot.number, process.returncode)
                pause = 0.0 if loop.time() - began >= STEADY_SECONDS else min(LONGEST_PAUSE, pause * 2 + 0.1)
                await asyncio.sleep(pause)
        finally:
            await _kill(slot.process)

    async def _launch(self, slot: Slot) -> asyncio.subprocess.Process:
        ours, theirs = socket.socketpair()
        with theirs:
            listeners = tuple(Listener(plug.fileno(), speech) for plug, speech in slot.sockets)
            order = Order(self._parts, self._settings, self._limits, theirs.fileno(), listeners)
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "ledgerd.rpc.worker",
                stdin=asyncio.subprocess.PIPE,
                pass_fds=(theirs.fileno(), *(each.descriptor for each in listeners)),
            )
        slot.process = process
        slot.line = line = self._board.line(slot.serves.set)
        ours.setblocking(False)
        await asyncio.get_running_loop().create_connection(lambda: line, sock=ours)
        if process.stdin is not None:
            process.stdin.write(msgspec.json.encode(order))
            process.stdin.close()
        return process

    async def _watch(self, slot: Slot, process: asyncio.subprocess.Process) -> None:
        """Return when a worker has ended, by itself or because it hung."""
        loop = asyncio.get_running_loop()
        ended, signs, may_begin_until = asyncio.create_task(process.wait()), 0, loop.time() + START_SECONDS
        try:
            while not (await asyncio.wait([ended], timeout=self._silent_seconds))[0]:
                heard = 0 if slot.line is None else slot.line.signs
                if heard == signs and (signs or loop.time() >= may_begin_until):
                    log.error("API worker %d hangs and is killed", slot.number)
                    await _kill(process)
                    return
                signs = heard
        finally:
            ended.cancel()


async def _kill(process: asyncio.subprocess.Process | None) -> None:
    if process is not None and process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
