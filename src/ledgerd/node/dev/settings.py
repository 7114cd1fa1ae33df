"""How the node of a development chain is set up: the same for `ledgerd dev` and for chains in tests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.dev.founding import dev_producers
from ledgerd.protocol.networks.parameters import TESTNET

SHOWN = ("ledgerd.node.dev", "ledgerd.node.lifecycle", "ledgerd.plugins")
"""Loggers with lines that a developer reads; of all others only warnings are shown."""

PLUGINS = (
    "chain p2p webserver json_rpc database_api network_broadcast_api validator validator_api committee_api invite_api "
    "paid_subscription_api custom_protocol_api prediction_market_api account_by_key block_info raw_block "
    "operation_history account_history"
)


def dev_configuration(
    folder: Path,
    given: Mapping[str, Sequence[str]],
    *,
    network: str = "testnet",
    validators: Iterable[str] = (),
    is_quiet: bool = False,
) -> Configuration:
    """The configuration of a chain in a folder, with options that are given besides, or instead, and with validators
    that have the keys of those whom the chain begins with.
    """
    producers = dev_producers(TESTNET)
    shown = {"default": "warn"} if is_quiet else {"default": "warn"} | dict.fromkeys(SHOWN, "info")
    loggers = (f"[logger.{name}]\nlevel = {level}\nappenders = stderr\n" for name, level in shown.items())
    (folder / "config.ini").write_text(
        "# Written again by each start of `ledgerd dev`.\n"
        f"chain = {network}\n"
        "[log.console_appender.stderr]\nstream = std_error\n\n" + "\n".join(loggers),
        encoding="utf-8",
    )
    return read_configuration(
        {
            "data-dir": [str(folder)],
            "chain": [network],
            "plugin": [PLUGINS],
            "shared-file-size": ["256M"],
            "inc-shared-file-size": ["256M"],
            "min-free-shared-file-size": ["32M"],
            "webserver-simulate-transactions": ["true"],
            "validator": [f'"{name}"' for name in (*producers, *validators)],
            "private-key": sorted(set(producers.values())),
            "enable-stale-production": ["true"],
            "required-participation": ["0"],
            **given,
        },
        Path.cwd(),
    )
