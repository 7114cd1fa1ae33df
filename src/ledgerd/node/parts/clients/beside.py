"""The processes that a node runs beside it, as parts: explorer, webhooks, replicas, plugins. Nothing waits for them."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import NoReturn

import msgspec

from ledgerd.basics.addresses import reached_at
from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.explorer.settings import ExplorerSettings
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.history.webhooks.position import HookPosition, position_file, read_position
from ledgerd.metrics.cells import Cells
from ledgerd.metrics.table import process
from ledgerd.metrics.table import webhooks as table
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.clients.webserver import WebserverPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.node.workers.beside.plugin_orders import plugin_processes
from ledgerd.node.workers.settings import ExplorerArguments, WebhookArguments, worker_settings
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.replica.order import ServerOrder
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.workers import endpoints_of
from ledgerd.supervision.processes import PIPE, RETURNS_MEMORY, Child, module_command
from ledgerd.supervision.work import Ended, Working

log = logging.getLogger(__name__)

EXPLORER = "ledgerd.node.workers.beside.explorer_worker"
WEBHOOK_SENDER = "ledgerd.node.workers.beside.webhook_worker"
REPLICA_SERVER = "ledgerd.node.workers.beside.replica_server"
STOP_SECONDS = 5.0

WEBHOOKS = "webhooks"
CHECK_SECONDS = 1.0
MANY_FAILURES = 8
"""Attempts in a row, about two minutes, after which a receiver that does not answer is a warning."""
NOTICE = b"\n"


class ProcessPart(NodePart):
    """A part whose work is done by one process, which is started again when it ends."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context)
        self._child: Child | None = None

    async def _run(self, child: Child, order: msgspec.Struct, working: Working) -> None:
        self._child = child
        child.write(msgspec.json.encode(order))
        working()
        await child.ended()

    async def stop(self) -> None:
        if self._child is not None:
            self._child.terminate()
            await self._child.stop(STOP_SECONDS)


def own_addresses(speeches: Sequence[Speech], webserver: WebserverPart) -> dict[Speech, Endpoint]:
    """The addresses at which a process on this machine reaches the APIs of this node."""
    places = zip(speeches, webserver.addresses, strict=True)
    return {speech: Endpoint(reached_at(host), port) for speech, (host, port) in places}


class ExplorerProcessPart(ProcessPart):
    """The explorer of this node. The node listens for it: so a taken port is an error at once, and visitors wait."""

    def __init__(self, context: PartContext, webserver: WebserverPart, meters: MetersPart) -> None:
        super().__init__(context)
        configuration = context.configuration
        self._options = configuration.explorer
        self._log_format = configuration.application.log_format
        self._speeches = [each.speech for each in endpoints_of(configuration.webserver)]
        self._webserver = webserver
        self._listener: socket.socket | None = None
        self._starts = 0
        meters.on_main.append(lambda made: partial(self._sample, made.cells))

    async def start(self) -> None:
        endpoint = self._options.endpoint
        if endpoint is None:
            return
        (self._listener,) = listen(endpoint.host, endpoint.port, 1, "explorer-endpoint")
        self.work.keep("the process that serves it", self._serve)

    async def _serve(self, working: Working) -> None:
        if self._listener is None:
            return
        order = ExplorerArguments(self.settings(self._listener), os.getpid(), self._log_format)
        child = Child.start(
            module_command(EXPLORER),
            stdin=PIPE,
            inherited=(self._listener.fileno(),),
            has_own_session=True,
            environment=RETURNS_MEMORY,
        )
        self._starts += 1
        await self._run(child, order, working)

    def settings(self, listener: socket.socket) -> ExplorerSettings:
        at = own_addresses(self._speeches, self._webserver)
        http, websocket = (at.get(each, at.get(Speech.BOTH)) for each in (Speech.HTTP, Speech.WEBSOCKET))
        return ExplorerSettings(
            node=f"http://{http}",
            live=f"ws://{websocket}" if websocket else "",
            listen=Endpoint(*listener.getsockname()[:2]),
            trusted_proxies=self._options.trusted_proxies,
            inherited=listener.fileno(),
        )

    def _sample(self, cells: Cells) -> None:
        cells.gauge(process.EXPLORER_RUNNING).set(self._child is not None and self._child.is_running)
        cells.counter(process.EXPLORER_STARTS).reach(self._starts)

    async def stop(self) -> None:
        await super().stop()
        if self._listener is not None:
            self._listener.close()


class WebhooksPart(ProcessPart):
    """The webhooks of this node. One that has ended makes `/ready` fail until the operator has seen to it."""

    def __init__(self, context: PartContext, meters: MetersPart) -> None:
        super().__init__(context)
        configuration = context.configuration
        data_dir = configuration.invocation.data_dir
        self._hooks = configuration.webhooks.hooks
        self._most_behind = min(configuration.webhooks.most_behind, configuration.history.count_blocks)
        self._folder = data_dir / WEBHOOKS
        self._order = WebhookArguments(
            folder=str(self._folder),
            logs=str(data_dir / STATE_FOLDER),
            history_folder=str(data_dir / HISTORY_FOLDER),
            history=configuration.history,
            webhooks=configuration.webhooks,
            node=os.getpid(),
            log_format=configuration.application.log_format,
        )
        meters.on_disk.append(lambda made: partial(self._sample, made.cells))

    async def start(self) -> None:
        self.work.keep("the process that sends them", self._send)
        self.work.keep("the check of receivers", self._check)

    async def _send(self, working: Working) -> None:
        child = Child.start(module_command(WEBHOOK_SENDER), stdin=PIPE, has_own_session=True)
        await self._run(child, self._order, working)

    async def _check(self, working: Working) -> NoReturn:
        while True:
            self.report_all()
            working()
            await asyncio.sleep(CHECK_SECONDS)

    def report_all(self) -> None:
        for hook, position in zip(self._hooks, self.positions(), strict=True):
            self._report(hook.url, position)

    def positions(self) -> list[HookPosition]:
        return [read_position(position_file(self._folder, hook)) for hook in self._hooks]

    def _sample(self, cells: Cells) -> None:
        for place, position in zip(table.WEBHOOK.values, self.positions(), strict=False):
            cells.gauge(table.WEBHOOK_BEHIND, place).set(position.behind)
            cells.gauge(table.WEBHOOK_MOST_BEHIND, place).set(self._most_behind)
            cells.gauge(table.WEBHOOK_FAILURES, place).set(position.failures)
            cells.gauge(table.WEBHOOK_ENDED, place).set(bool(position.ended))

    def _report(self, url: str, position: HookPosition) -> None:
        if position.ended:
            self.work.set_down(url, position.ended)
        else:
            self.work.set_up(url)
        is_late = position.failures >= MANY_FAILURES and not position.ended
        self.work.warn(url, f"the webhook {url} does not answer: {position.behind} blocks wait" if is_late else "")


class ReplicasPart(NodePart, Observer):
    """The process that serves replicas; the node does not need it."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context)
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
        child, ours = Child.on_socket(module_command(REPLICA_SERVER))
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
                await child.stop(STOP_SECONDS)

    async def stop(self) -> None:
        """The process ends when its input is closed, with the task."""
        self._loop = None
        await self.work.stop()


class PluginsPart(NodePart):
    """The plugins of this node, each in a process of its own."""

    def __init__(self, context: PartContext, webserver: WebserverPart, meters: MetersPart) -> None:
        super().__init__(context)
        configuration = context.configuration
        self._plugins = plugin_processes(
            worker_settings(configuration), configuration.webserver.limits, self.work, webserver.publish_retained
        )
        meters.on_main.append(lambda made: partial(self._plugins.sample, made.cells))

    async def start(self) -> None:
        self._plugins.start()
