"""The commands about validators."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ledgerd.wallet.arguments import common
from ledgerd.wallet.arguments.outcome import outcome_words, table_words
from ledgerd.wallet.commands import keys, validators
from ledgerd.wallet.commands.keys import parsed_key
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.errors import WalletError


def add_validator_commands(parts: common.Parts) -> None:
    shown = common.in_words("{key}")
    making = common.add_command(
        parts, "keys", _keys, shown, "make a signing key, here and in a file for private-key-file"
    )
    making.add_argument("file", type=Path, metavar="FILE", help="a new file, for the machine that makes blocks")
    making.add_argument("--label", default="signing key", help="what it is called here")

    declaring = common.add_command(parts, "declare", _declare, outcome_words, "make an account a validator")
    declaring.add_argument("account", metavar="ACCOUNT", help="its name")
    declaring.add_argument("key", metavar="KEY", help="the public signing key")
    declaring.add_argument("--url", help="what voters read; needed the first time")

    voting = common.add_command(parts, "vote", _vote, outcome_words, "vote for a validator")
    voting.add_argument("voter", metavar="VOTER", help="who votes")
    voting.add_argument("validator", metavar="VALIDATOR", help="for whom")
    voting.add_argument("--withdraw", action="store_true", help="take the vote back")

    checking = common.add_command(parts, "check", _check, check_words, "say how a validator stands and what is wrong")
    checking.add_argument("account", metavar="ACCOUNT", help="its name")
    checking.add_argument("--key", help="the public signing key that it should have")
    common.add_node_options(checking)

    rotating = common.add_command(
        parts, "rotate", _rotate, rotation_words, "change the signing key without a missed slot"
    )
    rotating.add_argument("account", metavar="ACCOUNT", help="the validator")
    rotating.add_argument("key", metavar="KEY", help="the new public signing key, which its node has loaded")

    pausing = common.add_command(parts, "pause", _pause, outcome_words, "switch a validator off: it gets no slots")
    pausing.add_argument("account", metavar="ACCOUNT", help="its name")
    for each in (declaring, voting, rotating, pausing):
        common.add_sending_options(each)


def _keys(chosen: argparse.Namespace) -> CommandResult:
    if chosen.file.exists():
        raise WalletError(f"{chosen.file} exists: choose another file")
    made = keys.new_key(common.path_of(chosen), chosen.label)
    return keys.export_key(common.path_of(chosen), str(made["key"]), chosen.file)


def _declare(chosen: argparse.Namespace) -> CommandResult:
    return validators.declare(common.choices_of(chosen), chosen.account, parsed_key(chosen.key), chosen.url)


def _vote(chosen: argparse.Namespace) -> CommandResult:
    return validators.vote(common.choices_of(chosen), chosen.voter, chosen.validator, is_for=not chosen.withdraw)


def _check(chosen: argparse.Namespace) -> CommandResult:
    key = None if chosen.key is None else parsed_key(chosen.key)
    return validators.check(common.choices_of(chosen), chosen.account, key)


def _rotate(chosen: argparse.Namespace) -> CommandResult:
    return validators.rotate(common.choices_of(chosen), chosen.account, parsed_key(chosen.key))


def _pause(chosen: argparse.Namespace) -> CommandResult:
    return validators.pause(common.choices_of(chosen), chosen.account)


def check_words(result: CommandResult) -> str:
    found: Any = result
    problems = [f"PROBLEM: {each}" for each in found["problems"]] or ["Nothing is wrong as far as the chain tells."]
    return "\n".join([table_words(result), *problems])


def rotation_words(result: CommandResult) -> str:
    if "signed" not in result:
        return outcome_words(result)
    signed, missed = result["signed"], result["missed"]
    return f"{outcome_words(result)}\nBlock {signed} is signed with the new key. Slots missed: {missed}."
