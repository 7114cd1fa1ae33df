"""Replicas as a part of the node: the process that sends them the changes of the state, and who wakes it.

The chain's thread writes each commit's changes to the log of changes. Everything else is done by that process.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from ledgerd.chain.interface.observer import Observer
from ledgerd.replica.order import ServerOrder
from ledgerd.supervision.part import Part
from ledgerd.supervision.processes import Child, module_command
from ledgerd.supervision.work import Ended

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.node.parts.chain import ChainPart
    from ledgerd.node.parts.context import PartContext
    from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

COMMAND = module_command("ledgerd.node.workers.beside.replica_server")
ENDING_SECONDS = 5.0
NOTICE = b"\n"


class ReplicasPart(Part, Observer):
    """The process that serves replicas; the node does not need it."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context.work)
        configuration = context.configuration
        self._chain = chain
        self._settings = configuration.state_stream
        self._order = ServerOrder.of(
            configuration.chain.shared_file_dir,
            chain.folder,
            configuration.chain.block_archive_dir,
            configuration.state_stream,
            configuration.application.log_format,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._socket: socket.socket | None = None
        self._child: Child | None = None
        self._is_noticed = False

    async def start(self) -> None:
        """Start the process; from now on it hears of each commit."""
        self._loop = asyncio.get_running_loop()
        await self._chain.attach(self._follow)
        self.work.keep("the process that serves replicas", self._live)
        log.info("changes of the state are sent at %(place)s", {"place": str(self._settings)})

    def _follow(self, chain: Chain) -> None:
        """A chain that was opened again has other files: so has the process, once it is started again."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._end_child)
        chain.observe(self)

    def _end_child(self) -> None:
        if self._child is not None:
            self._child.terminate()

    def committed(self, _seconds: float) -> None:
        loop = self._loop
        if loop is not None and not self._is_noticed and not loop.is_closed():
            self._is_noticed = True
            loop.call_soon_threadsafe(self._notice)

    def _notice(self) -> None:
        self._is_noticed = False
        if self._socket is not None:
            with suppress(OSError):  # it has enough to wake up for, or has ended
                self._socket.send(NOTICE)

    async def _live(self, working: Working) -> None:
        child, ours = Child.on_socket(COMMAND)
        self._child = child
        with ours:
            try:
                ours.sendall(msgspec.json.encode(self._order) + NOTICE)
                self._socket = ours
                self._notice()
                working()
                raise Ended(f"its process has ended with code {await child.ended()}")
            finally:
                self._socket = None
                ours.close()
                await child.stop(ENDING_SECONDS)

    async def stop(self) -> None:
        """The process ends when its input is closed, with the task."""
        self._loop = None
        await self.work.stop()
