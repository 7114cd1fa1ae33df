"""Accounts as transactions need them: who signs for them, their memo keys, their agents. All of it is a node's word."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.keys import PublicKey, public_key_from_text
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import parse_time_text
from ledgerd.sdk.calling import Caller
from ledgerd.sdk.errors import Rejected, UnknownAccount, WrongAnswer
from ledgerd.sdk.transactions.operations.named_accounts import named_accounts, new_accounts
from ledgerd.sdk.transactions.signers import MEMBERS_DEPTH, Signers

DATABASE = "database_api"
MOST_NAMES = 100
"""Asked for at once."""
MOST_ACCOUNTS = 20_000
"""Asked for in all: what a node says leads to more of them."""


class BandwidthUse(msgspec.Struct, frozen=True):
    """The bandwidth that an account has used lately (spec 02, section 4.11)."""

    average: int
    since: int
    shares: int
    """The account's own shares, less those that it has delegated, and with those delegated to it."""


class AccountFacts(msgspec.Struct, frozen=True):
    """An account as whoever signs for it needs it."""

    name: AccountName
    regular: Authority
    active: Authority
    master: Authority
    memo_key: PublicKey
    bandwidth: BandwidthUse | None = None


class AgentFacts(msgspec.Struct, frozen=True):
    """An agent of an account."""

    name: str
    key: PublicKey
    operations: tuple[str, ...]
    expiration: str
    is_expired: bool


def facts_of(name: str, record: Mapping[str, Any]) -> AccountFacts:
    """The facts of an account, from the record of a node. Raises `LookupError`, `TypeError`, `ValueError` or
    `CodecError` for a wrong record.
    """
    if record["name"] != name:
        raise ValueError("another account was asked for")
    regular, active, master = (
        codec_of(Authority).from_json(record[f"{role}_authority"]) for role in ("regular", "active", "master")
    )
    memo_key = public_key_from_text(str(record["memo_key"]))
    return AccountFacts(AccountName(name), regular, active, master, memo_key, _bandwidth_of(record))


def agents_of(records: Iterable[Mapping[str, Any]]) -> tuple[AgentFacts, ...]:
    """The agents of an account, from the answer of `get_agent_permissions`. Raises `LookupError`, `TypeError`,
    `ValueError` or `CodecError` for a wrong answer.
    """
    return tuple(
        AgentFacts(
            str(each["agent_name"]),
            public_key_from_text(str(each["agent_key"])),
            tuple(each["operations"]),
            str(each["expiration"]),
            bool(each["expired"]),
        )
        for each in records
    )


def _bandwidth_of(record: Mapping[str, Any]) -> BandwidthUse | None:
    if "average_bandwidth" not in record:
        return None
    own, received, delegated = (
        codec_of(Asset).from_json(record[f"{name}vesting_shares"]).amount for name in ("", "received_", "delegated_")
    )
    average, since = int(record["average_bandwidth"]), parse_time_text(record["last_bandwidth_update"])
    return BandwidthUse(average, since, own + received - delegated)


class AccountReader:
    """Accounts that nodes were asked for, each once."""

    def __init__(self, caller: Caller) -> None:
        self._caller = caller
        self._accounts: dict[str, AccountFacts | None] = {}
        self._agents: dict[str, tuple[AgentFacts, ...]] = {}

    async def learn(self, names: Iterable[str]) -> None:
        """`UnknownAccount`: one of them does not exist."""
        wanted = sorted({*names})
        await self._look_up(wanted)
        for name in wanted:
            if self._accounts[name] is None:
                raise _unknown(name)

    async def require(self, operations: Sequence[Operation]) -> None:
        """Accounts that operations name have to exist, unless they create them: a node may not say what it refuses."""
        created = {name for each in operations for name in new_accounts(each)}
        named = [
            (f"{name_of(type(each))}.{field}", name)
            for each in operations
            for field, name in named_accounts(each)
            if name not in created
        ]
        await self._look_up({name for _, name in named})
        for place, name in named:
            if self._accounts[name] is None:
                raise _unknown(name, f"{place}: ")

    async def _look_up(self, names: Iterable[str]) -> None:
        wanted = sorted({name for name in names if name not in self._accounts})
        if len(self._accounts) + len(wanted) > MOST_ACCOUNTS:
            raise WrongAnswer(f"more than {MOST_ACCOUNTS:,} accounts are said to have to do with this")
        for start in range(0, len(wanted), MOST_NAMES):
            asked = wanted[start : start + MOST_NAMES]
            found = await self._caller.call(DATABASE, "lookup_account_names", [asked], list)
            try:
                self._accounts |= {
                    name: None if record is None else facts_of(name, record)
                    for name, record in zip(asked, found, strict=True)
                }
            except (LookupError, TypeError, ValueError, CodecError, RuleViolation):
                raise WrongAnswer("the node does not tell of accounts as a node does") from None

    def account(self, name: str) -> AccountFacts:
        """The facts of an account that was fetched before."""
        found = self._accounts[name]
        if found is None:
            raise _unknown(name)
        return found

    async def signers_of(self, transaction: Transaction, *, with_agents: bool) -> Signers:
        """Who has to sign a transaction, and the members of their authorities, as deep as the network looks."""
        level = set(transaction.required.names)
        for authority in transaction.required.other:
            level |= set(authority.account_auths)
        for _ in range(MEMBERS_DEPTH):
            await self.learn(level)
            level = {each for name in level for auth in self._authorities(name) for each in auth.account_auths}
        await self.learn(level)
        if with_agents:
            for name in {*transaction.required.active, *transaction.required.regular} - self._agents.keys():
                self._agents[name] = await self._asked_agents(name)
        return Signers(transaction, self._authorities, self._agent_keys)

    async def _asked_agents(self, name: str) -> tuple[AgentFacts, ...]:
        """The agents of an account; none if the node knows no agents, as before hardfork 15."""
        try:
            found = await self._caller.call(DATABASE, "get_agent_permissions", [name], list)
        except Rejected:
            return ()
        try:
            return agents_of(found)
        except (LookupError, TypeError, ValueError, CodecError):
            raise WrongAnswer("the node does not tell of agents as a node does") from None

    def _authorities(self, name: str) -> tuple[Authority, Authority, Authority]:
        found = self.account(name)
        return found.regular, found.active, found.master

    def _agent_keys(self, name: str, operation: str) -> list[PublicKey]:
        agents = self._agents.get(name, ())
        return [each.key for each in agents if not each.is_expired and operation in each.operations]


def _unknown(name: str, place: str = "") -> UnknownAccount:
    return UnknownAccount(f"{place}there is no account {name}", values={"name": name})
