"""`ledgerd explorer`: pages about the chain for people, made from what a node answers."""

from __future__ import annotations

import argparse

from ledgerd.cli.shared.configured import ending_for_good
from ledgerd.client.address import SECURE_SOCKET, SOCKET, read_address
from ledgerd.explorer.process import run_explorer
from ledgerd.explorer.settings import ExplorerSettings
from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.config.values.endpoints import ENDPOINT, NETWORK


def run(chosen: argparse.Namespace) -> int:
    with ending_for_good():
        read_address(chosen.node)
        if chosen.live:
            read_address(chosen.live, (SOCKET, SECURE_SOCKET))
    listen = ENDPOINT.read(chosen.listen)
    trusted = tuple(NETWORK.read(each) for each in chosen.trusted_proxy)
    settings = ExplorerSettings(node=chosen.node, live=chosen.live, listen=listen, trusted_proxies=trusted)
    set_up_logging(None)
    return run_explorer(settings)
