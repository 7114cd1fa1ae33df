"""The command line of `ledgerd wallet`: all commands, and the shell in which they can be typed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache

from ledgerd.wallet.arguments.common import Parser, Parts, add_command, add_node_options, in_words, path_of, secret_of
from ledgerd.wallet.arguments.every_command import carry_out, command_parser
from ledgerd.wallet.commands.result import CommandResult


@cache
def parser() -> Parser:
    """Made once: of a hundred commands, which takes longer than many of them do."""
    return command_parser(_add_shell)


def main(words: Sequence[str]) -> int:
    return carry_out(parser(), words)


def _add_shell(parts: Parts) -> None:
    ended = in_words("Left the shell of {wallet}.")
    shell = add_command(parts, "shell", _shell, ended, "type commands one after the other", ["password"])
    add_node_options(shell)


def _shell(chosen: argparse.Namespace) -> CommandResult:
    from ledgerd.wallet.shell.session import run_shell  # noqa: PLC0415 - the terminal's library, for the shell alone

    return run_shell(path_of(chosen), secret_of(chosen), chosen)
