"""Agents: keys that may sign some operations for an account (spec 07, section 10.17; spec 10, section 3)."""

from __future__ import annotations

from ledgerd.protocol.keys import NULL_KEY, PublicKey
from ledgerd.protocol.names import NO_NAME, AccountName
from ledgerd.protocol.operations.agents import SEPARATOR
from ledgerd.protocol.times import Time
from ledgerd.state.keys import NAME_TEXT
from ledgerd.state.tables import Entity, Table, unique

FOR_EVER = 0
"""Of an agent that does not expire."""


class AgentPermission(Entity):
    """What a key may sign for an account. Keys may be the same, names of an account's agents may not."""

    account: AccountName = NO_NAME
    agent_name: AccountName = NO_NAME
    agent_key: PublicKey = NULL_KEY
    operations: str = ""
    expiration: Time = FOR_EVER
    addons: str = ""

    def may_sign(self, operation: str) -> bool:
        wanted = f"{SEPARATOR}{operation}{SEPARATOR}"
        return bool(operation) and wanted in f"{SEPARATOR}{self.operations}{SEPARATOR}"

    def is_live(self, now: int) -> bool:
        return self.expiration == FOR_EVER or self.expiration > now


AGENT_PERMISSIONS = Table(AgentPermission, number=48)
AGENT_BY_ACCOUNT = unique(
    AGENT_PERMISSIONS,
    "by_permission_account",
    lambda agent: (agent.account, agent.agent_name),
    (NAME_TEXT, NAME_TEXT),
)
