"""The `ledgerd` command: its arguments, and which command they choose."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from ledgerd.cli.standing import describe


def parser() -> argparse.ArgumentParser:
    """The arguments that `ledgerd` understands."""
    arguments = argparse.ArgumentParser(
        prog="ledgerd",
        description="A full node for the VIZ Ledger. Without arguments: prints what of it is built.",
    )
    arguments.add_argument("--version", action="version", version=f"ledgerd {version('ledgerd')}")
    return arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    parser().parse_args(arguments)
    sys.stdout.write(describe(version("ledgerd")))
    return 0
