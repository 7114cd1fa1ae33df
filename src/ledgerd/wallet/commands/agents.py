"""Agents of an account: keys that may sign some operations for it, granted, listed and revoked."""

from __future__ import annotations

from collections.abc import Sequence

from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey, public_key_text
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.operations.fields import operation_named
from ledgerd.wallet.commands.result import CommandResult
from ledgerd.wallet.commands.sending import Choices, send
from ledgerd.wallet.node.ledger import LedgerReader


def grant(
    choices: Choices, account: str, name: str, key: PublicKey, operations: Sequence[str], expiration: int
) -> CommandResult:
    wire = sorted({_wire_name(each) for each in operations})
    permission = SetAgentPermission(AccountName(account), AccountName(name), key, tuple(wire), expiration, (), ())
    return send(choices, lambda _: [permission])


def revoke(choices: Choices, account: str, name: str) -> CommandResult:
    nothing = SetAgentPermission(AccountName(account), AccountName(name), NULL_KEY, (), 0, (), ())
    return send(choices, lambda _: [nothing])


def list_agents(choices: Choices, account: str) -> CommandResult:
    with choices.checked_node() as (node, _):
        ledger = LedgerReader(node)
        ledger.account(account)
        found = ledger.agents(account)
    agents = [
        {
            "name": each.name,
            "key": public_key_text(each.key),
            "operations": list(each.operations),
            "expiration": each.expiration,
            "expired": each.is_expired,
        }
        for each in found
    ]
    return {"account": account, "agents": agents}


def _wire_name(name: str) -> str:
    """An operation by its name, or that of its command; others are refused by the protocol."""
    found = operation_named(name)
    return name if found is None else name_of(found)
