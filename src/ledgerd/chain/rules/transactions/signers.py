"""Whether those have signed whom a transaction asks for (spec 01, section 10; since hardfork 15 spec 10, section 4)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.agents import agent_keys
from ledgerd.protocol.authority_check import MissingActive, verify_required
from ledgerd.protocol.block_exceptions import EXCEPTED_BLOCKS
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.operation_authority import (
    TransactionKeys,
    is_signed_by_one_key,
    left_to_agents,
    require_agents,
    verify_operations,
)
from ledgerd.protocol.operations import Authorities, Operation
from ledgerd.protocol.transaction import Transaction


class SignedByAgents(NamedTuple):
    """The names in an operation for which only agents have signed, as things stood before the transaction."""

    operation: Operation
    names: Authorities
    keys: Collection[PublicKey]

    def ask_again(self, ledger: Ledger) -> None:
        """An operation before this one may have removed an agent, or changed what it may sign."""
        require_agents(self.operation, self.names, self.keys, agent_keys(ledger.store, ledger.now))


LeftToAgents = Mapping[int, SignedByAgents]
"""By their places in a transaction, the operations to ask again about before they are carried out."""

NOTHING_LEFT: LeftToAgents = {}


def check_signers(ledger: Ledger, transaction: Transaction, keys: Collection[PublicKey] | None = None) -> LeftToAgents:
    """Whoever the operations ask for has signed, and nobody else. `keys` are those that signed, where that is known."""
    if keys is None:
        keys = transaction.signature_keys(ledger.network.chain_id)
    if ledger.hardfork(15):
        return _check_operations(ledger, transaction, keys)
    required = transaction.required
    if is_signed_by_one_key(required, keys, ledger.authorities):
        return NOTHING_LEFT
    try:
        verify_required(required, keys, ledger.authorities)
    except MissingActive:
        if not _is_excepted(ledger):
            raise
    return NOTHING_LEFT


def _check_operations(ledger: Ledger, transaction: Transaction, keys: Collection[PublicKey]) -> LeftToAgents:
    """Nothing is looked at twice for operations that their accounts' own keys have signed in the plain way."""
    operations, asked, accounts = transaction.operations, transaction.required_each, ledger.authorities
    if len(asked) == 1 and is_signed_by_one_key(asked[0], keys, accounts):
        return NOTHING_LEFT
    signed = TransactionKeys(keys, accounts)
    try:
        is_plain = verify_operations(operations, asked, signed, agent_keys(ledger.store, ledger.now)).is_plain
    except MissingActive:
        if not _is_excepted(ledger):
            raise
        is_plain = (False,) * len(operations)
    if all(is_plain) or not keys:
        return NOTHING_LEFT
    left = {}
    for place, operation in enumerate(operations):
        if not is_plain[place]:
            names = left_to_agents(asked[place], signed)
            if names.active or names.regular:
                left[place] = SignedByAgents(operation, names, keys)
    return left


def _is_excepted(ledger: Ledger) -> bool:
    """Whether the coming block is one of those that are let through."""
    return ledger.head_number + 1 in EXCEPTED_BLOCKS
