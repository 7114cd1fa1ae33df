"""`ledgerd explorer`: pages about the chain for people, made from what a node answers."""

from __future__ import annotations

import argparse

from ledgerd.explorer.process import run_explorer
from ledgerd.explorer.settings import ExplorerSettings
from ledgerd.node.config.logging.setup import set_up_logging
from ledgerd.node.config.values.endpoints import ENDPOINT, NETWORK
from ledgerd.node.config.values.kind import WrongValue
from ledgerd.protocol.errors import OperatorError


def run(chosen: argparse.Namespace) -> int:
    try:
        listen = ENDPOINT.read(chosen.listen)
        trusted = tuple(NETWORK.read(each) for each in chosen.trusted_proxy)
    except WrongValue as problem:
        raise OperatorError(str(problem)) from None
    settings = ExplorerSettings(node=chosen.node, live=chosen.live, listen=listen, trusted_proxies=trusted)
    set_up_logging(None)
    return run_explorer(settings)
