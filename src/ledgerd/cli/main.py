"""The `ledgerd` command: its arguments, and which command they choose."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from ledgerd.protocol.errors import OperatorError

NAMES = (
    "doctor",
    "adopt",
    "compare",
    "replay",
    "state",
    "check",
    "history",
    "archive",
    "markets",
    "validator",
    "signer",
    "snapshot",
    "key",
    "wallet",
    "explorer",
    "api",
    "dev",
    "testnet",
    "debug",
)
"""The commands. Each is a module here, of which `add_to` declares its arguments and `run` carries it out; it is loaded
when it is asked for, since all of them take longer to load than most take to run.
"""
NODE, WALLET = "node", "wallet"

FAILED = 1


def _module(name: str) -> Any:  # noqa: ANN401 - what a module has is known where it is imported by name
    return import_module(f"{__package__}.{name}")


def parser(names: Sequence[str] = NAMES) -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="ledgerd",
        description="A full node for the VIZ Ledger. Without a command: the node itself (ledgerd --help).",
    )
    commands = arguments.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        _module(name).add_to(commands)
    return arguments


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else list(arguments)
    if not words or words[0].startswith("-"):
        return int(_module(NODE).run(words, NAMES))
    names = words[:1] if words[0] in NAMES else NAMES
    chosen = None if words[0] == WALLET else parser(names).parse_args(words)
    try:
        code: int = _module(WALLET).run(words[1:]) if chosen is None else chosen.run(chosen)
    except BrokenPipeError:
        # The reader of our output has closed the pipe. Writing the rest must not fail again at exit.
        sys.stdout = None
        return FAILED
    except OperatorError as problem:
        sys.stderr.write(f"ledgerd: {problem}\n")
        return FAILED
    return code
