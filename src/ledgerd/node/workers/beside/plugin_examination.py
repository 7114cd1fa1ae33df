"""What the doctor is told of plugins: which are installed, and whether they load."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from ledgerd.doctor.examined_node import ExaminedPlugin
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.options.application import DEPENDENCIES
from ledgerd.node.workers.beside.plugin_orders import COMMAND
from ledgerd.plugins.installed import installed
from ledgerd.plugins.messages import PluginOrder
from ledgerd.plugins.supervising import loaded
from ledgerd.supervision.tasks import all_of
from ledgerd.supervision.this_process import on_a_loop


def examined_plugins(configuration: Configuration) -> tuple[ExaminedPlugin, ...]:
    """The installed plugins, and whether each loads: it is imported in a process of its own."""
    found, nothing = installed(), msgspec.Raw(b"{}")
    if not found:
        return ()
    from ledgerd.node.workers.known_methods import EVERY_API  # noqa: PLC0415 - all methods, for the names of plugins

    order = PluginOrder("", "", nothing, nothing, configuration.application.log_format, is_checked=True)
    orders = [replace(order, name=each.name) for each in found]
    reports = on_a_loop(lambda: all_of(loaded(each, COMMAND) for each in orders))
    own = {*DEPENDENCIES, *(name for api in EVERY_API for name in (api.name, api.former_name))}
    return tuple(
        ExaminedPlugin(
            each.name,
            each.distribution,
            each.version,
            each.name in configuration.application.installed,
            report.api_version,
            report.refused,
            each.name in own,
        )
        for each, report in zip(found, reports, strict=True)
    )
