"""Validators: declared, voted for, looked at, and given another signing key without a missed slot."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey, public_key_from_text, public_key_text
from ledgerd.protocol.operations.validators import AccountValidatorVote, ValidatorUpdate
from ledgerd.protocol.types.names import AccountName
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.commands.sending import Choices, send
from ledgerd.wallet.errors import NoSuchAccount, UnknownOutcome, WalletError
from ledgerd.wallet.node.checks import chain_status
from ledgerd.wallet.node.client import NodeClient

API = "validator_api"
MOST_RANKED = 100
RECENT_BLOCKS = 10 * 21
"""A validator with votes has made one of so many."""
ROTATION_SECONDS = 600.0
"""The longest wait for the first block with a new key: some rounds, as validators with few votes are in few."""
PAUSE_SECONDS = 0.5

SHOWN = (
    ("url", "url"),
    ("signing key", "signing_key"),
    ("votes that count", "counted_votes"),
    ("slots missed", "total_missed"),
    ("last block", "last_confirmed_block_num"),
    ("version", "running_version"),
)


def declare(choices: Choices, account: str, key: PublicKey, url: str | None) -> CommandResult:
    """Make an account a validator, or change what it has declared; without a text, that one stays as it is."""
    if url is None:
        with choices.checked_node() as (node, _):
            url = str(_record(node, account)["url"])
    return send(choices, lambda _: [ValidatorUpdate(AccountName(account), url, key)])


def pause(choices: Choices, account: str) -> CommandResult:
    """Declare the key that nobody has: without slots none is missed."""
    return declare(choices, account, NULL_KEY, None)


def vote(choices: Choices, voter: str, validator: str, *, is_for: bool) -> CommandResult:
    return send(choices, lambda _: [AccountValidatorVote(AccountName(voter), AccountName(validator), is_for)])


def check(choices: Choices, account: str, key: PublicKey | None) -> CommandResult:
    with choices.checked_node() as (node, chain):
        found = _record(node, account)
        ranked = node.call(API, "get_validators_by_counted_vote", "", MOST_RANKED)
    names = [each.get("owner") for each in ranked if isinstance(each, dict)] if isinstance(ranked, list) else []
    record = {title: found.get(name) for title, name in SHOWN}
    record["place by votes"] = names.index(account) + 1 if account in names else f"beyond {MOST_RANKED}"
    problems = list(_problems(found, key, chain.head_number))
    return {"title": f"validator {account}", "record": record, "problems": problems}


def _problems(found: dict[str, Any], key: PublicKey | None, head: int) -> list[str]:
    problems = []
    declared, last = found.get("signing_key"), found.get("last_confirmed_block_num")
    if declared == public_key_text(NULL_KEY):
        problems.append("it has no signing key: it is switched off, and makes no blocks until it is declared again")
    elif key is not None and declared != public_key_text(key):
        problems.append(f"the chain knows another signing key, {declared}")
    if str(found.get("counted_votes")) == "0":
        problems.append("it has no votes, so it has no slots")
    if not isinstance(last, int) or head - last > RECENT_BLOCKS:
        problems.append(f"it has made none of the last {RECENT_BLOCKS} blocks")
    return problems


def rotate(
    choices: Choices,
    account: str,
    key: PublicKey,
    clock: Callable[[], float] = time.monotonic,
    pause_for: Callable[[float], None] = time.sleep,
) -> CommandResult:
    """Declare another signing key, and wait for the first block that is signed with it.

    The node has to have both keys by now: it signs with the one that the chain knows at each slot. No node tells others
    which keys it has. What one can tell is asked: whether the validator makes blocks now, that the chain has the new
    key, the first block with it, and slots that are missed.
    """
    with choices.checked_node() as (node, chain):
        before = _record(node, account)
        problems = list(_problems(before, None, chain.head_number))
    if before["signing_key"] == public_key_text(key):
        raise WalletError(f"{account} has this signing key already")
    choices.show(
        f"The node that makes the blocks of {account} has to have the key {public_key_text(key)} loaded beside the "
        "present one (ledgerd key FILE --add --data-dir DIR)."
    )
    for problem in problems:
        choices.show(f"PROBLEM: {account}: {problem}")
    sent = send(choices, lambda _: [ValidatorUpdate(AccountName(account), str(before["url"]), key)])
    if "block" not in sent:
        return {**sent, "problems": problems}
    with choices.checked_node() as (node, _):
        wait = _FirstBlock(node, account, key, before, clock, pause_for)
        block = wait.after(int(str(sent["block"])))
    return {
        **sent,
        "problems": problems,
        "old_key": before["signing_key"],
        "new_key": public_key_text(key),
        "signed": block,
        "missed": wait.missed,
    }


@dataclass
class _FirstBlock:
    """The wait for the first block of a validator that is signed with its new key."""

    node: NodeClient
    account: str
    key: PublicKey
    before: dict[str, Any]
    clock: Callable[[], float]
    pause_for: Callable[[float], None]
    missed: int = 0

    def after(self, number: int) -> int:
        """The number of the first block; `UnknownOutcome` if slots were missed instead, or nothing came for a long
        time.
        """
        until, missed = self.clock() + ROTATION_SECONDS, -1
        while self.clock() < until:
            now = _record(self.node, self.account)
            while number < chain_status(self.node).head_number:
                number += 1
                if self._is_signed_in(number):
                    self._count(_record(self.node, self.account))
                    return number
            self._count(now)
            if self.missed > missed >= 0:
                raise self._unknown(f"{self.account} has missed {self.missed - missed} slots since, and made no block")
            missed = self.missed
            self.pause_for(PAUSE_SECONDS)
        raise self._unknown(f"{self.account} has made no block with it so far")

    def _count(self, record: dict[str, Any]) -> None:
        self.missed = int(record["total_missed"]) - int(self.before["total_missed"])
        if record["signing_key"] != public_key_text(self.key):
            raise UnknownOutcome(f"the chain has another signing key of {self.account} now: {record['signing_key']}")

    def _is_signed_in(self, number: int) -> bool:
        record = self.node.call("database_api", "get_block", number)
        with self.node.understood():
            block = codec_of(Block).from_json(record)
            return block.signee == self.key and block.validator == self.account

    def _unknown(self, what: str) -> UnknownOutcome:
        return UnknownOutcome(
            f"the new key is declared, and {what}: see whether its node has loaded it, or declare the old one again "
            f"with `ledgerd wallet validator declare {self.account} {self.before['signing_key']}`"
        )


def _record(node: NodeClient, account: str) -> dict[str, Any]:
    found = node.call(API, "get_validator_by_account", account)
    if found is None:
        raise NoSuchAccount(f"{account} is no validator: declare it first, with a text for voters (--url)")
    with node.understood():
        record: dict[str, Any] = found
        # The key is shown as part of a command that a person may carry out.
        return record | {
            "signing_key": public_key_text(public_key_from_text(record["signing_key"])),
            "url": str(record["url"]),
            "total_missed": int(record["total_missed"]),
        }
