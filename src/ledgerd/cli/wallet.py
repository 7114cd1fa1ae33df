"""`ledgerd wallet`: has a command line of its own, which is made of what the wallet can do."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

NAME = "wallet"


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    commands.add_parser(NAME, help="keep private keys, sign and send transactions (ledgerd wallet --help)")


def run(words: Sequence[str]) -> int:
    from ledgerd.wallet.command_line import main  # noqa: PLC0415 - not loaded by other commands

    return main(words)
