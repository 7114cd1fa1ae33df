"""The options of the whole node: plugins and network (spec 06, sections 2.1 and 5.1)."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import replace

from ledgerd.metrics.table.plugins import MOST_PLUGINS
from ledgerd.node.build import THIS_BUILD
from ledgerd.node.config.options.declaration import Option, OptionSection, SectionContext, WrongTogether, our_option
from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.node.config.values.values import choice_of, name_among

MAINNET = "mainnet"
NETWORKS = (MAINNET, "testnet")

LogFormat = Literal["text", "json"]
LOG_FORMATS: tuple[LogFormat, ...] = ("text", "json")

ACCOUNT_HISTORY, OPERATION_HISTORY = "account_history", "operation_history"
STATE_API, PREDICTION_MARKET_API, BLOCK_ARCHIVE = "state_api", "prediction_market_api", "block_archive"

TESTNET_PLUGIN = "testnet_plugin"
"""The plugin that applies hardforks without votes."""

DEPENDENCIES: dict[str, tuple[str, ...]] = {
    "account_by_key": ("json_rpc",),
    ACCOUNT_HISTORY: ("json_rpc", "chain", OPERATION_HISTORY),
    BLOCK_ARCHIVE: ("chain",),
    "block_info": ("chain",),
    "chain": ("json_rpc",),
    "committee_api": ("json_rpc", "chain"),
    "custom_protocol_api": ("json_rpc", "chain"),
    "database_api": ("json_rpc", "chain"),
    "invite_api": ("json_rpc", "chain"),
    "json_rpc": (),
    "network_broadcast_api": ("json_rpc", "chain", "p2p"),
    OPERATION_HISTORY: ("json_rpc", "chain"),
    "p2p": ("chain",),
    "paid_subscription_api": ("json_rpc", "chain"),
    PREDICTION_MARKET_API: ("json_rpc", "chain"),
    "raw_block": ("json_rpc", "chain"),
    "snapshot": ("chain",),
    STATE_API: ("json_rpc", "chain", OPERATION_HISTORY),
    TESTNET_PLUGIN: ("chain",),
    "validator": ("chain", "p2p", "snapshot"),
    "validator_api": ("json_rpc", "chain"),
    "validator_guard": ("chain", "p2p"),
    "webserver": ("json_rpc",),
}

ALWAYS = ("chain", "p2p", "webserver")
"""Run by every node, named or not."""


def with_dependencies(named: tuple[str, ...]) -> tuple[str, ...]:
    """The plugins that run, each after those that it depends on (spec 06, section 2.1)."""
    order: dict[str, None] = {}

    def add(name: str) -> None:
        for needed in DEPENDENCIES[name]:
            add(needed)
        order.setdefault(name)

    for name in (*named, *ALWAYS):
        add(name)
    return tuple(order)


_OWN_PLUGIN = name_among(lambda: tuple(DEPENDENCIES), "plugin")


def _read_plugin(text: str) -> str:
    if text in DEPENDENCIES:
        return text
    from ledgerd.plugins.installed import fault_of_name, installed  # noqa: PLC0415 - loaded where one of others is named

    found = installed()
    if not any(text == each.name for each in found):
        try:
            return _OWN_PLUGIN.read(text)
        except WrongValue as fault:
            names = ", ".join(map(str, found))
            others = f"of others are installed {names}" if names else f"of others none is installed in {sys.prefix}"
            raise WrongValue(f"{fault}; {others}") from None
    if problem := fault_of_name(text, found):
        raise WrongValue(problem)
    return text


class ApplicationOptions(msgspec.Struct, frozen=True):
    """The plugins that run, each after those that it depends on, and the network."""

    plugins: tuple[str, ...]
    chain: str
    """The name of a built-in network, or the absolute path of a chain file."""
    log_format: LogFormat = "text"
    installed: tuple[str, ...] = ()
    """Plugins of others that run, by their names among the installed ones."""


def _complete(record: ApplicationOptions, context: SectionContext) -> ApplicationOptions:
    chain = record.chain
    if chain not in NETWORKS:
        chain = str(context.current_dir / Path(chain).expanduser())
    left_out = [name for name in dict.fromkeys(record.plugins) if name in THIS_BUILD.excluded_plugins]
    if left_out:
        context.remark(f"this program was built for low memory, and runs without the plugins {', '.join(left_out)}")
    kept = tuple(name for name in record.plugins if name in DEPENDENCIES and name not in left_out)
    installed = tuple(dict.fromkeys(name for name in record.plugins if name not in DEPENDENCIES))
    if len(installed) > MOST_PLUGINS:
        raise WrongTogether("plugin", f"names {len(installed)} plugins of others: {MOST_PLUGINS} are allowed")
    return replace(record, plugins=with_dependencies(kept), installed=installed, chain=chain)


APPLICATION = OptionSection(
    "application",
    "The parts of the node, and its network.",
    ApplicationOptions,
    (
        Option(
            "plugin",
            OptionKind(_OWN_PLUGIN.word, _OWN_PLUGIN.takes, _OWN_PLUGIN.example, _read_plugin),
            "Plugins to run, several on a line or one on each. Plugins that they depend on run as well; chain, p2p, "
            "webserver and their dependencies always run. Plugins of others that are installed have names, too: "
            "docs/plugins.md.",
            repeatable=True,
            words=True,
            example="database_api network_broadcast_api",
            field="plugins",
        ),
        our_option(
            "chain",
            choice_of(*NETWORKS, or_else="FILE"),
            "The network: mainnet, testnet, or the TOML file of a private one. A relative file is relative to the "
            "current directory.",
            default=THIS_BUILD.network,
        ),
        our_option(
            "log-format",
            choice_of(*LOG_FORMATS),
            "How lines of the log are written, on the console and to files: text, or json for one JSON object a line, "
            "with time, level, room, logger, message, fields and exception. Sections [log.json_console_appender.NAME] "
            "have the reference's keys in either format.",
            default="text",
        ),
    ),
    complete=_complete,
)
