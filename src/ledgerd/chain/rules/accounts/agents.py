"""An account's agents: which keys may sign for it, and when they are removed (spec 10, sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operation_authority import AgentKeys
from ledgerd.state.objects.agents import AGENT_BY_ACCOUNT, AgentPermission
from ledgerd.state.view import View


def agents_of(state: View, principal: AccountName) -> Iterator[AgentPermission]:
    """All agents of an account in the order of their names, also those that have expired."""
    return state.scan(AGENT_BY_ACCOUNT, lower=(principal,), upper=(principal,))


def agent_keys(state: View, now: int) -> AgentKeys:
    """Where a check of signatures looks agents up, at the time of the head block; those of an account are read once."""
    known: dict[AccountName, tuple[AgentPermission, ...]] = {}

    def keys(principal: AccountName, operation: str) -> Iterator[PublicKey]:
        agents = known.get(principal)
        if agents is None:
            agents = known[principal] = tuple(agents_of(state, principal))
        return (each.agent_key for each in agents if each.is_live(now) and each.may_sign(operation))

    return keys


def wipe_agents(ledger: Ledger, principal: AccountName) -> None:
    """Remove all agents of an account: who has come to own it, or to sign for it, has not chosen them."""
    if not ledger.hardfork(15):
        return
    for agent in agents_of(ledger.store, principal):
        ledger.store.remove(agent)
