"""The `ledgerd` command: its arguments, and which command they choose."""

from __future__ import annotations

import argparse
import errno
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from typing import Any

from ledgerd.cli.arguments import application_arguments as application
from ledgerd.cli.arguments import comparing_arguments as comparing
from ledgerd.cli.arguments import completion_arguments as completion
from ledgerd.cli.arguments import debug_arguments as debug
from ledgerd.cli.arguments import directory_arguments as directory
from ledgerd.cli.arguments import key_arguments as keys
from ledgerd.cli.arguments import moving_arguments as moving
from ledgerd.cli.arguments import process_arguments as process
from ledgerd.cli.arguments.directory_arguments import Commands
from ledgerd.protocol.errors import OperatorError

COMMANDS: dict[str, tuple[str, Callable[[Commands], None]]] = {
    "init": ("directory.init", directory.add_init),
    "doctor": ("directory.doctor", directory.add_doctor),
    "adopt": ("tools.adopt", moving.add_adopt),
    "compare": ("tools.compare", comparing.add_compare),
    "record": ("tools.record", comparing.add_record),
    "shadow": ("tools.shadow", comparing.add_shadow),
    "replay": ("directory.replay", directory.add_replay),
    "state": ("directory.state", directory.add_state),
    "check": ("directory.check", directory.add_check),
    "history": ("directory.history", directory.add_history),
    "archive": ("directory.archive", directory.add_archive),
    "markets": ("directory.markets", directory.add_markets),
    "validator": ("directory.validator", directory.add_validator),
    "signer": ("process.signer", process.add_signer),
    "snapshot": ("directory.snapshot", directory.add_snapshot),
    "key": ("tools.key", keys.add_key),
    "wallet": ("ledgerd.wallet.command_line", keys.add_wallet),
    "explorer": ("process.explorer", process.add_explorer),
    "api": ("process.api", process.add_api),
    "app": ("process.app", application.add_app),
    "dev": ("process.dev", process.add_dev),
    "testnet": ("process.testnet", process.add_testnet),
    "debug": ("debug", debug.add_debug),
    "completion": ("completion", completion.add_completion),
}
"""The module that carries each out by its `run`, and what declares its arguments. A module is loaded only when it is
chosen: all of them take longer to load than most take to run.
"""
NODE, VERSION, WALLET = "process.node", "process.version", "wallet"
VERSION_WORDS = (["--version"], ["-v"])
FAILED, WRONG_WORD, INTERRUPTED = 1, 2, 130
SYSTEM_REMEDY = "see to the permissions and the disk, and run this as the user whom the files belong to"
OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS)
"""Errors that writing raises without the name of the file."""


def _module(name: str) -> Any:  # noqa: ANN401 - what a module has is known where it is imported by name
    return import_module(name if name.startswith("ledgerd.") else f"{__package__}.{name}")


def _lasting_module(name: str) -> Any:  # noqa: ANN401 - as above
    """Load a module of a command. Nothing of it is ever freed in a process of its own, so it is left out of garbage
    collection.
    """
    from ledgerd.supervision.this_process import lasting_modules  # noqa: PLC0415 - the version is told without it

    with lasting_modules():
        return _module(name)


def parser(names: Iterable[str] = COMMANDS) -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(
        prog="ledgerd",
        description="A full node for the VIZ Ledger. Without a command: the node itself (ledgerd --help).",
    )
    commands = arguments.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name in names:
        COMMANDS[name][1](commands)
    return arguments


def _unknown(name: str) -> int:
    from difflib import get_close_matches  # noqa: PLC0415 - for this alone

    nearest = "".join(f"; the nearest one is {each}" for each in get_close_matches(name, COMMANDS, n=1))
    sys.stderr.write(f"ledgerd: there is no command {name!r}{nearest}. `ledgerd --help` lists all of them\n")
    return WRONG_WORD


def main(arguments: Sequence[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else list(arguments)
    if words in VERSION_WORDS:
        return int(_module(VERSION).run())
    if not words or words[0].startswith("-"):
        return int(_module(NODE).run(words, tuple(COMMANDS)))
    name = words[0]
    if name not in COMMANDS:
        return _unknown(name)
    chosen = None if name == WALLET else parser([name]).parse_args(words)
    load = _module if arguments is not None else _lasting_module
    try:
        if chosen is None:
            return int(load(COMMANDS[WALLET][0]).main(words[1:]))
        return int(load(COMMANDS[name][0]).run(chosen))
    except BrokenPipeError:
        # The reader of our output has closed the pipe. Writing the rest must not fail again at exit.
        sys.stdout = None
        return FAILED
    except KeyboardInterrupt:
        sys.stderr.write("\nledgerd: interrupted\n")
        return INTERRUPTED
    except OperatorError as problem:
        sys.stderr.write(f"ledgerd: {problem}\n")
        return FAILED
    except OSError as problem:
        if problem.filename is None and problem.errno not in OF_THE_DISK:
            raise
        place = "" if problem.filename is None else f"{problem.filename}: "
        sys.stderr.write(f"ledgerd: {place}{problem.strerror}: {SYSTEM_REMEDY}\n")
        return FAILED
