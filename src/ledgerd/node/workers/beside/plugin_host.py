"""The process of a plugin: it serves its API, or observes. It ends with its node, which starts it again or parks it."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import cast

import msgspec
from msgspec.structs import replace

from ledgerd.basics.failures import reason_of
from ledgerd.basics.framing.frames import read_frame
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.errors import HistoryDamaged
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.config.options.application import OPERATION_HISTORY, LogFormat
from ledgerd.node.workers.settings import WorkerSettings
from ledgerd.plugins.declarations import ApiPlugin, ObserverPlugin, PluginRefused, fault_of_observer
from ledgerd.plugins.feeding import FeedBroken, ObserverFailed, ObserverFeed
from ledgerd.plugins.installed import load, text_of_failure
from ledgerd.plugins.messages import MOST_ORDER, OBSERVER_TIMEOUT, PluginOrder, PluginReport, packed
from ledgerd.rpc.call.limits import Limits
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.this_process import bound_memory, give_way, on_a_loop
from ledgerd.supervision.threads import begin_thread

NICENESS = 10
MOST_MEMORY = 2 << 30
"""Bytes of its own that the process of a plugin may have."""
REPORT_SECONDS = 1.0
POLL_SECONDS = 0.25
GRACE_SECONDS = 2.0
"""The time that a plugin has to finish what it is doing when its node ends."""
POSITION_FILE = "position.json"

log = logging.getLogger(__name__)


class NodeChannel:
    """The socket to the node, which a plugin finds neither as its input nor as its output."""

    def __init__(self) -> None:
        self._socket = socket.socket(fileno=os.dup(sys.stdin.fileno()))
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, sys.stdin.fileno())
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        os.close(nothing)
        self._socket.setblocking(True)
        self.is_over = threading.Event()

    def order(self) -> PluginOrder:
        frame = read_frame(self._socket.recv, MOST_ORDER)
        if frame is None:
            sys.exit(1)
        return msgspec.json.decode(frame, type=PluginOrder)

    def report(self, report: PluginReport) -> None:
        if not self.is_over.is_set():
            try:
                self._socket.sendall(packed(report))
            except OSError:
                self.is_over.set()

    def watch(self) -> None:
        """End with the node, whatever the plugin is doing by then."""

        def wait() -> None:
            try:
                while self._socket.recv(1):
                    pass
            finally:
                self.is_over.set()
                time.sleep(GRACE_SECONDS)
                os._exit(0)

        begin_thread("the node", wait, lambda _: None)


def main() -> None:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_IGN)  # they reach the whole group: the node handles them
    channel = NodeChannel()
    order = channel.order()
    channel.watch()
    set_up_child_logging(cast("LogFormat", order.log_format))
    give_way(NICENESS)
    bound_memory(MOST_MEMORY)
    try:
        plugin = load(order.name)
        if order.is_checked:
            channel.report(PluginReport(works=True, api_version=plugin.api_version))
        elif isinstance(plugin, ApiPlugin):
            _serve(order, plugin, channel)
        else:
            _observe(order, plugin, channel)
    except (PluginRefused, FeedBroken) as refusal:
        channel.report(PluginReport(refused=str(refusal)))
    except ObserverFailed as failure:
        channel.report(PluginReport(problem=str(failure)))
    except OSError as problem:
        channel.report(PluginReport(problem=reason_of(problem)))


def _settings(order: PluginOrder) -> WorkerSettings:
    return replace(msgspec.json.decode(order.settings, type=WorkerSettings), cached_answers=0, installed=())


def _folder(order: PluginOrder) -> Path:
    folder = Path(order.folder)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


# -- methods


def _serve(order: PluginOrder, plugin: ApiPlugin, channel: NodeChannel) -> None:
    on_a_loop(partial(_serving, order, plugin, channel))


async def _serving(order: PluginOrder, plugin: ApiPlugin, channel: NodeChannel) -> None:
    from ledgerd.node.workers.api_node.source import DirectorySource  # noqa: PLC0415 - an observer needs none of it
    from ledgerd.node.workers.api_worker import service  # noqa: PLC0415 - as above
    from ledgerd.node.workers.known_methods import EVERY_API  # noqa: PLC0415 - as above
    from ledgerd.plugins.serving import MethodCalls, MethodServer  # noqa: PLC0415 - as above
    from ledgerd.protocol.networks.chain_file import parameters_of  # noqa: PLC0415 - as above
    from ledgerd.rpc.link.link import Link  # noqa: PLC0415 - as above

    settings, limits = _settings(order), msgspec.json.decode(order.limits, type=Limits)
    if any(order.name in {api.name, api.former_name} for api in EVERY_API):
        raise PluginRefused("its name is that of an API of the node's own")
    link = Link()
    made, source = service(link, limits, settings, parameters_of(settings.chain))
    source.begin(made)
    calls = MethodCalls(order.name, plugin, made.dispatcher, limits, _folder(order))
    if isinstance(source, DirectorySource):
        calls.refresh = source.main.refresh
    server = MethodServer(calls.answer)

    async def report_port(port: int) -> None:
        channel.report(PluginReport(works=True, api=calls.note, port=port, token=server.token))
        while not channel.is_over.is_set():
            await asyncio.sleep(REPORT_SECONDS)
            channel.report(PluginReport(works=True))

    await first_of(server.serve(report_port), link.lost.wait())


# -- observers


def _observe(order: PluginOrder, plugin: ObserverPlugin, channel: NodeChannel) -> None:
    settings = _settings(order)
    if settings.is_api_node:
        channel.report(PluginReport(rests="it is an observer, which runs beside a node, and this is an API node"))
        return
    if OPERATION_HISTORY not in settings.plugins:
        raise PluginRefused(f"it is an observer, which is fed from the history: add plugin = {OPERATION_HISTORY}")
    folder = _folder(order)
    channel.report(PluginReport(timeout=OBSERVER_TIMEOUT))
    source = HistorySource(Path(settings.data_dir), settings.history)
    try:
        observer = plugin.make(folder)
    except (Exception, SystemExit) as problem:
        raise ObserverFailed(f"it cannot be made: {text_of_failure(problem)}") from problem
    if fault := fault_of_observer(observer):
        raise PluginRefused(fault)
    feed = ObserverFeed(source, folder / POSITION_FILE, observer, plugin.start)
    FeedLoop(feed, channel).run()


class FeedLoop:
    """Feeds an observer until the node ends, and reports to the node how far it is."""

    def __init__(self, feed: ObserverFeed, channel: NodeChannel) -> None:
        self._feed = feed
        self._channel = channel
        self._reported = 0.0
        self._has_begun = False

    def run(self) -> None:
        is_over = self._channel.is_over
        while not is_over.is_set():
            try:
                if not self._has_begun:
                    self._feed.begin()
                    self._has_begun = True
                is_idle = not self._feed.step()
            except HistoryDamaged as problem:
                log.debug("the history cannot be read yet: %(reason)s", {"reason": problem})
                is_idle = True
            self._report(is_idle=is_idle)
            if is_idle:
                is_over.wait(POLL_SECONDS)
        if self._has_begun:
            self._feed.close()

    def _report(self, *, is_idle: bool) -> None:
        feed, now = self._feed, time.monotonic()
        if now - self._reported >= (REPORT_SECONDS if is_idle else POLL_SECONDS):
            self._reported = now
            works = self._has_begun and (feed.delivered > 0 or (is_idle and not feed.behind))
            position = feed.position.next_block - 1
            self._channel.report(
                PluginReport(works=works, position=position, behind=feed.behind, timeout=OBSERVER_TIMEOUT)
            )


if __name__ == "__main__":
    main()
