"""The process of an application: it is fed and answers, from the start to a clean stop."""

from __future__ import annotations

import asyncio
import logging
from typing import NamedTuple

from ledgerd.app.declaring.application import Application
from ledgerd.app.feeding.following import ApplicationFeed
from ledgerd.app.feeding.progress import FeedProgress
from ledgerd.app.feeding.settings import FeedSettings
from ledgerd.app.feeding.source import require_addresses
from ledgerd.app.serving.server import ApplicationConnection, ApplicationServer
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.rpc.http.listeners import accept_on, listen
from ledgerd.supervision.part import Part, run_part, stop_signals
from ledgerd.supervision.this_process import on_a_loop
from ledgerd.supervision.work import Ending, Work

log = logging.getLogger(__name__)


class ServedEndpoint(NamedTuple):
    """Where methods are served. On a loopback address, only web pages of these origins may ask."""

    endpoint: Endpoint
    origins: tuple[str, ...] = ()


def run_application(application: Application, settings: FeedSettings, http: ServedEndpoint | None) -> int:
    """Run an application until a signal, or up to the last block that is asked for."""
    return on_a_loop(lambda: live(application, settings, http))


async def live(application: Application, settings: FeedSettings, http: ServedEndpoint | None) -> int:
    part = ApplicationPart(application, settings, http)
    await run_part(part, stop_signals().wait, part.done.wait)
    return 0


class ApplicationPart(Part):
    """The running application: its feed and its server."""

    def __init__(self, application: Application, settings: FeedSettings, http: ServedEndpoint | None) -> None:
        super().__init__(Work("application", Ending.ENDS_PROGRAM))
        self._application, self._settings, self._http = application, settings, http
        self.progress = FeedProgress()
        self.done = asyncio.Event()
        self._feed: ApplicationFeed | None = None
        self._server: ApplicationServer | None = None
        self._listeners: list[asyncio.Server] = []
        self.address: tuple[str, int] = ("", 0)

    async def start(self) -> None:
        require_addresses(self._settings.nodes)
        self._feed = feed = ApplicationFeed(self._application, self._settings, self.work, self.progress)
        await feed.open()
        if self._http is not None:
            self._server = server = ApplicationServer(
                self._application, self._settings.database, self.progress, self.work, self._http.origins
            )
            host, port = self._http.endpoint
            (listener,) = listen(host, port, 1, "--http")
            self.address = listener.getsockname()[:2]
            gate = server.gate(self.address[0], host)
            self._listeners = await accept_on(listener, lambda: ApplicationConnection(server, gate))
            place = f"http://{self.address[0]}:{self.address[1]}/"
            log.info("the application %(name)s listens on %(place)s", {"name": self._application.name, "place": place})
        self.work.begin(self._follow(feed), "the feed")
        self.work.begin(feed.watch(), "the watch over handlers")

    async def _follow(self, feed: ApplicationFeed) -> None:
        await feed.run()
        self.done.set()

    async def stop(self) -> None:
        for each in self._listeners:
            each.close()
        await self.work.stop()
        if self._feed is not None:
            await self._feed.stop()
        if self._server is not None:
            await self._server.stop()
