"""The `ledgerd` command: its arguments, and which command they choose."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from ledgerd.cli import check, replay, state
from ledgerd.cli.standing import describe
from ledgerd.protocol.errors import OperatorError

COMMANDS = (replay, state, check)
"""A module for each command: `add_to` declares its arguments, `run` carries it out."""

FAILED = 1


def parser() -> argparse.ArgumentParser:
    """The arguments that `ledgerd` understands."""
    arguments = argparse.ArgumentParser(
        prog="ledgerd",
        description="A full node for the VIZ Ledger. Without a command: prints what of it is built.",
    )
    arguments.add_argument("--version", action="version", version=f"ledgerd {version('ledgerd')}")
    commands = arguments.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        command.add_to(commands)
    return arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    chosen = parser().parse_args(arguments)
    if not hasattr(chosen, "run"):
        sys.stdout.write(describe(version("ledgerd")))
        return 0
    try:
        code: int = chosen.run(chosen)
    except OperatorError as problem:
        sys.stderr.write(f"ledgerd: {problem}\n")
        return FAILED
    return code
