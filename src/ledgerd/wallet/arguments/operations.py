"""A command for each operation that a person may send, and `call` for operations as JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.numbers import Boolean
from ledgerd.protocol.operations import Operation
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.sdk.transactions.operations.fields import (
    SENDABLE,
    command_of,
    fields_of_operation,
    inner_of,
    is_asked,
    is_secret,
    operation_named,
)
from ledgerd.wallet.arguments.common import Parser, Parts, add_command, add_sending_options, choices_of, secret_of
from ledgerd.wallet.arguments.outcome import outcome_words
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.commands.sending import send
from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.keys.entry import read_secret
from ledgerd.wallet.operations.reading import from_json, from_words, json_from_text
from ledgerd.wallet.operations.words import sentence_of

FROM_INPUT = "-"


def add_operation_commands(parts: Parts) -> None:
    for operation in SENDABLE:
        _add_operation(parts, operation)
    calling = add_command(parts, "call", _call, outcome_words, "send an operation that is written as JSON")
    calling.add_argument("operation", metavar="OPERATION", help="its name")
    calling.add_argument("fields", metavar="JSON", help="its fields; - reads them from the standard input")
    add_sending_options(calling)


def _add_operation(parts: Parts, operation: type[Operation]) -> None:
    fields = fields_of_operation(operation)
    secrets = [_option_of(field.name) for field in fields if is_secret(field)]

    def run(chosen: argparse.Namespace) -> CommandResult:
        return _send_words(operation, chosen)

    made = add_command(
        parts,
        command_of(operation),
        run,
        outcome_words,
        sentence_of(operation),
        secrets,
        [operation.COMMAND] if operation.COMMAND else [],
    )
    made.declare_later = partial(_add_fields, made, operation)


def _add_fields(made: Parser, operation: type[Operation]) -> None:
    for field in fields_of_operation(operation):
        if is_secret(field):
            continue
        place, title = f"field_{field.name}", inner_of(field.kind).title
        if is_asked(field):
            made.add_argument(place, metavar=field.name.upper(), help=title.replace("%", "%%"))
        else:
            _add_option(made, field.name, place, inner_of(field.kind))
    add_sending_options(made)


def _option_of(name: str) -> str:
    return name.replace("_", "-")


def _add_option(made: argparse.ArgumentParser, name: str, place: str, kind: Kind) -> None:
    option = f"--{_option_of(name)}"
    if isinstance(kind, Boolean):
        made.add_argument(option, dest=place, action=argparse.BooleanOptionalAction, default=None)
    else:
        made.add_argument(option, dest=place, metavar=name.upper(), help=kind.title.replace("%", "%%"))


def _send_words(operation: type[Operation], chosen: argparse.Namespace) -> CommandResult:
    given: dict[str, str | bool] = {}
    for field in fields_of_operation(operation):
        if is_secret(field):
            asking = f"{field.name.replace('_', ' ').capitalize()} (not shown): "
            with secret_of(chosen, _option_of(field.name)).opened(asking) as descriptor:
                given[field.name] = read_secret(descriptor).decode("ascii", "replace")
        elif (word := getattr(chosen, f"field_{field.name}")) is not None:
            given[field.name] = word

    def make(chain: ChainStatus) -> Sequence[Operation]:
        return [from_words(operation, given, lambda: chain.head_time)]

    from_words(operation, given, lambda: 0)  # what is wrong by itself is said before a node is asked
    return send(choices_of(chosen), make)


def _call(chosen: argparse.Namespace) -> CommandResult:
    operation = operation_named(chosen.operation)
    if operation is None:
        raise WalletError(f"there is no operation {chosen.operation}")
    secrets = [field.name for field in fields_of_operation(operation) if is_secret(field)]
    if chosen.fields != FROM_INPUT and secrets:
        raise WalletError(f"{secrets[0]} is a private key: give the fields on the standard input, with - for JSON")
    text = sys.stdin.read() if chosen.fields == FROM_INPUT else chosen.fields
    made = from_json(operation, json_from_text(text, "what was given for the fields"))
    return send(choices_of(chosen), lambda _: [made])
