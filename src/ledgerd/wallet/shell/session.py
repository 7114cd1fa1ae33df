"""The shell: reads lines, carries them out, keeps those without a secret, and the wallet unlocked while it runs."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from ledgerd.protocol.secrets import without_keys
from ledgerd.wallet.arguments.common import Parser, choices_of
from ledgerd.wallet.arguments.every_command import carry_out, command_parser
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.errors import NotAsked, WalletError
from ledgerd.wallet.keys.entry import SecretSource
from ledgerd.wallet.keys.session import session_of, unlock
from ledgerd.wallet.node.client import NodeClient
from ledgerd.wallet.shell.completion import MOST_NAMES, WalletCompleter

MOST_LINES = 1_000
LONGEST_LINE = 10_000
HISTORY_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
ENCRYPTED = "#"
"""A memo that begins so is to be encrypted, and must not stand in a file in plain text."""

LEAVING = ("exit", "quit")
LOOK_UP_SECONDS = 1.0
"""A node that takes longer to answer what begins so is not waited for."""
NAME = re.compile(r"[a-z0-9.-]{1,32}")
"""Names that may be put into a line that a person types; a node could name something else."""
GREETING = "Commands as behind `ledgerd wallet`; Tab completes them, `exit` or Ctrl-D leaves.\n"


def may_be_kept(line: str) -> bool:
    """Whether a line has nothing in it that looks like a private key, and no memo that is to be encrypted."""
    words = line.replace('"', " ").replace("'", " ").replace("=", " ").split()
    if any(word.startswith(ENCRYPTED) for word in words) or len(line) > LONGEST_LINE:
        return False
    return without_keys(line) == line


class LineHistory(History):
    """A file that only its owner can read, one line after the other, the latest last."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def load_history_strings(self) -> Iterable[str]:
        try:
            lines = self._path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            return []
        return [line for line in reversed(lines[-MOST_LINES:]) if line]

    def store_string(self, string: str) -> None:
        if "\n" in string or not may_be_kept(string):
            return
        try:
            descriptor = os.open(self._path, HISTORY_FLAGS, 0o600)
        except OSError:
            return  # commands work without a history
        with open(descriptor, "w", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - by its descriptor
            file.write(f"{string}\n")


def run_shell(
    wallet: Path,
    password: SecretSource,
    options: argparse.Namespace,
    terminal: Input | None = None,
    screen: Output | None = None,
) -> CommandResult:
    """The process that holds the keys ends with the shell that has started it."""
    if terminal is None and not sys.stdin.isatty():
        raise NotAsked("the shell needs a terminal: scripts give one command at a time, with --yes")
    parser = command_parser()
    with _unlocked(wallet, password):
        prompt: PromptSession[str] = PromptSession(
            history=LineHistory(wallet.with_name(f"{wallet.name}.history")),
            completer=WalletCompleter(parser, KnownNames(options)),
            complete_while_typing=False,  # a node is asked only at Tab
            input=terminal,
            output=screen,
        )
        sys.stdout.write(GREETING)
        while (line := _next_line(prompt, wallet)) is not None:
            _carry_out(parser, line, wallet, options)
    return {"wallet": str(wallet)}


@contextmanager
def _unlocked(wallet: Path, password: SecretSource) -> Iterator[None]:
    reading, writing = os.pipe()
    try:
        if not session_of(wallet).is_unlocked:
            with password.opened(f"Password of {wallet}: ") as descriptor:
                unlock(wallet, descriptor, owner=reading)
        yield
    finally:
        os.close(reading)
        os.close(writing)


def _next_line(prompt: PromptSession[str], wallet: Path) -> str | None:
    while True:
        state = "wallet" if session_of(wallet).is_unlocked else "wallet, locked"
        try:
            line = prompt.prompt(f"{state}> ").strip()
        except EOFError:
            return None
        except KeyboardInterrupt:
            continue  # the line is dropped
        if line in LEAVING:
            return None
        if line:
            return line


def _carry_out(parser: Parser, line: str, wallet: Path, options: argparse.Namespace) -> None:
    def prepare(chosen: argparse.Namespace) -> None:
        chosen.wallet = chosen.wallet or wallet
        for name in ("node", "clock_difference"):
            if getattr(chosen, name, options) is None:
                setattr(chosen, name, getattr(options, name))

    try:
        carry_out(parser, shlex.split(line), prepare)
    except ValueError as problem:
        sys.stderr.write(f"ledgerd wallet: {problem}\n")
    except SystemExit:
        return  # argparse has said what is wrong, or printed the help


class KnownNames:
    """Names of accounts that begin so, as the node says; none if it does not answer soon."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._node = choices_of(options).nodes[0]
        self._known: dict[str, list[str]] = {}

    def __call__(self, beginning: str) -> list[str]:
        if beginning not in self._known:
            try:
                with NodeClient(self._node, LOOK_UP_SECONDS) as node:
                    found = node.call("database_api", "lookup_accounts", beginning, MOST_NAMES)
            except WalletError:
                return []
            names = [each for each in found if isinstance(each, str)] if isinstance(found, list) else []
            self._known[beginning] = [each for each in names if each.startswith(beginning) and NAME.fullmatch(each)]
        return self._known[beginning]
