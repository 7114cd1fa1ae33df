"""The check of authorities as the specification has it, without any memory: what `signing` must agree with.

Spec 01, section 10.2, and spec 10, sections 4.2 to 4.4. It walks an account each time it is met.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ledgerd.protocol.authorities.authority_check import (
    Accounts,
    Approvals,
    IrrelevantApproval,
    IrrelevantSignature,
    MissingActive,
    MissingAuthority,
    MissingMaster,
    MissingOther,
    MissingRegular,
)
from ledgerd.protocol.authorities.authority_web import MAX_DEPTH, PRE_APPROVED, GetAuthority
from ledgerd.protocol.authorities.operation_authority import AgentKeys, Verified
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.accounts.agents import NEVER_DELEGABLE
from ledgerd.protocol.operations.base import Authorities, Operation, name_of
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName


class PlainSigning:
    """The signatures and approvals given, which of them were used, and the walk."""

    def __init__(self, get: GetAuthority, provided: Iterable[PublicKey], approvals: Iterable[AccountName] = ()) -> None:
        self.get = get
        self.used = dict.fromkeys(provided, False)
        self.approved = {PRE_APPROVED: True} | dict.fromkeys(approvals, False)

    def copy(self) -> PlainSigning:
        other = PlainSigning(self.get, ())
        other.used, other.approved = self.used.copy(), self.approved.copy()
        return other

    def signed(self, key: PublicKey) -> bool:
        if key in self.used:
            self.used[key] = True
            return True
        return False

    def name_satisfied(self, name: AccountName) -> bool:
        if name in self.approved:
            self.approved[name] = True
            return True
        return self.satisfied(self.get(name))

    def satisfied(self, authority: Authority, depth: int = 0) -> bool:
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
        return total >= threshold

    def require_all_used(self) -> None:
        if not all(self.used.values()):
            raise IrrelevantSignature("Unnecessary signature(s) detected")
        if not all(self.approved.values()):
            raise IrrelevantApproval("Unnecessary approval(s) detected")

    @property
    def used_keys(self) -> set[PublicKey]:
        return {key for key, used in self.used.items() if used}

    @property
    def idle_approvals(self) -> set[AccountName]:
        return {name for name, asked in self.approved.items() if not asked}


def begin_plainly(
    required: Authorities, keys: Collection[PublicKey], accounts: Accounts, approvals: Approvals
) -> PlainSigning:
    if required.regular:
        return PlainSigning(accounts.regular, keys, approvals.regular)
    return PlainSigning(accounts.active, keys, (*approvals.active, *approvals.master))


def require_plainly(required: Authorities, accounts: Accounts, signing: PlainSigning, approvals: Approvals) -> None:
    """Before hardfork 15, and for proposals."""
    if required.regular:
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
        signing.require_all_used()
        return
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


def verify_plainly(
    operations: Sequence[Operation],
    asked: Sequence[Authorities],
    keys: Collection[PublicKey],
    accounts: Accounts,
    agent_keys: AgentKeys,
    *,
    allow_unused: bool,
) -> Verified:
    """Since hardfork 15."""
    if any(each.regular for each in asked):
        require(
            not any(each.active or each.master or each.other for each in asked),
            "all_active.empty() && all_master.empty() && all_other.empty(): ",
        )
    used: set[PublicKey] = set()
    is_plain = []
    for operation, required in zip(operations, asked, strict=True):
        used |= _checked(operation, required, keys, accounts, agent_keys)
        names = (*required.active, *required.regular)
        members = accounts.regular if required.regular else accounts.active
        is_plain.append(
            not (required.master or required.other)
            and len(names) == 1
            and PlainSigning(members, keys).name_satisfied(names[0])
        )
    if not allow_unused and not used.issuperset(keys):
        raise IrrelevantSignature("Unnecessary signature detected")
    return Verified(frozenset(used), tuple(is_plain))


def _checked(
    operation: Operation,
    required: Authorities,
    keys: Collection[PublicKey],
    accounts: Accounts,
    agent_keys: AgentKeys,
) -> set[PublicKey]:
    signing = PlainSigning(accounts.regular if required.regular else accounts.active, keys)
    title = name_of(type(operation))

    def ask(name: AccountName, higher: tuple[GetAuthority, ...], missing: type[MissingAuthority]) -> None:
        nonlocal signing
        attempt = signing.copy()
        if attempt.name_satisfied(name) or any(attempt.satisfied(get(name)) for get in higher):
            signing = attempt
            return
        agents = () if title in NEVER_DELEGABLE else agent_keys(name, title)
        if required.master or not any(signing.signed(key) for key in agents):
            raise missing.of(name)

    for authority in required.other:
        if not signing.satisfied(authority):
            raise MissingOther(authority, "Missing other authority")
    for name in required.active:
        ask(name, (accounts.master,), MissingActive)
    for name in required.regular:
        ask(name, (accounts.active, accounts.master), MissingRegular)
    for name in required.master:
        if not signing.satisfied(accounts.master(name)):
            raise MissingMaster.of(name)
    return signing.used_keys


def left_plainly(required: Authorities, keys: Collection[PublicKey], accounts: Accounts) -> Authorities:
    """Before an operation is carried out, since hardfork 15."""

    def is_proved(name: AccountName, *, regular: bool) -> bool:
        members = accounts.regular if regular else accounts.active
        return (
            PlainSigning(members, keys).name_satisfied(name)
            or (regular and PlainSigning(accounts.active, keys).satisfied(accounts.active(name)))
            or PlainSigning(members, keys).satisfied(accounts.master(name))
        )

    return Authorities(
        active=tuple(name for name in required.active if not is_proved(name, regular=False)),
        regular=tuple(name for name in required.regular if not is_proved(name, regular=True)),
    )
