"""Following a node as a part of an API node: the process that keeps the copy of its state, which the workers read."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ledgerd.supervision.part import Part
from ledgerd.supervision.processes import Child, module_command
from ledgerd.supervision.work import Ended, Work

if TYPE_CHECKING:
    from ledgerd.replica.order import FollowOrder
    from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

COMMAND = module_command("ledgerd.node.workers.beside.replica_follower")
ENDING_SECONDS = 15.0
"""It brings what it has to the disk first."""


class ReplicaPart(Part):
    """The process that follows; while it is down, the workers answer from its last commit."""

    def __init__(self, order: FollowOrder) -> None:
        super().__init__(Work("replica"))
        self._order = order

    async def start(self) -> None:
        log.info(
            "following the node at %(place)s into %(folder)s",
            {"place": self._order.place, "folder": str(Path(self._order.data_dir))},
        )
        self.work.keep("the process that follows the node", self._live)

    async def _live(self, working: Working) -> None:
        child, ours = Child.on_socket(COMMAND)
        with ours:
            try:
                loop = asyncio.get_running_loop()
                await loop.sock_sendall(ours, msgspec.json.encode(self._order) + b"\n")
                if await loop.sock_recv(ours, 1):
                    working()
                raise Ended(f"its process has ended with code {await child.ended()}")
            finally:
                ours.close()
                await child.stop(ENDING_SECONDS)
