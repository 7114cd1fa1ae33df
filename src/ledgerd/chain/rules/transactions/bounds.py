"""What a waiting transaction may cost before it is known to be valid. For one in a block there is no bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ledgerd.chain.ledger.ledger import Ledger, OutOfTime
from ledgerd.chain.rules.accounts.authorities import agents_of
from ledgerd.protocol.authorities.authority_check import IrrelevantSignature
from ledgerd.protocol.authorities.authority_web import MAX_DEPTH, MOST_MEMBERS, TooManyMembers
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AUTHORITY_BY_ACCOUNT

IDLE = 16
"""Signatures beyond those that could be used: up to so many the rules decide, in their order and with their texts."""

TRANSACTION_SECONDS = 0.1
"""Applying a transaction that waits takes so long at most, and the time of one operation more. One of 64 KB that does
what most do takes a fifth of that.
"""

QUICK_OPERATIONS = 32
"""So many of a transaction are never too slow: a machine that is busy with other things must not refuse what is small.
"""

MOST_ACCOUNTS = 256
"""Authorities and accounts with agents that are looked at; with more, the signatures are taken to be of use."""


def require_usable(ledger: Ledger, transaction: Transaction) -> None:
    """Refuse a transaction with more signatures than the authorities that it asks for, and their agents, have keys.

    The rules would recover all the keys first, and then say the same, or that an authority is missing.
    """
    count = len(transaction.signatures) - IDLE
    if count <= 0:
        return
    keys: set[PublicKey] = set()
    for met, usable in enumerate(_usable(ledger, transaction)):
        keys.update(usable)
        if len(keys) >= count or met >= MOST_ACCOUNTS:
            return
    raise IrrelevantSignature("Unnecessary signature(s) detected")


def _usable(ledger: Ledger, transaction: Transaction) -> Iterator[Iterable[PublicKey]]:
    for authority in _authorities(ledger, transaction):
        yield authority.key_auths
    if ledger.hardfork(15):
        required = transaction.required
        for name in (*required.active, *required.regular):
            yield [agent.agent_key for agent in agents_of(ledger.store, name)]


def _authorities(ledger: Ledger, transaction: Transaction) -> Iterator[Authority]:
    required = transaction.required
    yield from required.other
    names = {*required.active, *required.master, *required.regular}
    names.update(name for authority in required.other for name in authority.account_auths)
    met: set[AccountName] = set()
    for _ in range(MAX_DEPTH + 1):
        members: set[AccountName] = set()
        for name in sorted(names - met):
            known = ledger.store.lookup(AUTHORITY_BY_ACCOUNT, name)
            for authority in (known.active, known.master, known.regular) if known is not None else ():
                yield authority
                members.update(authority.account_auths)
        met |= names
        names = members


class BeyondMemberBound(RuleViolation):
    """A transaction that may be valid, and asks for too much to find that out. A block with it would be accepted."""


@contextmanager
def bounding_members(ledger: Ledger, most: int = MOST_MEMBERS) -> Iterator[None]:
    """Refuse what needs more looks at keys and members than so many; proposals that it carries out count with it."""
    try:
        with ledger.lookups.at_most(most):
            yield
    except TooManyMembers:
        raise BeyondMemberBound(
            f"The authorities that this transaction asks for have more than {most} keys and members to look at"
        ) from None


class BeyondTimeBound(RuleViolation):
    """The same of a transaction whose operations take too long: nine bytes may change two hundred validators."""


@contextmanager
def bounding_time(ledger: Ledger, is_late: Callable[[], bool]) -> Iterator[None]:
    """Refuse what is not through when its time is over; the operations of proposals that it carries out count with
    it.
    """
    carried_out = 0

    def is_over() -> bool:
        nonlocal carried_out
        carried_out += 1
        return carried_out > QUICK_OPERATIONS and is_late()

    ledger.is_late, before = is_over, ledger.is_late
    try:
        yield
    except OutOfTime:
        raise BeyondTimeBound(f"This transaction takes longer than {TRANSACTION_SECONDS} seconds to apply") from None
    finally:
        ledger.is_late = before
