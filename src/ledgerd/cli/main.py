"""The `ledgerd` command: its arguments, and which command they choose."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ledgerd.cli import (
    adopt,
    archive,
    check,
    compare,
    debug,
    dev,
    doctor,
    explorer,
    history,
    key,
    markets,
    node,
    replay,
    signer,
    snapshot,
    state,
    testnet,
    validator,
    wallet,
)
from ledgerd.protocol.errors import OperatorError

COMMANDS = (
    doctor,
    adopt,
    compare,
    replay,
    state,
    check,
    history,
    archive,
    markets,
    validator,
    signer,
    snapshot,
    key,
    wallet,
    explorer,
    dev,
    testnet,
    debug,
)
"""A module for each command: `add_to` declares its arguments, `run` carries it out."""

FAILED = 1


def parser() -> argparse.ArgumentParser:
    """The commands beside the node, and their arguments."""
    arguments = argparse.ArgumentParser(
        prog="ledgerd",
        description="A full node for the VIZ Ledger. Without a command: the node itself (ledgerd --help).",
    )
    commands = arguments.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in COMMANDS:
        command.add_to(commands)
    return arguments


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command, or the node where the first word is an option, and give the exit code."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    if not words or words[0].startswith("-"):
        return node.run(words, [command.__name__.rpartition(".")[2] for command in COMMANDS])
    chosen = None if words[0] == wallet.NAME else parser().parse_args(words)
    try:
        code: int = wallet.run(words[1:]) if chosen is None else chosen.run(chosen)
    except BrokenPipeError:
        # The reader of our output has closed the pipe. Writing the rest must not fail again at exit.
        sys.stdout = None
        return FAILED
    except OperatorError as problem:
        sys.stderr.write(f"ledgerd: {problem}\n")
        return FAILED
    return code
