"""Whether the keys that signed are the ones that operations require (spec 01, section 10)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple, Self

from ledgerd.protocol.authorities.authority_web import GetAuthority, Lookups, Web
from ledgerd.protocol.authorities.signing import Signing
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.base import Authorities, Operation
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName, word_order


class MissingAuthority(RuleViolation):
    """The authority of some accounts is required and was not given."""

    kind = ""

    def __init__(self, accounts: Iterable[AccountName], shown: AccountName | None = None) -> None:
        self.accounts = tuple(accounts)
        super().__init__(f"Missing {self.kind} Authority ${{id}}", id=list(self.accounts) if shown is None else shown)

    @classmethod
    def of(cls, account: AccountName) -> Self:
        """The error for one account, where each operation is checked by itself (spec 10, section 4.6)."""
        return cls((account,), shown=account)


class MissingActive(MissingAuthority):
    """The active authority of some accounts is not sufficient."""

    code, name, what = 3010000, "tx_missing_active_auth", "missing required active authority"
    kind = "Active"


class MissingMaster(MissingAuthority):
    """The master authority of some accounts is not sufficient."""

    code, name, what = 3020000, "tx_missing_master_auth", "missing required master authority"
    kind = "Master"


class MissingRegular(MissingAuthority):
    """The regular authority of some accounts is not sufficient."""

    code, name, what = 3030000, "tx_missing_regular_auth", "missing required regular authority"
    kind = "Regular"


class MissingOther(RuleViolation):
    """An authority that is written in an operation was not given."""

    code, name, what = 3040000, "tx_missing_other_auth", "missing required other authority"

    def __init__(self, authority: Authority, message: str = "Missing Authority") -> None:
        self.authority = authority
        super().__init__(message)


class IrrelevantSignature(RuleViolation):
    """Some key has signed that is not required."""

    code, name, what = 3050000, "tx_irrelevant_sig", "irrelevant signature included"


class IrrelevantApproval(RuleViolation):
    """Some account has approved that is not required."""

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
    lookups: Lookups | None = None
    """What checks have learned of members, for the next ones; if None, each check starts without it."""


def required_authorities(operations: Sequence[Operation]) -> Authorities:
    """The required authorities of all operations; each name once, in word order."""
    if len(operations) == 1:
        only = operations[0].authorities()
        active, master, regular, _ = only
        if len(active) < 2 and len(master) < 2 and len(regular) < 2:
            return only
    asked = [operation.authorities() for operation in operations]
    return Authorities(
        in_word_order({name for each in asked for name in each.active}),
        in_word_order({name for each in asked for name in each.master}),
        in_word_order({name for each in asked for name in each.regular}),
        tuple(authority for each in asked for authority in each.other),
    )


def in_word_order(names: Iterable[AccountName]) -> tuple[AccountName, ...]:
    found = tuple(names)
    return found if len(found) < 2 else tuple(sorted(found, key=word_order))


def verify_authority(
    operations: Sequence[Operation],
    keys: Collection[PublicKey],
    accounts: Accounts,
    approvals: Approvals = NO_APPROVALS,
) -> None:
    verify_required(required_authorities(operations), keys, accounts, approvals)


def verify_required(
    required: Authorities,
    keys: Collection[PublicKey],
    accounts: Accounts,
    approvals: Approvals = NO_APPROVALS,
) -> None:
    require_satisfied(required, accounts, begin_signing(required, keys, accounts, approvals), approvals)


def begin_signing(
    required: Authorities, keys: Collection[PublicKey], accounts: Accounts, approvals: Approvals
) -> Signing:
    if required.regular:
        return Signing(Web(accounts.regular, keys, accounts.lookups, approvals.regular))
    return Signing(Web(accounts.active, keys, accounts.lookups, (*approvals.active, *approvals.master)))


def require_satisfied(required: Authorities, accounts: Accounts, signing: Signing, approvals: Approvals) -> None:
    """Raise unless everything that is required is given, and nothing else; the keys that were used stay marked."""
    if required.regular:
        _require_regular(required, accounts, signing)
    else:
        _require_other_kinds(required, accounts, signing, approvals)
    if not signing.has_used_all:
        raise IrrelevantSignature("Unnecessary signature(s) detected")
    if signing.idle_approvals:
        raise IrrelevantApproval("Unnecessary approval(s) detected")


def _require_other_kinds(required: Authorities, accounts: Accounts, signing: Signing, approvals: Approvals) -> None:
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
            signing.approve(name)
        else:
            missing.append(name)
    if missing:
        raise MissingMaster(missing)


def _require_regular(required: Authorities, accounts: Accounts, signing: Signing) -> None:
    """Raise unless the regular authorities are given. No other authority may be required in the same transaction."""
    require(not required.active, "required_active.size() == 0: ")
    require(not required.master, "required_master.size() == 0: ")
    require(not required.other, "other.size() == 0: ")
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
