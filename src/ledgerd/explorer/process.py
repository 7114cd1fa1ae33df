"""The process of an explorer: it follows its node and serves browsers, from the start to a clean stop."""

from __future__ import annotations

import asyncio
import logging
import socket
import time

from ledgerd.client.pool import NodePool
from ledgerd.explorer.node.following import HeadFollower
from ledgerd.explorer.node.watch import ChainWatch
from ledgerd.explorer.pages.answering import PageMaker
from ledgerd.explorer.pages.drawing import environment
from ledgerd.explorer.serving.connection import BrowserConnection
from ledgerd.explorer.serving.visitors import Visitors
from ledgerd.explorer.settings import ExplorerSettings
from ledgerd.explorer.words.language import CODES
from ledgerd.rpc.http.listeners import accept_on, listen
from ledgerd.supervision.part import Part, Wait, run_part, stop_signals
from ledgerd.supervision.this_process import lasting_modules, on_a_loop, search_rarely
from ledgerd.supervision.work import Ending, Work

log = logging.getLogger(__name__)

STOPPED = 0
NEWS = "news of blocks"


def run_explorer(settings: ExplorerSettings, until: Wait | None = None) -> int:
    return on_a_loop(lambda: live(settings, until))


async def live(settings: ExplorerSettings, until: Wait | None = None) -> int:
    await run_part(ExplorerPart(settings), stop_signals().wait, *([] if until is None else [until]))
    return STOPPED


class ExplorerPart(Part):
    """Everything of an explorer that runs."""

    def __init__(self, settings: ExplorerSettings) -> None:
        super().__init__(Work("explorer", Ending.ENDS_PROGRAM, restarted=(NEWS,)))
        self._settings = settings
        self._watch = ChainWatch()
        self._node = NodePool(settings.node)
        self._follower = HeadFollower(self._node, self._watch, settings.live)
        answering = PageMaker(self._node, self._watch, time.time)
        self.visitors = Visitors(answering, self._watch, time.time, settings.trusted_proxies)
        self._servers: list[asyncio.Server] = []
        self.address: tuple[str, int] = ("", 0)

    async def start(self) -> None:
        with lasting_modules():
            for code in CODES:
                for name in environment(code).list_templates():
                    environment(code).get_template(name)
        search_rarely()
        listener = _listening_socket(self._settings)
        self.address = listener.getsockname()[:2]
        self._servers = await accept_on(listener, lambda: BrowserConnection(self.visitors))
        self.work.keep("the node", self._follower.run)
        if self._settings.live:
            self.work.keep(NEWS, self._follower.listen)
        place = f"http://{self.address[0]}:{self.address[1]}/"
        log.info("the explorer of %(node)s listens on %(place)s", {"node": self._settings.node, "place": place})

    async def stop(self) -> None:
        for server in self._servers:
            server.close()
        await self.work.stop()
        await self.visitors.stop()
        self._node.close()


def _listening_socket(settings: ExplorerSettings) -> socket.socket:
    if settings.inherited < 0:
        (listener,) = listen(settings.listen.host, settings.listen.port, 1, "--listen")
    else:
        listener = socket.socket(fileno=settings.inherited)
        listener.setblocking(False)
    return listener
