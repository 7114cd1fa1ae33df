"""Whether each operation is signed, by keys of its account or of an agent (spec 10, section 4).

These are the rules since hardfork 15. Before, and always for proposals, `authority_check` checks all operations
together. The caller passes in the agents of an account.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import NamedTuple

from ledgerd.protocol.authorities import authority_check
from ledgerd.protocol.authorities.authority_web import PRE_APPROVED, GetAuthority, Web
from ledgerd.protocol.authorities.signing import Signing
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.accounts.agents import NEVER_DELEGABLE
from ledgerd.protocol.operations.base import Authorities, Operation, name_of
from ledgerd.protocol.types.names import AccountName

AgentKeys = Callable[[AccountName, str], Iterable[PublicKey]]
"""The keys of an account's live agents that may sign operations of a name, in the order of the agents."""


class TransactionKeys:
    """The keys that signed a transaction, and what its checks have learned of accounts by them.

    Each operation is checked by itself, so an approval for one does not count for another (spec 10, section 4.4, quirk
    B). But an account that fails while nobody is approved fails for all operations, and is walked once.
    """

    def __init__(self, keys: Collection[PublicKey], accounts: authority_check.Accounts) -> None:
        self.signed = keys
        self.accounts = accounts
        self._webs: dict[GetAuthority, Web] = {}
        self._proved: dict[tuple[AccountName, bool], bool] = {}

    def begin(self, members: GetAuthority) -> Signing:
        """A new check, with this lookup of members."""
        web = self._webs.get(members)
        if web is None:
            web = self._webs[members] = Web(members, self.signed, self.accounts.lookups)
        return Signing(web)

    def proves(self, name: AccountName, *, regular: bool = False) -> bool:
        """Whether an account has signed by itself, as far as agents are not asked (spec 10, section 4.4, step 1)."""
        known = self._proved.get((name, regular))
        if known is None:
            known = self._proved[name, regular] = self._is_proved(name, regular=regular)
        return known

    def _is_proved(self, name: AccountName, *, regular: bool) -> bool:
        """Try the possible authorities, each in a new check; the members of the active one are asked for their active
        ones (quirk A).
        """
        accounts = self.accounts
        members = accounts.regular if regular else accounts.active
        return (
            self.begin(members).name_satisfied(name)
            or (regular and self.begin(accounts.active).satisfied(accounts.active(name)))
            or self.begin(members).satisfied(accounts.master(name))
        )


class Verified(NamedTuple):
    """The result of a successful check."""

    used: frozenset[PublicKey]
    is_plain: tuple[bool, ...]
    """For each operation, whether it requires one active or regular authority only, which its members satisfy."""


def verify_operations(
    operations: Sequence[Operation],
    asked: Sequence[Authorities],
    keys: TransactionKeys,
    agent_keys: AgentKeys,
    *,
    allow_unused: bool = False,
) -> Verified:
    """Raise for the first missing authority, or for keys that were not asked for."""
    if any(each.regular for each in asked):
        require(
            not any(each.active or each.master or each.other for each in asked),
            "all_active.empty() && all_master.empty() && all_other.empty(): ",
        )
    used: set[PublicKey] = set()
    is_plain = []
    checked: dict[tuple[object, ...], bool] = {}
    for operation, required in zip(operations, asked, strict=True):
        # The same operation that asks for the same accounts again uses the same keys.
        same = () if required.other else (type(operation), *required)
        if not same or same not in checked:
            check = _Check(operation, required, keys, agent_keys)
            used |= check.run().used_keys
            checked[same] = check.is_plain
        is_plain.append(checked[same])
    if not allow_unused and not used.issuperset(keys.signed):
        raise authority_check.IrrelevantSignature("Unnecessary signature detected")
    return Verified(frozenset(used), tuple(is_plain))


def is_signed_by_one_key(
    required: Authorities, keys: Collection[PublicKey], accounts: authority_check.Accounts
) -> bool:
    """Whether one key has signed, and is enough for all that is required: the usual case, which is cheap."""
    active, master, regular, other = required
    if len(keys) != 1 or master or other or len(active) + len(regular) != 1:
        return False
    (name,), (key,) = active or regular, keys
    if name == PRE_APPROVED:
        return False
    authority = accounts.regular(name) if regular else accounts.active(name)
    return authority.key_auths.get(key, -1) >= authority.weight_threshold


class _Check:
    """The check of one operation. Its marks of used keys do not affect the next one."""

    def __init__(
        self, operation: Operation, required: Authorities, keys: TransactionKeys, agent_keys: AgentKeys
    ) -> None:
        self.operation = operation
        self.required = required
        self.accounts = accounts = keys.accounts
        self.agent_keys = agent_keys
        self.signing = keys.begin(accounts.regular if required.regular else accounts.active)
        self.is_plain = not (required.master or required.other) and len(required.active) + len(required.regular) == 1

    def run(self) -> Signing:
        """Raise for the first missing authority; otherwise return what was used."""
        required, accounts = self.required, self.accounts
        for authority in required.other:
            if not self.signing.satisfied(authority):
                raise authority_check.MissingOther(authority, "Missing other authority")
        for name in required.active:
            self._require_signed(name, (accounts.master,), authority_check.MissingActive)
        for name in required.regular:
            self._require_signed(name, (accounts.active, accounts.master), authority_check.MissingRegular)
        for name in required.master:
            if not self.signing.satisfied(accounts.master(name)):
                raise authority_check.MissingMaster.of(name)
        return self.signing

    def _require_signed(
        self, name: AccountName, higher: tuple[GetAuthority, ...], missing: type[authority_check.MissingAuthority]
    ) -> None:
        """Raise unless the account's own authority or a higher one is satisfied, or an agent has signed.

        The marks of an attempt count for the rest of the operation, also those of failed parts. If all of it fails and
        an agent has signed, they do not (spec 10, section 4.4, quirk C).
        """
        attempt = self.signing.copy()
        if attempt.name_satisfied(name):
            self.signing = attempt
            return
        self.is_plain = False
        if any(attempt.satisfied(get(name)) for get in higher):
            self.signing = attempt
        elif self.required.master or not any(
            self.signing.signed(key) for key in _keys_of_agents(self.operation, name, self.agent_keys)
        ):
            raise missing.of(name)


def _keys_of_agents(operation: Operation, name: AccountName, agent_keys: AgentKeys) -> Iterable[PublicKey]:
    """The keys of agents that may sign an operation. It is checked here too whether it can be delegated, since an
    imported state may allow what cannot.
    """
    title = name_of(type(operation))
    return () if title in NEVER_DELEGABLE else agent_keys(name, title)


def left_to_agents(required: Authorities, keys: TransactionKeys) -> Authorities:
    """The names that need an agent when each name is checked by itself (spec 10, section 4.4, step 1)."""
    return Authorities(
        active=tuple(name for name in required.active if not keys.proves(name)),
        regular=tuple(name for name in required.regular if not keys.proves(name, regular=True)),
    )


def require_agents(
    operation: Operation, names: Authorities, keys: Collection[PublicKey], agent_keys: AgentKeys
) -> None:
    """Raise unless each of the names has an agent that signed and may sign this operation (spec 10, section 4.4, step
    2).
    """
    asked: tuple[tuple[type[authority_check.MissingAuthority], tuple[AccountName, ...]], ...] = (
        (authority_check.MissingActive, names.active),
        (authority_check.MissingRegular, names.regular),
    )
    for missing, principals in asked:
        for name in principals:
            if not any(key in keys for key in _keys_of_agents(operation, name, agent_keys)):
                raise missing.of(name)
