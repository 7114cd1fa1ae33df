"""Whether the keys that signed are the ones that operations require (spec 01, section 10).

Members are counted in their order and counting stops at the threshold, so a later key stays unused, and an unused key
fails the transaction: order is part of the rule.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple, Self

from ledgerd.protocol.authority import Authority
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName, word_order
from ledgerd.protocol.operations.base import Authorities, Operation

GetAuthority = Callable[[AccountName], Authority]

MAX_DEPTH = 2
"""How deep the members of members are looked up."""

PRE_APPROVED = AccountName("temp")
"""The account whose active and regular authority need no signature (spec 01, section 10.2, quirk)."""


class MissingAuthority(RuleViolation):
    """Accounts whose required authority was not given."""

    kind = ""

    def __init__(self, accounts: Iterable[AccountName], shown: AccountName | None = None) -> None:
        self.accounts = tuple(accounts)
        super().__init__(f"Missing {self.kind} Authority ${{id}}", id=list(self.accounts) if shown is None else shown)

    @classmethod
    def of(cls, account: AccountName) -> Self:
        """The first account that is missing, where each operation is looked at by itself (spec 10, section 4.6)."""
        return cls((account,), shown=account)


class MissingActive(MissingAuthority):
    """No sufficient active authority."""

    code, name, what = 3010000, "tx_missing_active_auth", "missing required active authority"
    kind = "Active"


class MissingMaster(MissingAuthority):
    """No sufficient master authority."""

    code, name, what = 3020000, "tx_missing_master_auth", "missing required master authority"
    kind = "Master"


class MissingRegular(MissingAuthority):
    """No sufficient regular authority."""

    code, name, what = 3030000, "tx_missing_regular_auth", "missing required regular authority"
    kind = "Regular"


class MissingOther(RuleViolation):
    """An authority that an operation spells out was not given."""

    code, name, what = 3040000, "tx_missing_other_auth", "missing required other authority"

    def __init__(self, authority: Authority, message: str = "Missing Authority") -> None:
        self.authority = authority
        super().__init__(message)


class IrrelevantSignature(RuleViolation):
    """A key that signed and is not required."""

    code, name, what = 3050000, "tx_irrelevant_sig", "irrelevant signature included"


class IrrelevantApproval(RuleViolation):
    """An account that approved and is not required."""

    code, name, what = 3070000, "tx_irrelevant_approval", "irrelevant approval included"


class Approvals(NamedTuple):
    """The accounts that have agreed to a proposal, by the authority that they agreed with."""

    active: tuple[AccountName, ...] = ()
    master: tuple[AccountName, ...] = ()
    regular: tuple[AccountName, ...] = ()


NO_APPROVALS = Approvals()


class Accounts(NamedTuple):
    """The lookup of authorities; each raises for an account that does not exist."""

    active: GetAuthority
    master: GetAuthority
    regular: GetAuthority


class Signing:
    """The signatures and approvals given, which of them were used, and the look-up of members."""

    def __init__(
        self, get: GetAuthority, provided: Iterable[PublicKey], *, available: Collection[PublicKey] = ()
    ) -> None:
        self.get = get
        self.used = dict.fromkeys(provided, False)
        self.available = available
        self.approved: dict[AccountName, bool] = {PRE_APPROVED: True}

    def copy(self) -> Signing:
        """The same, to be marked without marking this one."""
        other = Signing(self.get, (), available=self.available)
        other.used, other.approved = self.used.copy(), self.approved.copy()
        return other

    def signed(self, key: PublicKey) -> bool:
        """Whether a key has signed (or could sign); it counts as used from now on."""
        if key in self.used or key in self.available:
            self.used[key] = True
            return True
        return False

    def name_satisfied(self, name: AccountName) -> bool:
        """Whether an account has approved, or its authority is reached."""
        if name in self.approved:
            self.approved[name] = True
            return True
        return self.satisfied(self.get(name))

    def satisfied(self, authority: Authority, depth: int = 0) -> bool:
        """Whether an authority is reached. Marks that a failing branch has left stay."""
        threshold, total = authority.weight_threshold, 0
        for key, weight in authority.key_auths.items():
            if self.signed(key):
                total += weight
                if total >= threshold:
                    return True
        for name, weight in authority.account_auths.items():
            if name not in self.approved:
                if depth == MAX_DEPTH or not self.satisfied(self.get(name), depth + 1):
                    continue
                self.approved[name] = True
            total += weight
            if total >= threshold:
                return True
        # The reference adds weights in 32 bits, which 16-bit weights cannot overflow in a transaction's size.
        return total >= threshold

    def require_all_used(self) -> None:
        """Raise for a signature or an approval that was not used."""
        if not all(self.used.values()):
            raise IrrelevantSignature("Unnecessary signature(s) detected")
        if not all(self.approved.values()):
            raise IrrelevantApproval("Unnecessary approval(s) detected")

    def used_keys(self) -> set[PublicKey]:
        """The used keys."""
        return {key for key, used in self.used.items() if used}


def required_authorities(operations: Iterable[Operation]) -> Authorities:
    """The required authorities of all operations; each name once, in word order."""
    asked = [operation.authorities() for operation in operations]
    if len(asked) == 1:
        active, master, regular, _ = asked[0]
        if len(active) < 2 and len(master) < 2 and len(regular) < 2:
            return asked[0]
    return Authorities(
        in_word_order({name for each in asked for name in each.active}),
        in_word_order({name for each in asked for name in each.master}),
        in_word_order({name for each in asked for name in each.regular}),
        tuple(authority for each in asked for authority in each.other),
    )


def in_word_order(names: Iterable[AccountName]) -> tuple[AccountName, ...]:
    """Names in the order in which the reference walks its sets."""
    found = tuple(names)
    return found if len(found) < 2 else tuple(sorted(found, key=word_order))


def verify_authority(
    operations: Iterable[Operation],
    keys: Iterable[PublicKey],
    accounts: Accounts,
    approvals: Approvals = NO_APPROVALS,
) -> None:
    """Raise unless the keys and approvals are exactly what the operations require."""
    verify_required(required_authorities(operations), keys, accounts, approvals)


def verify_required(
    required: Authorities,
    keys: Iterable[PublicKey],
    accounts: Accounts,
    approvals: Approvals = NO_APPROVALS,
) -> None:
    """Raise unless the keys and approvals are exactly what is required."""
    if required.regular:
        _verify_regular(required, keys, accounts, approvals)
        return
    signing = Signing(accounts.active, keys)
    signing.approved |= dict.fromkeys((*approvals.active, *approvals.master), False)
    for authority in required.other:
        if not signing.satisfied(authority):
            raise MissingOther(authority)
    missing = [
        name
        for name in required.active
        if not (signing.name_satisfied(name) or signing.satisfied(accounts.master(name)))
    ]
    if missing:
        raise MissingActive(missing)
    for name in required.master:
        if name in approvals.master or signing.satisfied(accounts.master(name)):
            signing.approved[name] = True
        else:
            missing.append(name)
    if missing:
        raise MissingMaster(missing)
    signing.require_all_used()


def _verify_regular(required: Authorities, keys: Iterable[PublicKey], accounts: Accounts, approvals: Approvals) -> None:
    """With regular authority, no other may be required in the same transaction."""
    require(not required.active, "required_active.size() == 0: ")
    require(not required.master, "required_master.size() == 0: ")
    require(not required.other, "other.size() == 0: ")
    signing = Signing(accounts.regular, keys)
    signing.approved |= dict.fromkeys(approvals.regular, False)
    missing = [
        name
        for name in required.regular
        if not (
            signing.name_satisfied(name)
            or signing.satisfied(accounts.active(name))
            or signing.satisfied(accounts.master(name))
        )
    ]
    if missing:
        raise MissingRegular(missing)
    signing.require_all_used()
