"""Answers to clients while the node starts, which may take hours, on the sockets that the API workers take over.
Until then every request is put off, as by the reference while it rebuilds its state (spec 05, section 2.2).
"""

from __future__ import annotations

import asyncio
import socket
import time
from functools import partial

from ledgerd.node.parts.context import PartContext
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.envelope import RECOVERING
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.connection import HttpConnection
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.routes import json_page, routes_of
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.workers import endpoints_of
from ledgerd.supervision.part import Part


class EarlyAnswers(Part):
    """Listens in the main process until the API workers do."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context.work)
        options = context.configuration.webserver
        self._endpoints, self._count, self._limits = endpoints_of(options), options.thread_pool_size, options.limits
        self._network = context.network
        self._service: Service | None = None
        self._servers: list[asyncio.Server] = []
        self.sockets: list[list[socket.socket]] = []
        """For each endpoint one for each worker."""

    async def start(self) -> None:
        """Listen, which fails at once if a port is taken, and answer every request with status 503."""
        self.sockets = [listen(each.host, each.port, self._count) for each in self._endpoints]
        node = Node(self._network, nothing_to_read, Link())
        self._service = Service(Dispatcher((), node, time.time, limits=self._limits), self._limits)
        self._service.refusal = RECOVERING
        self._service.routes = {**routes_of((), node, time.time), b"/ready": _not_ready}
        loop = asyncio.get_running_loop()
        for endpoint, sockets in zip(self._endpoints, self.sockets, strict=True):
            for listener in dict.fromkeys(sockets):
                gate = self._service.gate(listener.getsockname()[0], endpoint.host)
                make = partial(HttpConnection, self._service, endpoint.speech, gate)
                self._servers.append(await loop.create_server(make, sock=listener.dup()))

    def hand_over(self) -> None:
        """Stop accepting: new connections wait for a worker. Requests in flight are answered meanwhile."""
        self.work.begin(self._close())

    async def _close(self) -> None:
        for server in self._servers:
            server.close()
        self._servers.clear()
        service, self._service = self._service, None
        if service is not None:
            await service.stop()

    async def stop(self) -> None:
        await self._close()
        for sockets in self.sockets:
            for listener in sockets:
                listener.close()
        self.sockets = []


def _not_ready() -> Page:
    return json_page(503, ready=False, reason="the node starts: its state is being opened, replayed or imported")
