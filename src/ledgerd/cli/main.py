"""The `ledgerd` command: its arguments, and which command they choose."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from ledgerd.cli.arguments import directory_arguments as directory
from ledgerd.cli.arguments import process_arguments as process
from ledgerd.cli.arguments import tool_arguments as tool
from ledgerd.cli.arguments.directory_arguments import Commands
from ledgerd.protocol.errors import OperatorError

COMMANDS: dict[str, Callable[[Commands], None]] = {
    "doctor": directory.add_doctor,
    "adopt": tool.add_adopt,
    "compare": tool.add_compare,
    "replay": directory.add_replay,
    "state": directory.add_state,
    "check": directory.add_check,
    "history": directory.add_history,
    "archive": directory.add_archive,
    "markets": directory.add_markets,
    "validator": directory.add_validator,
    "signer": process.add_signer,
    "snapshot": directory.add_snapshot,
    "key": tool.add_key,
    "wallet": tool.add_wallet,
    "explorer": process.add_explorer,
    "api": process.add_api,
    "dev": process.add_dev,
    "testnet": process.add_testnet,
    "debug": tool.add_debug,
}
"""What declares the arguments of each. It is carried out by `run` of the module of its name, which is loaded then only:
all of them take longer to load than most take to run.
"""
NODE, WALLET = "node", "wallet"
FAILED = 1


def _module(name: str) -> Any:  # noqa: ANN401 - what a module has is known where it is imported by name
    return import_module(f"{__package__}.{name}")


def parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="ledgerd",
        description="A full node for the VIZ Ledger. Without a command: the node itself (ledgerd --help).",
    )
    commands = arguments.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        COMMANDS[name](commands)
    return arguments


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else list(arguments)
    if not words or words[0].startswith("-"):
        return int(_module(NODE).run(words, tuple(COMMANDS)))
    name = words[0]
    chosen = None if name == WALLET else parser([name] if name in COMMANDS else COMMANDS).parse_args(words)
    try:
        if chosen is None:
            return int(import_module("ledgerd.wallet.command_line").main(words[1:]))
        return int(_module(name).run(chosen))
    except BrokenPipeError:
        # The reader of our output has closed the pipe. Writing the rest must not fail again at exit.
        sys.stdout = None
        return FAILED
    except OperatorError as problem:
        sys.stderr.write(f"ledgerd: {problem}\n")
        return FAILED
