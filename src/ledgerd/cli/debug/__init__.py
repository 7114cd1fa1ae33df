"""`ledgerd debug`: tools to find faults in a node or a network (docs/debugging.md)."""

from __future__ import annotations

import argparse
from typing import Any

from ledgerd.cli.debug import codec, fork, states

TOOLS = (codec, states, fork)


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    arguments = commands.add_parser(
        "debug",
        help="print a generated codec, compare two states, find where two chains part",
        description="Tools for finding faults. None of them changes any data.",
    )
    tools = arguments.add_subparsers(title="tools", metavar="TOOL", required=True)
    for tool in TOOLS:
        tool.add_to(tools)
