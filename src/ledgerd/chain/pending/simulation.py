"""What a transaction would do if it were pushed now: it is applied on top of those that wait, and undone at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ledgerd.chain.ledger.events import AppliedOperation
from ledgerd.chain.ledger.ledger import Ledger, OutOfTime
from ledgerd.chain.ledger.skip import UNSIGNED, Skip
from ledgerd.chain.rules.transactions.bounds import require_usable
from ledgerd.chain.rules.transactions.transactions import apply_transaction, check_signers
from ledgerd.chain.rules.validators.slots import slot_time
from ledgerd.protocol.authorities.authority_check import MissingAuthority, MissingOther
from ledgerd.protocol.authorities.operation_authority import TransactionKeys
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.store import Store


class NeededAuthority(NamedTuple):
    """An authority that the operations ask for and the signatures do not reach."""

    role: str
    account: AccountName = NO_NAME
    """No name where an operation spells the authority out."""


class BalanceChange(NamedTuple):
    """What an account has before and after."""

    account: AccountName
    tokens: tuple[int, int]
    shares: tuple[int, int]


class SimulatedEffects(NamedTuple):
    """What a transaction would do."""

    operations: tuple[AppliedOperation, ...]
    """Its own and the virtual ones that follow from them, in order."""
    not_checked: tuple[NeededAuthority, ...]
    """Taken to be given, since the signatures do not prove it."""
    balances: tuple[BalanceChange, ...]


class _Report(list[AppliedOperation]):
    """The reported operations; the one for which no time is left ends it."""

    def __init__(self, is_late: Callable[[], bool]) -> None:
        super().__init__()
        self._is_late = is_late

    def append(self, operation: AppliedOperation) -> None:
        _require_time(self._is_late)
        super().append(operation)


def simulate(ledger: Ledger, transaction: Transaction, is_late: Callable[[], bool]) -> SimulatedEffects:
    """Apply a transaction and undo it, or raise `RuleViolation`, or `OutOfTime`. Missing authorities are not asked
    for.
    """
    require_usable(ledger, transaction)
    not_checked = _not_given(ledger, transaction, is_late)
    report = _Report(is_late)
    with _reporting_here(ledger, report), ledger.store.begin():
        apply_transaction(ledger, transaction, UNSIGNED if not_checked else Skip.NOTHING)
        balances = tuple(_balances(ledger.store))
    return SimulatedEffects(tuple(report), not_checked, balances)


@contextmanager
def _reporting_here(ledger: Ledger, report: list[AppliedOperation]) -> Iterator[None]:
    """Operations are reported here alone, and are checked as new ones, in the block of the next slot."""
    kept = ledger.operations, ledger.samplers
    ledger.operations, ledger.samplers = report, {}
    ledger.is_producing = True
    ledger.cursor.time = slot_time(ledger, 1)
    try:
        yield
    finally:
        ledger.is_producing = False
        ledger.operations, ledger.samplers = kept


def _not_given(ledger: Ledger, transaction: Transaction, is_late: Callable[[], bool]) -> tuple[NeededAuthority, ...]:
    """The authorities that the signatures do not reach; none if they pass the rules."""
    keys = transaction.signature_keys(ledger.network.chain_id)
    try:
        check_signers(ledger, transaction, keys)
    except (MissingAuthority, MissingOther):
        return tuple(_not_reached(ledger, transaction, keys, is_late))
    return ()


def _not_reached(
    ledger: Ledger, transaction: Transaction, keys: Collection[PublicKey], is_late: Callable[[], bool]
) -> Iterator[NeededAuthority]:
    required, accounts = transaction.required, ledger.authorities
    signed = TransactionKeys(keys, accounts)
    for authority in required.other:
        _require_time(is_late)
        if not signed.begin(accounts.active).satisfied(authority):
            yield NeededAuthority("other")
    roles = (
        ("regular", required.regular, accounts.regular, (accounts.regular, accounts.active, accounts.master)),
        ("active", required.active, accounts.active, (accounts.active, accounts.master)),
        ("master", required.master, accounts.active, (accounts.master,)),
    )
    for role, names, members, own in roles:
        for name in names:
            _require_time(is_late)
            if not any(signed.begin(members).satisfied(get(name)) for get in own):
                yield NeededAuthority(role, name)


def _balances(store: Store) -> Iterator[BalanceChange]:
    for before, after in store.last_changes(ACCOUNTS):
        if after is None:
            continue  # no rule removes an account
        was = (before.balance, before.vesting_shares) if before is not None else (0, 0)
        now = after.balance, after.vesting_shares
        if was != now:
            yield BalanceChange(after.name, (was[0], now[0]), (was[1], now[1]))


def _require_time(is_late: Callable[[], bool]) -> None:
    if is_late():
        raise OutOfTime
