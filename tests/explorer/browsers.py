"""A server of an explorer on a free port, and a browser that says exactly what it is told to."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from ledgerd.explorer.node.watch import ChainWatch
from ledgerd.explorer.pages.answering import PageMaker
from ledgerd.explorer.serving.connection import BrowserConnection
from ledgerd.explorer.serving.visitors import Visitors
from tests.explorer.recorded_node import RecordedExplorer
from tests.rpc.loopback import Client


class Site:
    """Visitors that come to a port."""

    def __init__(self, visitors: Visitors, port: int) -> None:
        self.visitors = visitors
        self.port = port

    async def connect(self) -> Client:
        return Client(*await asyncio.open_connection("127.0.0.1", self.port))

    async def get(
        self, path: str, headers: str = "", method: str = "GET", host: str = "127.0.0.1"
    ) -> tuple[str, dict[str, str], bytes]:
        """Ask for a page on a connection of its own."""
        client = await self.connect()
        await client.say(f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n".encode())
        status, named = await client.head()
        body = b"" if method == "HEAD" else await client.reader.readexactly(int(named["Content-Length"]))
        client.writer.close()
        return status.split()[1], named, body


@asynccontextmanager
async def site_of(answering: PageMaker, watch: ChainWatch) -> AsyncIterator[Site]:
    """A site, within a scene."""
    visitors = Visitors(answering, watch, lambda: 0.0)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: BrowserConnection(visitors), "127.0.0.1", 0)
    try:
        yield Site(visitors, server.sockets[0].getsockname()[1])
    finally:
        server.close()
        await visitors.stop()
        await asyncio.sleep(0)  # for the connections to be lost


class SiteInThread:
    """A site for a browser that is a process of its own."""

    def __init__(self, explorer: RecordedExplorer) -> None:
        self._explorer = explorer
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping = asyncio.Event()
        self.url = ""

    def run(self, began: threading.Event) -> None:
        asyncio.run(self._serve(began))

    async def _serve(self, began: threading.Event) -> None:
        self._loop = asyncio.get_running_loop()
        explorer = self._explorer
        visitors = Visitors(explorer.answering, explorer.watch, lambda: explorer.clock)
        server = await self._loop.create_server(lambda: BrowserConnection(visitors), "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        began.set()
        await self._stopping.wait()
        server.close()
        await visitors.stop()

    def tell(self) -> None:
        """Tell every open page of the chain as it is now."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._explorer.watch.notify)

    def stop(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)


@contextmanager
def site_in_thread(explorer: RecordedExplorer) -> Iterator[SiteInThread]:
    """A site that serves within the `with` block."""
    site, began = SiteInThread(explorer), threading.Event()
    thread = threading.Thread(target=site.run, args=(began,))
    thread.start()
    began.wait()
    try:
        yield site
    finally:
        site.stop()
        thread.join()
