"""`ledgerd check`: whether a state is consistent in itself and with its block log."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ledgerd.cli.data_directory import add_data_directory, opened_chain

UNSOUND = 1
MOST_PRINTED = 50


def add_to(commands: argparse._SubParsersAction[Any]) -> None:
    """Declare the command."""
    arguments = commands.add_parser(
        "check",
        help="check that a state is consistent",
        description="Checks that sums add up, that counters and indexes match the objects, and the log the state.",
    )
    add_data_directory(arguments)
    arguments.set_defaults(run=run)


def run(chosen: argparse.Namespace) -> int:
    """Check the state and print each problem."""
    from ledgerd.chain.offline.invariants import CHECKS, check  # noqa: PLC0415 - the chain is not loaded for `--help`

    with opened_chain(chosen, must_exist=True) as chain:
        problems = check(chain)
        for problem in problems[:MOST_PRINTED]:
            sys.stdout.write(f"{problem}\n")
        if problems:
            sys.stdout.write(f"{len(problems)} problems at block {chain.head_number}\n")
            return UNSOUND
        sys.stdout.write(f"block {chain.head_number}: all {len(CHECKS)} checks hold\n")
    return 0
