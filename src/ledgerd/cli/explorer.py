"""`ledgerd explorer`: pages about the chain for people, made from what a node answers."""

from __future__ import annotations

import argparse
from typing import Any

from ledgerd.protocol.errors import OperatorError

LISTEN = "127.0.0.1:8092"
NODE = "http://127.0.0.1:8090"


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "explorer",
        help="serve pages about the chain: blocks, accounts, validators, markets",
        description="Serves pages about the chain, live, in English and Russian. It asks a node or a replica by its "
        "public API, and may run on another machine. docs/explorer.md says how it is set up for others to see.",
    )
    arguments.add_argument("--node", default=NODE, metavar="URL", help=f"the HTTP endpoint of a node (default: {NODE})")
    arguments.add_argument(
        "--live",
        default="",
        metavar="URL",
        help="its WebSocket endpoint, such as ws://127.0.0.1:8091, to be told of blocks; without one, the node is "
        "asked for its head five times a second",
    )
    arguments.add_argument(
        "--listen", default=LISTEN, metavar="HOST:PORT", help=f"serve browsers here (default: {LISTEN})"
    )
    arguments.add_argument(
        "--trusted-proxy",
        action="append",
        default=[],
        metavar="ADDRESS",
        help="an address or network whose X-Forwarded-For names the visitor; this machine is one; may be repeated",
    )
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    from ledgerd.explorer.process import run_explorer  # noqa: PLC0415 - not loaded for `--help`
    from ledgerd.explorer.settings import ExplorerSettings  # noqa: PLC0415
    from ledgerd.node.config.logging.setup import set_up_logging  # noqa: PLC0415
    from ledgerd.node.config.values.endpoints import ENDPOINT, NETWORK  # noqa: PLC0415
    from ledgerd.node.config.values.kind import WrongValue  # noqa: PLC0415

    try:
        listen = ENDPOINT.read(chosen.listen)
        trusted = tuple(NETWORK.read(each) for each in chosen.trusted_proxy)
    except WrongValue as problem:
        raise OperatorError(str(problem)) from None
    settings = ExplorerSettings(node=chosen.node, live=chosen.live, listen=listen, trusted_proxies=trusted)
    set_up_logging(None)
    return run_explorer(settings)
