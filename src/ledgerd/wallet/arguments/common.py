"""What commands have in common: options, secrets, nodes."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ledgerd.protocol.secrets import without_keys
from ledgerd.wallet.commands import keys
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.commands.sending import USUAL_LIFETIME, USUAL_NODE, Choices
from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.keys.entry import SecretSource
from ledgerd.wallet.node.checks import CLOCK_SECONDS
from ledgerd.wallet.transactions.sending import Until

NODE_VARIABLE = "LEDGERD_NODE"
CLOCK_VARIABLE = "LEDGERD_CLOCK_DIFFERENCE"

Command = Callable[[argparse.Namespace], CommandResult]
Show = Callable[[CommandResult], str]
Parts = Any
"""The place where commands are added: what `add_subparsers` returns has no public type."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors show no private key, and that declares what takes long when the command is used."""

    declare_later: Callable[[], None] | None = None

    def complete(self) -> None:
        declare, self.declare_later = self.declare_later, None
        if declare is not None:
            declare()

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:  # noqa: ANN401 - as in the library
        self.complete()
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        super().error(without_keys(message))


def in_words(layout: str) -> Show:
    return lambda result: layout.format(**result)


def add_command(
    parts: Parts,
    name: str,
    command: Command,
    show: Show,
    help_text: str,
    secrets: Sequence[str] = (),
    aliases: Sequence[str] = (),
) -> Parser:
    description = f"{help_text[0].upper()}{help_text[1:]}".rstrip(".")
    made: Parser = parts.add_parser(
        name, help=help_text.replace("%", "%%"), description=f"{description}.", aliases=list(aliases)
    )
    made.add_argument("--wallet", type=Path, metavar="FILE", help="the wallet's file, if not the usual one")
    made.add_argument("--json", action="store_true", dest="is_json", help="print JSON")
    for secret in secrets:
        made.add_argument(f"--{secret}-fd", type=int, metavar="N", help=f"read the {secret} from this descriptor")
        made.add_argument(f"--{secret}-file", type=Path, metavar="FILE", help=f"read the {secret} from this file")
    made.set_defaults(command=command, show=show)
    return made


def add_node_options(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--node",
        action="append",
        metavar="URL",
        help=f"a node (http, https, ws or wss); that of the environment variable {NODE_VARIABLE} if absent, else "
        f"{USUAL_NODE}; given twice, both have to agree",
    )
    made.add_argument(
        "--clock-difference",
        type=float,
        metavar="SECONDS",
        help=f"how far the time of the head block may be from the clock; {CLOCK_VARIABLE} if absent, else "
        f"{CLOCK_SECONDS}",
    )


def add_yes_option(made: argparse.ArgumentParser) -> None:
    made.add_argument("--yes", action="store_true", help="do not ask; required where there is no terminal")


def add_wait_option(made: argparse.ArgumentParser) -> None:
    made.add_argument(
        "--wait",
        type=Until,
        choices=list(Until),
        default=Until.IN_BLOCK,
        help="wait until the transaction is sent, in a block (the default) or irreversible",
    )


def add_sending_options(made: argparse.ArgumentParser) -> None:
    add_node_options(made)
    add_yes_option(made)
    add_wait_option(made)
    made.add_argument(
        "--save", type=Path, metavar="FILE", help="write the transaction to this file instead of signing it"
    )
    made.add_argument(
        "--expires-in",
        type=float,
        metavar="SECONDS",
        help=f"how long it is valid (default: {USUAL_LIFETIME:g}; with --save an hour, which is the longest)",
    )


def path_of(chosen: argparse.Namespace) -> Path:
    path: Path = chosen.wallet or keys.usual_path()
    return path


def secret_of(chosen: argparse.Namespace, name: str = "password") -> SecretSource:
    field = name.replace("-", "_")
    return SecretSource(getattr(chosen, f"{field}_fd"), getattr(chosen, f"{field}_file"), name)


def _clock_seconds(given: float | None) -> float:
    if given is not None:
        return given
    text = os.environ.get(CLOCK_VARIABLE) or str(CLOCK_SECONDS)
    try:
        return float(text)
    except ValueError:
        raise WalletError(f"{CLOCK_VARIABLE} is {text}, which is no number of seconds") from None


def choices_of(chosen: argparse.Namespace) -> Choices:
    return Choices(
        wallet=path_of(chosen),
        nodes=tuple(getattr(chosen, "node", None) or (os.environ.get(NODE_VARIABLE) or USUAL_NODE,)),
        is_yes=getattr(chosen, "yes", False),
        until=getattr(chosen, "wait", Until.IN_BLOCK),
        file=getattr(chosen, "save", None),
        lifetime=getattr(chosen, "expires_in", None),
        clock_seconds=_clock_seconds(getattr(chosen, "clock_difference", None)),
        is_json=chosen.is_json,
    )
