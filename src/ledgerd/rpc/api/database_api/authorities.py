"""The keys that must sign a transaction, and checks of signatures (spec 05, sections 9.19 to 9.23; spec 10, sections
4.6 and 10.5).

Since hardfork 15 each operation is checked by itself, and agents count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

from ledgerd.chain.rules.accounts.agents import agent_keys
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.authority_check import (
    Accounts,
    GetAuthority,
    MissingAuthority,
    MissingOther,
    Signing,
)
from ledgerd.protocol.authority_check import verify_authority as verify
from ledgerd.protocol.constants import MAX_TRANSACTION_SIZE
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import NO_NAME, AccountName
from ledgerd.protocol.operation_authority import AgentKeys, verify_operations
from ledgerd.protocol.operations import Authorities, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.proposals import SortedKeys
from ledgerd.protocol.operations.transfers import Transfer
from ledgerd.protocol.transaction import Transaction
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.errors import INVALID_REQUEST, PlainError
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.errors import UnknownKey
from ledgerd.state.objects.accounts import ACCOUNT_BY_NAME, AUTHORITY_BY_ACCOUNT
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.hardfork import HARDFORK_PROPERTIES

if TYPE_CHECKING:
    from ledgerd.protocol.authority import Authority
    from ledgerd.state.view import View

_MISSING = (MissingAuthority, MissingOther)


@DATABASE_API.method(args=exactly(1))
def get_transaction_hex(view: ApiView, transaction: Transaction) -> str:  # noqa: ARG001
    """The bytes of a transaction, signatures included."""
    return transaction.packed.hex()


@DATABASE_API.method(args=exactly(2))
def get_required_signatures(view: ApiView, transaction: Transaction, available_keys: SortedKeys) -> SortedKeys:
    """The keys, of those that a signer has, that must sign a transaction."""
    available = set(available_keys)
    if _has_agents(view.state):
        return tuple(_required_of_operations(view, transaction, available))
    used = _walk(view, transaction, available, _accounts(view.state))
    return tuple(used & available)


def _required_of_operations(view: ApiView, transaction: Transaction, available: set[PublicKey]) -> set[PublicKey]:
    """If the keys suffice, those that are used; else every key that counts in some way."""
    candidates = available | _signature_keys(view, transaction)
    with suppress(*_MISSING):
        return available & _used(view.state, transaction.operations, transaction.required_each, candidates)
    useful = _walk(view, transaction, available, _accounts(view.state))
    for operation, required in zip(transaction.operations, transaction.required_each, strict=True):
        with suppress(*_MISSING):
            useful |= _used(view.state, (operation,), (required,), candidates)
    return useful & available


def _used(
    state: View, operations: tuple[Operation, ...], asked: tuple[Authorities, ...], keys: set[PublicKey]
) -> frozenset[PublicKey]:
    try:
        return verify_operations(operations, asked, keys, _accounts(state), _agents(state), allow_unused=True).used
    except UnknownKey as error:
        raise PlainError(error.what) from None


@DATABASE_API.method(args=exactly(1))
def get_potential_signatures(view: ApiView, transaction: Transaction) -> SortedKeys:
    """All keys that could sign a transaction: those of each required authority, and of the accounts in it."""
    accounts = _accounts(view.state)
    found: set[PublicKey] = set()

    def collecting(get: GetAuthority) -> GetAuthority:
        def collected(name: AccountName) -> Authority:
            authority = get(name)
            found.update(authority.key_auths)
            return authority

        return collected

    _walk(view, transaction, (), Accounts(*map(collecting, accounts)))
    if _has_agents(view.state):
        agents = _agents(view.state)
        for operation, required in zip(transaction.operations, transaction.required_each, strict=True):
            found.update(_keys_of_agents(operation, required, agents))
    return tuple(found)


def _keys_of_agents(operation: Operation, required: Authorities, agents: AgentKeys) -> Iterator[PublicKey]:
    """Whether the operation can be delegated at all is not checked here (spec 10, section 10.4)."""
    if not required.master:
        for name in (*required.active, *required.regular):
            yield from agents(name, name_of(type(operation)))


def _walk(
    view: ApiView, transaction: Transaction, available: Collection[PublicKey], accounts: Accounts
) -> set[PublicKey]:
    """Marks the keys that a check of authorities uses, of present and of possible signatures."""
    required = transaction.required
    signed = _signature_keys(view, transaction)
    try:
        if required.regular:
            signing = Signing(accounts.regular, signed, available=available)
            require(not required.master, "!required_master.size(): ")
            require(not required.active, "!required_active.size(): ")
            _ask(signing.name_satisfied, required.regular)
            return signing.used_keys()
        signing = Signing(accounts.active, signed, available=available)
        _ask(signing.satisfied, required.other)
        _ask(signing.name_satisfied, required.active)
        by_master = Signing(accounts.master, signed, available=available)
        _ask(by_master.name_satisfied, required.master)
    except UnknownKey as error:
        raise PlainError(error.what) from None
    return signing.used_keys() | by_master.used_keys()


def _ask(is_satisfied: Callable[..., bool], asked: Collection[object]) -> None:
    """Check each authority, which marks the keys that are used."""
    for each in asked:
        is_satisfied(each)


@DATABASE_API.method(args=exactly(1))
def verify_authority(view: ApiView, transaction: Transaction) -> bool:
    """True if a transaction is signed by exactly the keys that it needs; else an error with the reason."""
    return _verified(view, transaction)


@DATABASE_API.method(args=exactly(2))
def verify_account_authority(view: ApiView, account: AccountName, signers: SortedKeys) -> bool:  # noqa: ARG001
    """True for an account that needs no signature; the keys are ignored, as in the reference."""
    require(account, "name.size() > 0: ")
    require(view.state.lookup(ACCOUNT_BY_NAME, account), "account: no such account")
    nothing = Transfer(account, NO_NAME, tokens(0), "")
    return _verified(view, Transaction(0, 0, 0, (nothing,), (), ()))


def _verified(view: ApiView, transaction: Transaction) -> bool:
    signed = _signature_keys(view, transaction)
    if _has_agents(view.state):
        try:
            verify_operations(
                transaction.operations,
                transaction.required_each,
                signed,
                _accounts(view.state),
                _agents(view.state),
            )
        except UnknownKey as error:
            raise PlainError(error.what) from None
        return True
    try:
        verify(transaction.operations, signed, _accounts(view.state))
    except UnknownKey as error:
        raise error.under() from None
    except RuleViolation as error:
        raise error.under().under() from None
    return True


def _signature_keys(view: ApiView, transaction: Transaction) -> frozenset[PublicKey]:
    """The keys that signed. A transaction that is too large for any block is refused before its keys are recovered."""
    if len(transaction.packed) > MAX_TRANSACTION_SIZE:
        raise PlainError(f"A transaction has at most {MAX_TRANSACTION_SIZE} bytes", INVALID_REQUEST)
    try:
        return transaction.signature_keys(view.network.chain_id)
    except RuleViolation as error:
        raise error.under() from None


def _has_agents(state: View) -> bool:
    return state.get(HARDFORK_PROPERTIES, 0).has(15)


def _agents(state: View) -> AgentKeys:
    return agent_keys(state, state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).time)


def _accounts(state: View) -> Accounts:
    return Accounts(
        active=lambda name: state.at(AUTHORITY_BY_ACCOUNT, name).active,
        master=lambda name: state.at(AUTHORITY_BY_ACCOUNT, name).master,
        regular=lambda name: state.at(AUTHORITY_BY_ACCOUNT, name).regular,
    )
