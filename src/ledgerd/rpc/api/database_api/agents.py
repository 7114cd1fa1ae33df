"""Agents of an account: keys that may sign some operations for it (spec 10, section 10.1)."""

from __future__ import annotations

import msgspec

from ledgerd.chain.rules.accounts.authorities import agents_of
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.operations.accounts.agents import SEPARATOR
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.shared.kinds import record_of
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.accounts.accounts import AgentPermission
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES


class AgentRecord(msgspec.Struct, frozen=True):
    """An agent: what a key may sign for an account. An expired one is listed until it is removed.

    The form follows the reference's documentation and is unproven: its declaration could not be had.
    """

    account: AccountName
    agent_name: AccountName
    agent_key: PublicKey
    operations: tuple[str, ...]
    expiration: Time
    addons: tuple[str, ...]
    expired: bool


@DATABASE_API.method(args=exactly(1), examples=[["alice"]])
def get_agent_permissions(view: ApiView, account: AccountName) -> tuple[AgentRecord, ...]:
    """The agents of an account in the order of their names, expired ones too. How rows are printed is unproven."""
    now = view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).time
    return tuple(_record(each, now) for each in agents_of(view.state, account))


def _record(agent: AgentPermission, now: int) -> AgentRecord:
    lists = {"operations": _texts(agent.operations), "addons": _texts(agent.addons)}
    return record_of(AgentRecord, agent, expired=not agent.is_live(now), **lists)


def _texts(joined: str) -> tuple[str, ...]:
    return tuple(filter(None, joined.split(SEPARATOR)))
