"""What a transaction would do, as a node says that has tried it out and undone it (`node_api.simulate_transaction`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from ledgerd.codec import codec_of
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.assets import Asset
from ledgerd.sdk.amounts import Shares, Viz, amount_of

KINDS = ("balance", "vesting_shares")


class BalanceStep(msgspec.Struct, frozen=True):
    """A balance of an account that would change."""

    account: str
    before: Viz | Shares
    after: Viz | Shares


class DryRun(msgspec.Struct, frozen=True):
    """The effects that a transaction would have, as the node says."""

    not_told: str = ""
    """Why the node has not tried it out."""
    broken_rule: str = ""
    balances: tuple[BalanceStep, ...] = ()
    virtual_operations: tuple[Any, ...] = ()
    """The operations that the chain would add because of it, as JSON of the network."""


def dry_run_of(found: Mapping[str, Any]) -> DryRun:
    """The result, from a node's answer. A wrong answer raises what reading it raises."""
    if "broken_rule" in found:
        return DryRun(broken_rule=str(found["broken_rule"]["message"]).strip())
    virtual = tuple(each["operation"] for each in found["operations"] if each["virtual"])
    for each in virtual:
        codec_of(Operation).from_json(each)
    return DryRun("", "", tuple(step for each in found["balances"] for step in _steps(each)), virtual)


def _steps(record: Mapping[str, str]) -> Iterator[BalanceStep]:
    for kind in KINDS:
        before, after = (amount_of(codec_of(Asset).from_json(record[f"{kind}_{when}"])) for when in ("before", "after"))
        if before != after:
            yield BalanceStep(str(record["account"]), before, after)
