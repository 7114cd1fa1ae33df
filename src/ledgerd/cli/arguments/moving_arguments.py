"""The arguments of the command that moves a node in from a vizd."""

from __future__ import annotations

import argparse
from pathlib import Path

from ledgerd.cli.arguments.directory_arguments import Commands

MAINNET = "mainnet"
PORTS = 10
WAIT, APART = 3_600.0, 30.0


def add_adopt(commands: Commands) -> None:
    arguments = commands.add_parser(
        "adopt",
        help="make a data directory from that of a vizd, which is not changed",
        description="Reads the block log, or the newest snapshot and the blocks after it, and the configuration of a "
        "vizd, and makes a data directory for ledgerd elsewhere. Killed, it goes on when it is run again.",
    )
    add = arguments.add_argument
    add("directory", type=Path, nargs="?", metavar="DIR", help="the data directory of a vizd that is stopped")
    add("--data-dir", type=Path, required=True, metavar="DIR", help="the directory to make")
    add(
        "--chain",
        metavar="mainnet|testnet|FILE",
        help=f"the network (default: {MAINNET}; of a hand-over: as our node is configured)",
    )
    add(
        "--port-offset",
        type=int,
        default=PORTS,
        metavar="N",
        help=f"added to the ports, so that both programs can listen on this machine (default: {PORTS}; 0: the same)",
    )
    add(
        "--trust-log",
        action="store_true",
        help="omit checks of signatures, authorities and merkle roots, for a log that your own vizd has checked",
    )
    add("--dry-run", action="store_true", help="only say what would be done")
    _add_handover(arguments)


def _add_handover(arguments: argparse.ArgumentParser) -> None:
    group = arguments.add_argument_group(
        "the hand-over of a validator",
        "With --validator nothing is adopted: the command walks through the hand-over, says a step when the one before "
        "is done, and writes nothing but last_signed_block of --data-dir, while our node is stopped. It uses no "
        "private key. Exit code: 0 handed over, 3 not yet (the same command goes on), 1 wrong arguments.",
    )
    add = group.add_argument
    add("--validator", metavar="NAME", help="the validator")
    add("--back", action="store_true", help="from our node back to the vizd")
    add("--key", metavar="PUBLIC_KEY", help="the other key that the side that takes over signs with")
    add("--vizd", metavar="URL", help="the vizd's JSON-RPC, to see whether it runs and is in step")
    add("--node", metavar="URL", help="our node's JSON-RPC (default: as its configuration says)")
    add("--wait", type=float, default=WAIT, metavar="SECONDS", help=f"stop after so long (default: {WAIT:.0f})")
    add(
        "--clock-difference",
        type=float,
        default=APART,
        metavar="SECONDS",
        help=f"how old a head block may be by this machine's clock (default: {APART:.0f})",
    )
