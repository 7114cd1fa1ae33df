"""Each operation as a command: its arguments are its fields, and give the operation back."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import Boolean
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.sdk.transactions.operations.fields import (
    SENDABLE,
    command_of,
    fields_of_operation,
    inner_of,
    is_asked,
    is_secret,
)
from ledgerd.wallet.arguments import operations as arguments
from ledgerd.wallet.command_line import parser
from ledgerd.wallet.commands.sending import Choices
from ledgerd.wallet.errors import WalletError
from ledgerd.wallet.operations.reading import joined_amounts
from tests.recorded import recorded_blocks
from tests.wallet.operations.test_reading import is_usual, words_for

PARSER = parser()
OF_EACH = 5
"""Recorded ones of a name that are looked at."""


def command_words(operation: Operation) -> list[str]:
    """The command that a person would type; amounts in two words."""
    kind = type(operation)
    given = words_for(operation)
    asked, options = [command_of(kind)], []
    for field in fields_of_operation(kind):
        value = given.get(field.name)
        option = f"--{field.name.replace('_', '-')}"
        if value is None:
            continue
        if is_asked(field):
            words = str(value).split(" ") if str(value).endswith((" VIZ", " SHARES")) else [str(value)]
            asked += words
        elif isinstance(inner_of(field.kind), Boolean):
            options.append(option if value else option.replace("--", "--no-", 1))
        else:
            options.append(f"{option}={value}")
    return [asked[0], *options, "--", *asked[1:]]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """What commands would send."""
    found: list[Operation] = []

    def keep(_: Choices, make: Any) -> dict[str, object]:
        found.extend(make(argparse.Namespace(head_time=1_700_000_000)))
        return {}

    monkeypatch.setattr(arguments, "send", keep)
    return found


@pytest.mark.parametrize("chain", ["open-main15", "open-pm"])
def test_recorded_operations_are_given_back_by_their_commands(chain: str, made: list[Operation]) -> None:
    taken: Counter[str] = Counter()
    for raw in recorded_blocks(chain):
        for transaction in codec_of(Block).decode(raw).transactions:
            for each in transaction.operations:
                name = name_of(type(each))
                is_typed = type(each) in SENDABLE and is_usual(each) and not hasattr(each, "invite_secret")
                if not is_typed or taken[name] == OF_EACH:
                    continue
                chosen = PARSER.parse_args(joined_amounts(command_words(each)))
                chosen.command(chosen)
                assert made[-1] == each
                taken[name] += 1
    assert len(taken) > 15


@pytest.mark.parametrize("operation", SENDABLE, ids=name_of)
def test_every_operation_is_a_command_that_explains_itself(
    operation: type[Operation], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in filter(None, (command_of(operation), operation.COMMAND)):
        with pytest.raises(SystemExit):
            PARSER.parse_args([name, "--help"])
        shown = capsys.readouterr().out
        for field in fields_of_operation(operation):
            wanted = field.name.upper() if is_asked(field) else f"--{field.name.replace('_', '-')}"
            assert (wanted in shown) or is_secret(field)


def test_the_secret_of_an_invite_is_never_an_argument(made: list[Operation], tmp_path: Any) -> None:
    (tmp_path / "secret").touch(0o600)
    (tmp_path / "secret").write_text("5secret\n")
    words = ["use-invite-balance", "alice", "bob", "--invite-secret-file", str(tmp_path / "secret")]
    chosen = PARSER.parse_args(words)
    chosen.command(chosen)
    assert json.loads(codec_of(Operation).to_json(made[0]))[1]["invite_secret"] == "5secret"
    chosen = PARSER.parse_args(["call", "use_invite_balance", "{}"])
    with pytest.raises(WalletError, match="is a private key: give the fields on the standard input"):
        chosen.command(chosen)


def test_what_is_no_operation_is_told() -> None:
    chosen = PARSER.parse_args(["call", "nothing", "{}"])
    with pytest.raises(WalletError, match="there is no operation nothing"):
        chosen.command(chosen)
