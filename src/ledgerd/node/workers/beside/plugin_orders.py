"""What the processes of plugins are told, of a node and of an API node."""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.node.workers.settings import WorkerSettings
from ledgerd.plugins.messages import PluginOrder
from ledgerd.plugins.supervising import PluginProcesses, PublishToWorkers
from ledgerd.rpc.call.limits import Limits
from ledgerd.supervision.processes import module_command
from ledgerd.supervision.work import Work

COMMAND = module_command("ledgerd.node.workers.beside.plugin_host")
PLUGINS_FOLDER = "plugins"
"""The folder in the data directory that has a folder for each plugin."""


def plugin_processes(
    settings: WorkerSettings, limits: Limits, work: Work, publish: PublishToWorkers
) -> PluginProcesses:
    asked, bounds = (msgspec.Raw(msgspec.json.encode(each)) for each in (settings, limits))
    folder = Path(settings.data_dir) / PLUGINS_FOLDER
    orders = [PluginOrder(name, str(folder / name), asked, bounds, settings.log_format) for name in settings.installed]
    return PluginProcesses(orders, COMMAND, work, publish)
