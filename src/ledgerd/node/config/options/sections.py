"""Every option of the node, by section, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledgerd.node.config.options.application import APPLICATION
from ledgerd.node.config.options.beside import EXPLORER, METRICS, SHADOW, STATE_STREAM, VALIDATOR_MONITOR, WEBHOOKS
from ledgerd.node.config.options.chain import CHAIN, TESTNET_PLUGIN
from ledgerd.node.config.options.declaration import Option, OptionSection
from ledgerd.node.config.options.history import CUSTOM_PROTOCOL, HISTORY, PREDICTION_MARKET
from ledgerd.node.config.options.invocation import INVOCATION
from ledgerd.node.config.options.p2p import P2P
from ledgerd.node.config.options.snapshot import SNAPSHOT
from ledgerd.node.config.options.validator import VALIDATOR, VALIDATOR_GUARD
from ledgerd.node.config.options.webserver import WEBSERVER

SECTIONS: dict[str, OptionSection[Any]] = {
    "invocation": INVOCATION,
    "application": APPLICATION,
    "chain": CHAIN,
    "p2p": P2P,
    "webserver": WEBSERVER,
    "metrics": METRICS,
    "validator": VALIDATOR,
    "validator_guard": VALIDATOR_GUARD,
    "validator_monitor": VALIDATOR_MONITOR,
    "snapshot": SNAPSHOT,
    "state_stream": STATE_STREAM,
    "history": HISTORY,
    "webhooks": WEBHOOKS,
    "explorer": EXPLORER,
    "shadow": SHADOW,
    "custom_protocol": CUSTOM_PROTOCOL,
    "prediction_market": PREDICTION_MARKET,
    "testnet": TESTNET_PLUGIN,
}


def every_option() -> Iterator[Option]:
    for section in SECTIONS.values():
        for option in section.options:
            yield option
            yield from option.older()


BY_NAME: dict[str, Option] = {option.name: option for option in every_option()}
