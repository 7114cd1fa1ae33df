"""Who may sign for an account: its agents (spec 10, sections 3 and 5), its authorities (spec 02, 4.9 and 4.14)."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.authorities.operation_authority import AgentKeys
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AGENT_BY_ACCOUNT, AgentPermission
from ledgerd.state.objects.accounts.recovery import MASTER_AUTHORITY_HISTORY, MasterAuthorityHistory
from ledgerd.state.views.view import View


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


def require_members(ledger: Ledger, *authorities: Authority) -> None:
    for authority in authorities:
        for name in authority.account_auths:
            ledger.account(name)


def update_master_authority(ledger: Ledger, name: AccountName, master: Authority) -> None:
    """The one before is kept for recovery. The same authority again counts as new, also for the account's agents."""
    authority = ledger.authority(name)
    if ledger.head_number >= 1:
        previous = MasterAuthorityHistory(
            account=name, previous_master_authority=authority.master, last_valid_time=ledger.now
        )
        ledger.store.create(MASTER_AUTHORITY_HISTORY, previous)
    ledger.remember(authority)
    authority.master = master
    authority.last_master_update = ledger.now
    wipe_agents(ledger, name)


def hand_over(ledger: Ledger, name: AccountName, key: PublicKey) -> None:
    """The master authority of before is not kept: a seller cannot recover what was sold (spec 02, section 4.14,
    quirk).
    """
    authority = ledger.authority(name)
    with ledger.editing(authority):
        authority.master = authority.active = authority.regular = authority_of(key)
        authority.last_master_update = ledger.now
