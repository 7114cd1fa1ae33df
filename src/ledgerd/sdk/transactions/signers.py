"""Which keys sign a transaction: no more than are needed, and none of more power than is needed.

An agent's key is chosen where the account's own keys are not there (spec 10, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import msgspec

from ledgerd.protocol.authorities import authority_check
from ledgerd.protocol.authorities.operation_authority import AgentKeys, TransactionKeys, verify_operations
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.accounts.agents import NEVER_DELEGABLE
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.errors import MixedAuthorities

GetAuthorities = Callable[[AccountName], tuple[Authority, Authority, Authority]]
"""The regular, active and master authority of an account, which must exist."""

Missing = authority_check.MissingAuthority | authority_check.MissingOther

AGENT, REGULAR, ACTIVE, MASTER = range(4)
"""The power of a key, from the least to the greatest."""
MEMBERS_DEPTH = 3
"""The depth to which accounts stand in for accounts: as deep as the network looks."""


class SigningKeys(msgspec.Struct, frozen=True):
    """The keys that sign, and whether with them everybody has signed."""

    keys: tuple[PublicKey, ...]
    missing: str = ""


class Signers:
    """The accounts that have to sign a transaction, and what their keys can do."""

    def __init__(self, transaction: Transaction, get: GetAuthorities, agent_keys: AgentKeys) -> None:
        required = transaction.required
        if required.regular and (required.active or required.master or required.other):
            raise MixedAuthorities(
                "operations that need the regular authority cannot be in one transaction with others"
            )
        self._transaction = transaction
        self._get = get
        self._agent_keys = agent_keys
        self._known: dict[AccountName, tuple[Authority, Authority, Authority]] = {}
        self._accounts = authority_check.Accounts(
            active=lambda name: self.authorities(name)[1],
            master=lambda name: self.authorities(name)[2],
            regular=lambda name: self.authorities(name)[0],
        )
        self.power: dict[PublicKey, int] = {}
        self.agents: dict[str, dict[str, list[str]]] = {}
        """The keys of the agents of each account, for each operation."""
        self._learn()

    def authorities(self, name: AccountName) -> tuple[Authority, Authority, Authority]:
        found = self._known.get(name)
        if found is None:
            found = self._known[name] = self._get(name)
        return found

    @property
    def known(self) -> dict[AccountName, tuple[Authority, Authority, Authority]]:
        return self._known

    def choose(self, available: Collection[PublicKey], signed: Collection[PublicKey] = ()) -> SigningKeys:
        chosen = {key for key in (*available, *signed) if key in self.power or key in signed}
        missing = self.missing(chosen)
        if missing:
            return SigningKeys(self._part(chosen - set(signed)), missing)
        for key in sorted(chosen - set(signed), key=self._cost):
            if not self.missing(chosen - {key}):
                chosen.discard(key)
        return SigningKeys(tuple(sorted(chosen - set(signed))))

    def missing(self, keys: Collection[PublicKey]) -> str:
        """The error of the network for the first authority that these keys do not reach; empty if there is none."""
        lacking = self.lacking(keys)
        return "" if lacking is None else lacking.message

    def lacking(self, keys: Collection[PublicKey]) -> Missing | None:
        """The authority that is not reached with these keys; a key too many is no fault here."""
        try:
            authority_check.verify_required(self._transaction.required, keys, self._accounts)
        except (authority_check.IrrelevantSignature, authority_check.IrrelevantApproval):
            return None
        except (authority_check.MissingAuthority, authority_check.MissingOther) as problem:
            return None if self._suffice_with_agents(keys) else problem
        return None

    def _suffice_with_agents(self, keys: Collection[PublicKey]) -> bool:
        transaction = self._transaction
        try:
            verify_operations(
                transaction.operations,
                transaction.required_each,
                TransactionKeys(keys, self._accounts),
                self._agent_keys,
                allow_unused=True,
            )
        except RuleViolation:
            return False
        return True

    def _part(self, keys: Collection[PublicKey]) -> tuple[PublicKey, ...]:
        """The keys with which a wallet signs when others sign too: for each account that must sign, those of its least
        authority.
        """
        required, found = self._transaction.required, set[PublicKey]()
        for names, roles in (
            (required.regular, (REGULAR, ACTIVE, MASTER)),
            (required.active, (ACTIVE, MASTER)),
            (required.master, (MASTER,)),
        ):
            for name in names:
                own = (self._keys_in(self.authorities(name)[role - 1]) & set(keys) for role in roles)
                found |= next(filter(None, own), set())
        for authority in required.other:
            found |= self._keys_in(authority) & set(keys)
        return tuple(sorted(found or {key for key in keys if self.power[key] == AGENT}))

    def _keys_in(self, authority: Authority, depth: int = MEMBERS_DEPTH) -> set[PublicKey]:
        """The keys of an authority, and those of its members (spec 01, section 10.2)."""
        role = REGULAR if self._transaction.required.regular else ACTIVE
        found = set(authority.key_auths)
        for name in authority.account_auths if depth > 1 else ():
            found |= self._keys_in(self.authorities(name)[role - 1], depth - 1)
        return found

    def _cost(self, key: PublicKey) -> tuple[int, PublicKey]:
        """Keys are left out in this order: an agent's first of all, since the account's own keys are there as well."""
        power = self.power[key]
        return (-MASTER - 1 if power == AGENT else -power), key

    def _learn(self) -> None:
        required = self._transaction.required
        level = set(required.names)
        for authority in required.other:
            level |= set(authority.account_auths)
            self._raise_power(authority.key_auths, ACTIVE)
        seen: set[AccountName] = set()
        for _ in range(MEMBERS_DEPTH):
            seen |= level
            for name in sorted(level):
                for power, authority in enumerate(self.authorities(name), start=REGULAR):
                    self._raise_power(authority.key_auths, power)
            level = {each for name in level for auth in self.authorities(name) for each in auth.account_auths} - seen
        for operation, asked in zip(self._transaction.operations, self._transaction.required_each, strict=True):
            title = name_of(type(operation))
            if title not in NEVER_DELEGABLE:
                for name in (*asked.active, *asked.regular):
                    agents = list(self._agent_keys(name, title))
                    self._raise_power(agents, AGENT)
                    if agents:
                        self.agents.setdefault(name, {})[title] = [public_key_text(key) for key in agents]

    def _raise_power(self, keys: Iterable[PublicKey], power: int) -> None:
        for key in keys:
            self.power[key] = max(power, self.power.get(key, AGENT))
