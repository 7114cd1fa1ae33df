"""The keys that must sign a transaction, and checks of signatures (spec 05, sections 9.19 to 9.23; spec 10, sections
4.6 and 10.5). Since hardfork 15 each operation is checked by itself, and agents count.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress

from ledgerd.chain.rules.accounts.authorities import agent_keys
from ledgerd.protocol.authorities.authority_check import Accounts, MissingAuthority, MissingOther
from ledgerd.protocol.authorities.authority_check import verify_authority as verify
from ledgerd.protocol.authorities.authority_web import MOST_MEMBERS, GetAuthority, Lookups, TooManyMembers, Web
from ledgerd.protocol.authorities.operation_authority import AgentKeys, TransactionKeys, verify_operations
from ledgerd.protocol.authorities.signing import Signing
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import MAX_TRANSACTION_SIZE
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations import Authorities, Operation
from ledgerd.protocol.operations.accounts.proposals import SortedKeys
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.errors import INVALID_REQUEST, PlainError
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.errors import UnknownKey
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME, AUTHORITY_BY_ACCOUNT, AccountAuthority
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, HARDFORK_PROPERTIES
from ledgerd.state.views.view import View

TOO_MANY = f"The authorities of this transaction have more than {MOST_MEMBERS} keys and members to look at"

_MISSING = (MissingAuthority, MissingOther)


@DATABASE_API.method(args=exactly(1))
def get_transaction_hex(view: ApiView, transaction: Transaction) -> str:  # noqa: ARG001
    """The bytes of a transaction, signatures included."""
    return transaction.packed.hex()


@DATABASE_API.method(args=exactly(2))
def get_required_signatures(view: ApiView, transaction: Transaction, available_keys: SortedKeys) -> SortedKeys:
    """The keys, of those that a signer has, that must sign a transaction."""
    available, accounts = set(available_keys), _accounts(view.state)
    with _refusals():
        if _has_agents(view.state):
            return tuple(_required_of_operations(view, transaction, available, accounts))
        return tuple(_walk(view, transaction, available, accounts) & available)


def _required_of_operations(
    view: ApiView, transaction: Transaction, available: set[PublicKey], accounts: Accounts
) -> set[PublicKey]:
    """If the keys suffice, those that are used; else every key that counts in some way."""
    candidates = TransactionKeys(available | _signature_keys(view, transaction), accounts)
    agents = _agents(view.state)

    def used(operations: tuple[Operation, ...], asked: tuple[Authorities, ...]) -> frozenset[PublicKey]:
        return verify_operations(operations, asked, candidates, agents, allow_unused=True).used

    with suppress(*_MISSING):
        return available & used(transaction.operations, transaction.required_each)
    useful = _walk(view, transaction, available, accounts)
    for operation, required in zip(transaction.operations, transaction.required_each, strict=True):
        with suppress(*_MISSING):
            useful |= used((operation,), (required,))
    return useful & available


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

    collected = Accounts(
        collecting(accounts.active), collecting(accounts.master), collecting(accounts.regular), accounts.lookups
    )
    with _refusals():
        _walk(view, transaction, (), collected)
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
    required = transaction.required
    keys = _signature_keys(view, transaction).union(available)

    def begin(get: GetAuthority) -> Signing:
        return Signing(Web(get, keys, accounts.lookups))

    if required.regular:
        signing = begin(accounts.regular)
        require(not required.master, "!required_master.size(): ")
        require(not required.active, "!required_active.size(): ")
        _ask(signing.name_satisfied, required.regular)
        return signing.used_keys
    signing = begin(accounts.active)
    _ask(signing.satisfied, required.other)
    _ask(signing.name_satisfied, required.active)
    by_master = begin(accounts.master)
    _ask(by_master.name_satisfied, required.master)
    return signing.used_keys | by_master.used_keys


def _ask(is_satisfied: Callable[..., bool], asked: Collection[object]) -> None:
    for each in asked:
        is_satisfied(each)


@contextmanager
def _refusals() -> Iterator[None]:
    """What is no violation of a rule, as the answer has it."""
    try:
        yield
    except UnknownKey as error:
        raise PlainError(error.what) from None
    except TooManyMembers:
        raise PlainError(TOO_MANY, INVALID_REQUEST) from None


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
    signed, accounts = _signature_keys(view, transaction), _accounts(view.state)
    if _has_agents(view.state):
        keys = TransactionKeys(signed, accounts)
        with _refusals():
            verify_operations(transaction.operations, transaction.required_each, keys, _agents(view.state))
        return True
    try:
        verify(transaction.operations, signed, accounts)
    except TooManyMembers:
        raise PlainError(TOO_MANY, INVALID_REQUEST) from None
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
    lookups = Lookups(MOST_MEMBERS)

    def known(name: AccountName) -> AccountAuthority:
        found = state.at(AUTHORITY_BY_ACCOUNT, name)
        # To decode all three takes longer than to look at the one that is asked for.
        lookups.count(sum(len(each.account_auths) for each in (found.master, found.active, found.regular)))
        return found

    return Accounts(
        active=lambda name: known(name).active,
        master=lambda name: known(name).master,
        regular=lambda name: known(name).regular,
        lookups=lookups,
    )
