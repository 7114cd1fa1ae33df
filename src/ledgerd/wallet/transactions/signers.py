"""Which keys sign a transaction: no more than are needed, and none of more power than is needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

from ledgerd.protocol.authority import Authority
from ledgerd.protocol.authority_check import (
    Accounts,
    IrrelevantApproval,
    IrrelevantSignature,
    verify_required,
)
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import Authorities
from ledgerd.wallet.errors import KeyNotFound

GetAuthorities = Callable[[AccountName], tuple[Authority, Authority, Authority]]
"""The regular, active and master authority of an account, which must exist."""

REGULAR, ACTIVE, MASTER = range(3)
MEMBERS_DEPTH = 3
"""How deep accounts stand in for accounts: as deep as the network looks."""


class Power:
    """How much each key could do: the network's check is asked with the least powerful keys first."""

    def __init__(self, get: GetAuthorities) -> None:
        self._get = get
        self._known: dict[AccountName, tuple[Authority, Authority, Authority]] = {}
        self.of_key: dict[PublicKey, int] = {}

    def authorities(self, name: AccountName) -> tuple[Authority, Authority, Authority]:
        """Of an account, asked once."""
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._get(name)
        return found

    def learn(self, names: Iterable[AccountName]) -> None:
        """Look at all keys that could sign for these accounts, members of members included."""
        seen: set[AccountName] = set()
        level = set(names)
        for _ in range(MEMBERS_DEPTH):
            seen |= level
            for name in sorted(level):
                for power, authority in enumerate(self.authorities(name)):
                    for key in authority.key_auths:
                        self.of_key[key] = max(power, self.of_key.get(key, REGULAR))
            members = {each for name in level for auth in self.authorities(name) for each in auth.account_auths}
            level = members - seen


def choose_signers(required: Authorities, available: Collection[PublicKey], get: GetAuthorities) -> list[PublicKey]:
    """The keys that have to sign, in the order of their bytes.

    Raises:
        KeyNotFound: The wallet's keys do not suffice; says for whom.
    """
    power = Power(get)
    power.learn((*required.active, *required.master, *required.regular))
    for authority in required.other:
        power.learn(authority.account_auths)
        for key in authority.key_auths:
            power.of_key.setdefault(key, ACTIVE)
    accounts = Accounts(
        active=lambda name: power.authorities(name)[ACTIVE],
        master=lambda name: power.authorities(name)[MASTER],
        regular=lambda name: power.authorities(name)[REGULAR],
    )
    chosen = {key for key in available if key in power.of_key}
    problem = _missing(required, chosen, accounts)
    if problem is not None:
        raise KeyNotFound(f"the keys of the wallet do not suffice: {problem}")
    for key in sorted(chosen, key=lambda each: (-power.of_key[each], each)):
        if _missing(required, chosen - {key}, accounts) is None:
            chosen.discard(key)
    return sorted(chosen)


def _missing(required: Authorities, keys: Collection[PublicKey], accounts: Accounts) -> str | None:
    """Whose authority is not reached; a key too many is no fault here."""
    try:
        verify_required(required, keys, accounts)
    except (IrrelevantSignature, IrrelevantApproval):
        return None
    except RuleViolation as problem:
        return problem.message
    return None
