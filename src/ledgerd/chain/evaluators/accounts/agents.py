"""The rule of letting a key sign some operations for an account (spec 10, section 2.5)."""

from __future__ import annotations

from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.authorities import agents_of
from ledgerd.protocol.constants import MAX_AGENTS_PER_ACCOUNT
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.accounts.agents import NEVER_DELEGABLE, SEPARATOR, SetAgentPermission
from ledgerd.protocol.operations.variant import OLD_NAMES, names_that_can_be_sent
from ledgerd.state.objects.accounts.accounts import AGENT_BY_ACCOUNT, AGENT_PERMISSIONS, FOR_EVER, AgentPermission


@evaluates(SetAgentPermission)
def set_agent_permission(ledger: Ledger, operation: SetAgentPermission) -> None:
    """One that would have expired already is removed, not made."""
    require(ledger.hardfork(15), "db.has_hardfork(CHAIN_HARDFORK_15): Agent access is not enabled yet")
    require(
        ledger.find_account(operation.account) is not None,
        "aidx.find(o.account) != aidx.end(): Principal account ${a} does not exist",
        a=operation.account,
    )
    if operation.is_revocation:
        _remove(ledger, operation)
        return
    _require_delegable(operation)
    if operation.expiration != FOR_EVER and operation.expiration <= ledger.now:
        _remove(ledger, operation)
        return
    others = _count_others(ledger, operation)
    agent = ledger.store.lookup(AGENT_BY_ACCOUNT, operation.account, operation.agent_name)
    if agent is None:
        require(
            others < MAX_AGENTS_PER_ACCOUNT,
            "others < CHAIN_AGENT_MAX_PER_ACCOUNT: Account ${a} already has ${n} agents, the limit is ${m}",
            a=operation.account,
            n=others,
            m=MAX_AGENTS_PER_ACCOUNT,
        )
        agent = AgentPermission(account=operation.account, agent_name=operation.agent_name)
        _describe(agent, operation)
        ledger.store.create(AGENT_PERMISSIONS, agent)
        return
    with ledger.editing(agent):
        _describe(agent, operation)


def _remove(ledger: Ledger, operation: SetAgentPermission) -> None:
    agent = ledger.store.lookup(AGENT_BY_ACCOUNT, operation.account, operation.agent_name)
    if agent is not None:
        ledger.store.remove(agent)


def _require_delegable(operation: SetAgentPermission) -> None:
    """Asked by the operation's own check too, with other words; a block that was checked before has not had it."""
    for raw in operation.operations:
        name = OLD_NAMES.get(raw, raw)
        require(
            name not in NEVER_DELEGABLE,
            "!never_delegable_operation_names().count(name): Operation ${n} is not delegable",
            n=name,
        )
        require(
            name in names_that_can_be_sent(),
            "is_broadcastable_operation_wire_name(name): Unknown or non-broadcastable operation ${n}",
            n=name,
        )


def _count_others(ledger: Ledger, operation: SetAgentPermission) -> int:
    """The account's other live agents. Those that have expired go now, and at no other time (spec 10, 2.5, quirk)."""
    others = 0
    for agent in agents_of(ledger.store, operation.account):
        if not agent.is_live(ledger.now):
            ledger.store.remove(agent)
        elif agent.agent_name != operation.agent_name:
            others += 1
    return others


def _describe(agent: AgentPermission, operation: SetAgentPermission) -> None:
    agent.agent_key = operation.agent_key
    agent.operations = SEPARATOR.join(operation.operations)
    agent.expiration = operation.expiration
    agent.addons = SEPARATOR.join(operation.addons)
