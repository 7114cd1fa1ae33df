"""What the wallet asks a node about the ledger: accounts, who signs for them, agents, fees. All of it is its word."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import msgspec

from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.accounts import (
    DATABASE,
    MOST_ACCOUNTS,
    MOST_NAMES,
    AccountFacts,
    AgentFacts,
    agents_of,
    facts_of,
)
from ledgerd.wallet.errors import NodeRefused, NodeUnreachable, NoSuchAccount
from ledgerd.wallet.node.client import NodeClient


class LedgerReader:
    """A node's answers, each asked for once."""

    def __init__(self, node: NodeClient) -> None:
        self.node = node
        self._accounts: dict[str, AccountFacts | None] = {}
        self._agents: dict[str, tuple[AgentFacts, ...]] = {}

    def learn(self, names: Iterable[str]) -> None:
        wanted = sorted({name for name in names if name not in self._accounts})
        if len(self._accounts) + len(wanted) > MOST_ACCOUNTS:
            raise NodeUnreachable(
                f"{self.node.url} names more than {MOST_ACCOUNTS:,} accounts that have to do with this"
            )
        for start in range(0, len(wanted), MOST_NAMES):
            asked = wanted[start : start + MOST_NAMES]
            found = self.node.call(DATABASE, "lookup_account_names", asked)
            with self.node.understood():
                for name, record in zip(asked, msgspec.convert(found, list[Any]), strict=True):
                    self._accounts[name] = None if record is None else facts_of(name, record)

    def find(self, name: str) -> AccountFacts | None:
        self.learn([name])
        return self._accounts[name]

    def account(self, name: str) -> AccountFacts:
        found = self.find(name)
        if found is None:
            raise NoSuchAccount(f"there is no account {name}")
        return found

    def authorities(self, name: AccountName) -> tuple[Authority, Authority, Authority]:
        """Regular, active and master."""
        found = self.account(name)
        return found.regular, found.active, found.master

    def agents(self, name: str) -> tuple[AgentFacts, ...]:
        """The agents of an account; none if the node knows no agents, as before hardfork 15."""
        if name not in self._agents:
            try:
                records = self.node.call(DATABASE, "get_agent_permissions", name)
            except NodeRefused:
                records = []
            with self.node.understood():
                self._agents[name] = agents_of(records)
        return self._agents[name]

    def agent_keys(self, name: AccountName, operation: str) -> list[PublicKey]:
        return [each.key for each in self.agents(name) if not each.is_expired and operation in each.operations]

    def names_of_keys(self, keys: Iterable[PublicKey]) -> set[str]:
        """Accounts for which one of these keys signs; empty if the node does not answer such requests."""
        asked = [public_key_text(key) for key in keys]
        try:
            found = self.node.call("account_by_key", "get_key_references", asked[:MOST_NAMES])
        except NodeRefused:
            return set()
        return {str(name) for each in found for name in each} if isinstance(found, list) else set()

    @cached_property
    def chain_properties(self) -> dict[str, Any]:
        return self._record("get_chain_properties")

    @cached_property
    def globals(self) -> dict[str, Any]:
        return self._record("get_dynamic_global_properties")

    @cached_property
    def config(self) -> dict[str, Any]:
        return self._record("get_config")

    def _record(self, method: str) -> dict[str, Any]:
        found = self.node.call(DATABASE, method)
        with self.node.understood():
            return msgspec.convert(found, dict[str, Any])
