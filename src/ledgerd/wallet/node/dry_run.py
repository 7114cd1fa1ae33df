"""What a transaction would do, as a node says that has tried it out and undone it (`node_api.simulate_transaction`)."""

from __future__ import annotations

from typing import Any

import msgspec

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.assets import SHARES_SYMBOL, TOKEN_SYMBOL, Asset
from ledgerd.wallet.errors import NodeRefused
from ledgerd.wallet.node.client import NodeClient
from ledgerd.wallet.operations.words import amount_words

KINDS = ("balance", "vesting_shares")


class BalanceStep(msgspec.Struct, frozen=True):
    """A balance of an account that would change."""

    account: str
    before: str
    after: str


class DryRun(msgspec.Struct, frozen=True):
    """What would happen. All of it is the node's word."""

    not_told: str = ""
    """Why the node has not tried it out."""
    broken_rule: str = ""
    balances: tuple[BalanceStep, ...] = ()
    virtual_operations: tuple[Any, ...] = ()
    """What the chain would do by itself because of it, as the network's JSON has it."""


def dry_run(node: NodeClient, transaction: Transaction) -> DryRun:
    text = codec_of(Transaction).to_json(transaction)
    try:
        found = node.call("node_api", "simulate_transaction", msgspec.json.decode(text))
    except NodeRefused as refused:
        return DryRun(not_told=str(refused).strip() or "it does not say why")
    with node.understood():
        if "broken_rule" in found:
            return DryRun(broken_rule=str(found["broken_rule"]["message"]).strip())
        virtual = tuple(each["operation"] for each in found["operations"] if each["virtual"])
        for each in virtual:
            codec_of(Operation).from_json(each)
        return DryRun("", "", tuple(step for each in found["balances"] for step in _steps(each)), virtual)


def _steps(record: dict[str, str]) -> list[BalanceStep]:
    pairs = [[_amount(record[f"{kind}_{when}"]) for when in ("before", "after")] for kind in KINDS]
    return [BalanceStep(str(record["account"]), before, after) for before, after in pairs if before != after]


def _amount(text: object) -> str:
    amount = codec_of(Asset).from_json(text)
    require(amount.symbol in (TOKEN_SYMBOL, SHARES_SYMBOL), "an amount of the network's")
    return amount_words(amount)
