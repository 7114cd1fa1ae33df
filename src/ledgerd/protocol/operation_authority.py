"""Whether each operation is signed, by keys of its account or of an agent (spec 10, section 4).

These are the rules since hardfork 15. Before, and always for proposals, `authority_check` checks all operations
together. The caller passes in the agents of an account.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from ledgerd.protocol.authority_check import (
    PRE_APPROVED,
    Accounts,
    GetAuthority,
    IrrelevantSignature,
    MissingActive,
    MissingAuthority,
    MissingMaster,
    MissingOther,
    MissingRegular,
    Signing,
)
from ledgerd.protocol.errors import require
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.agents import NEVER_DELEGABLE
from ledgerd.protocol.operations.base import Authorities, Operation, name_of

AgentKeys = Callable[[AccountName, str], Iterable[PublicKey]]
"""The keys of an account's live agents that may sign operations of a name, in the order of the agents."""


class Verified(NamedTuple):
    """The result of a successful check."""

    used: frozenset[PublicKey]
    is_plain: tuple[bool, ...]
    """For each operation, whether it requires one active or regular authority only, which its members satisfy."""


def verify_operations(
    operations: Sequence[Operation],
    asked: Sequence[Authorities],
    keys: Collection[PublicKey],
    accounts: Accounts,
    agent_keys: AgentKeys,
    *,
    allow_unused: bool = False,
) -> Verified:
    """Raise unless every operation has what is `asked` of it, and no other keys have signed.

    Only the first missing authority is named.
    """
    if any(each.regular for each in asked):
        require(
            not any(each.active or each.master or each.other for each in asked),
            "all_active.empty() && all_master.empty() && all_other.empty(): ",
        )
    used: set[PublicKey] = set()
    is_plain = []
    for operation, required in zip(operations, asked, strict=True):
        signing = _plain(required, keys, accounts)
        is_plain.append(signing is not None)
        if signing is None:
            signing = _Check(operation, required, keys, accounts, agent_keys).run()
        used |= signing.used_keys()
    if not allow_unused and not used.issuperset(keys):
        raise IrrelevantSignature("Unnecessary signature detected")
    return Verified(frozenset(used), tuple(is_plain))


def is_signed_plainly(required: Authorities, keys: Collection[PublicKey], accounts: Accounts) -> bool:
    """Whether a transaction of one operation needs no further check: the usual case, which is cheap.

    Most are signed with one key, which is enough by itself.
    """
    if len(keys) == 1 and not required.master and not required.other:
        names = required.active or required.regular
        if len(required.active) + len(required.regular) == 1 and names[0] != PRE_APPROVED:
            authority = (accounts.regular if required.regular else accounts.active)(names[0])
            (key,) = keys
            if authority.key_auths.get(key, -1) >= authority.weight_threshold:
                return True
    signing = _plain(required, keys, accounts)
    return signing is not None and all(signing.used.values())


def _plain(required: Authorities, keys: Collection[PublicKey], accounts: Accounts) -> Signing | None:
    """One account is required, and its own members satisfy its authority."""
    active, master, regular, other = required
    if master or other or len(active) + len(regular) != 1:
        return None
    signing = Signing(accounts.regular if regular else accounts.active, keys)
    return signing if signing.name_satisfied((active or regular)[0]) else None


class _Check:
    """The check of one operation. Its marks of used keys do not affect the next one."""

    def __init__(
        self,
        operation: Operation,
        required: Authorities,
        keys: Collection[PublicKey],
        accounts: Accounts,
        agent_keys: AgentKeys,
    ) -> None:
        self.operation = operation
        self.required = required
        self.accounts = accounts
        self.agent_keys = agent_keys
        self.signing = Signing(accounts.regular if required.regular else accounts.active, keys)

    def run(self) -> Signing:
        """Raise for the first missing authority; otherwise return what was used."""
        required, accounts = self.required, self.accounts
        for authority in required.other:
            if not self.signing.satisfied(authority):
                raise MissingOther(authority, "Missing other authority")
        for name in required.active:
            self._ask(name, (accounts.master,), MissingActive)
        for name in required.regular:
            self._ask(name, (accounts.active, accounts.master), MissingRegular)
        for name in required.master:
            if not self.signing.satisfied(accounts.master(name)):
                raise MissingMaster.of(name)
        return self.signing

    def _ask(self, name: AccountName, higher: tuple[GetAuthority, ...], missing: type[MissingAuthority]) -> None:
        """Whether the account's own authority or a higher one is satisfied, or an agent has signed.

        The marks of an attempt count for the rest of the operation, also those of failed parts; unless all of it fails,
        and an agent has signed (spec 10, section 4.4, quirk C).
        """
        attempt = self.signing.copy()
        if attempt.name_satisfied(name) or any(attempt.satisfied(get(name)) for get in higher):
            self.signing = attempt
        elif self.required.master or not any(
            self.signing.signed(key) for key in _keys_of_agents(self.operation, name, self.agent_keys)
        ):
            raise missing.of(name)


def _keys_of_agents(operation: Operation, name: AccountName, agent_keys: AgentKeys) -> Iterable[PublicKey]:
    """Operations that cannot be delegated are checked again here, since an imported state may allow them."""
    title = name_of(type(operation))
    return () if title in NEVER_DELEGABLE else agent_keys(name, title)


def left_to_agents(required: Authorities, keys: Collection[PublicKey], accounts: Accounts) -> Authorities:
    """The names that need an agent, when each is checked by itself (spec 10, section 4.4, step 1)."""
    return Authorities(
        active=tuple(name for name in required.active if not _is_proved(name, keys, accounts)),
        regular=tuple(name for name in required.regular if not _is_proved(name, keys, accounts, regular=True)),
    )


def _is_proved(name: AccountName, keys: Collection[PublicKey], accounts: Accounts, *, regular: bool = False) -> bool:
    """Each attempt begins again, and the active authority's members are asked for their active ones (quirk A)."""
    members = accounts.regular if regular else accounts.active
    return (
        Signing(members, keys).name_satisfied(name)
        or (regular and Signing(accounts.active, keys).satisfied(accounts.active(name)))
        or Signing(members, keys).satisfied(accounts.master(name))
    )


def require_agents(
    operation: Operation, names: Authorities, keys: Collection[PublicKey], agent_keys: AgentKeys
) -> None:
    """Each of the names still has an agent that signed and may sign this operation (spec 10, section 4.4, step 2)."""
    asked: tuple[tuple[type[MissingAuthority], tuple[AccountName, ...]], ...] = (
        (MissingActive, names.active),
        (MissingRegular, names.regular),
    )
    for missing, principals in asked:
        for name in principals:
            if not any(key in keys for key in _keys_of_agents(operation, name, agent_keys)):
                raise missing.of(name)
