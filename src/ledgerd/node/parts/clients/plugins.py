"""The plugins of others as a part of the node; `/ready` does not depend on them."""

from __future__ import annotations

from functools import partial

from ledgerd.node.parts.clients.webserver import WebserverPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.node.workers.beside.plugin_orders import plugin_processes
from ledgerd.node.workers.settings import worker_settings


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
