"""Making, replacing and removing agents (spec 10, sections 2.5 and 12.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.authorities import agents_of
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations.accounts.agents import NEVER_DELEGABLE, SetAgentPermission
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AGENT_PERMISSIONS, AgentPermission
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, change, create_account, key_of, pass_time, refuses

KEY = key_of("agent")
GRANT = SetAgentPermission(ALICE, AccountName("bot"), KEY, ("pm_place_bet", "transfer"), 0, ("vizhub",), ())


def grant(name: str = "bot", **fields: Any) -> SetAgentPermission:
    return msgspec.structs.replace(GRANT, agent_name=AccountName(name), **fields)


def revoke(name: str = "bot", **fields: Any) -> SetAgentPermission:
    return grant(name, **{"agent_key": NULL_KEY, "operations": (), "addons": (), **fields})


def names(ledger: Ledger, account: AccountName = ALICE) -> list[str]:
    return [agent.agent_name for agent in agents_of(ledger.store, account)]


FULL = "others < CHAIN_AGENT_MAX_PER_ACCOUNT: Account alice already has 16 agents, the limit is 16"


@pytest.fixture
def ledger(ledger_at: Callable[[int], Ledger]) -> Ledger:
    ledger = ledger_at(15)
    create_account(ledger, ALICE)
    create_account(ledger, BOB)
    return ledger


def test_before_hardfork_15_there_are_no_agents(ledger_at: Callable[[int], Ledger]) -> None:
    ledger = ledger_at(14)
    not_yet = "db.has_hardfork(CHAIN_HARDFORK_15): Agent access is not enabled yet"
    refuses(ledger, GRANT, not_yet)
    refuses(ledger, revoke(account=AccountName("nobody")), not_yet)
    change(ledger, ledger.hardforks, processed_hardforks=(0,) * 16)
    create_account(ledger, ALICE)
    carry_out(ledger, GRANT)


def test_a_principal_exists(ledger: Ledger) -> None:
    refuses(
        ledger,
        revoke(account=AccountName("nobody")),
        "aidx.find(o.account) != aidx.end(): Principal account nobody does not exist",
    )
    create_account(ledger, "nobody")
    assert carry_out(ledger, revoke(account=AccountName("nobody"))) == []


def test_an_agent_is_kept_as_it_was_granted(ledger: Ledger) -> None:
    """The texts of spec 10, section 12.1."""
    assert carry_out(ledger, grant(expiration=NOW + 1)) == []
    (agent,) = agents_of(ledger.store, ALICE)
    kept = (agent.account, agent.agent_name, agent.agent_key, agent.operations, agent.expiration, agent.addons)
    assert kept == (ALICE, "bot", KEY, "pm_place_bet,transfer", NOW + 1, "vizhub")
    assert [agent.may_sign(name) for name in ("pm_place_bet", "transfer", "trans", "", "award")] == [
        True,
        True,
        False,
        False,
        False,
    ]


def test_a_grant_under_the_same_name_replaces_everything_but_the_id(ledger: Ledger) -> None:
    carry_out(ledger, GRANT)
    carry_out(ledger, grant(agent_key=key_of("other"), operations=(), addons=("a", "b"), expiration=NOW + 9))
    (agent,) = agents_of(ledger.store, ALICE)
    kept = (agent.id, agent.agent_key, agent.operations, agent.expiration, agent.addons)
    assert kept == (0, key_of("other"), "", NOW + 9, "a,b")
    assert not agent.may_sign("transfer")


def test_names_are_an_accounts_own_and_keys_are_anybodys(ledger: Ledger) -> None:
    carry_out(ledger, GRANT)
    carry_out(ledger, grant("twin"))
    carry_out(ledger, grant(account=BOB, agent_key=key_of(ALICE)))
    assert (names(ledger), names(ledger, BOB)) == (["bot", "twin"], ["bot"])


def test_a_revocation_removes_the_agent_and_looks_at_nothing_else(ledger: Ledger) -> None:
    carry_out(ledger, GRANT)
    carry_out(ledger, grant("other", expiration=NOW + 3))
    carry_out(ledger, grant(account=BOB))
    pass_time(ledger, 3)
    carry_out(ledger, revoke(agent_key=KEY, expiration=NOW))
    carry_out(ledger, revoke("unknown"))
    # An agent that has expired stays until a grant comes by.
    assert (names(ledger), names(ledger, BOB)) == (["other"], ["bot"])


def test_a_grant_that_is_over_already_removes_its_agent_and_no_others(ledger: Ledger) -> None:
    carry_out(ledger, GRANT)
    carry_out(ledger, grant("expired", expiration=NOW + 3))
    pass_time(ledger, 3)
    carry_out(ledger, grant("never", expiration=NOW + 3))
    assert names(ledger) == ["bot", "expired"]
    carry_out(ledger, grant(expiration=NOW + 3))
    assert names(ledger) == ["expired"]
    carry_out(ledger, grant(expiration=NOW + 4))
    assert names(ledger) == ["bot"]


def test_an_agent_that_expires_now_is_gone_and_one_a_second_later_is_not(ledger: Ledger) -> None:
    carry_out(ledger, grant("now", expiration=NOW + 3))
    carry_out(ledger, grant("next", expiration=NOW + 4))
    pass_time(ledger, 3)
    carry_out(ledger, GRANT)
    assert names(ledger) == ["bot", "next"]


def test_sixteen_agents_are_enough(ledger: Ledger) -> None:
    for number in range(16):
        carry_out(ledger, grant(f"bot-{number}", expiration=NOW + 3 if number == 0 else 0))
    refuses(ledger, grant("bot-16"), FULL)
    carry_out(ledger, grant("bot-3", addons=()))
    carry_out(ledger, grant("bot-16", account=BOB))
    pass_time(ledger, 2)
    refuses(ledger, grant("bot-16"), FULL)
    pass_time(ledger, 1)
    # What is over already is no grant: it sweeps nothing, and is asked for no room.
    carry_out(ledger, grant("bot-16", expiration=NOW))
    assert len(names(ledger)) == 16
    carry_out(ledger, grant("bot-16"))
    assert (len(names(ledger)), "bot-0" in names(ledger)) == (16, False)
    refuses(ledger, grant("bot-17"), FULL)


def test_an_agent_that_has_expired_is_made_anew(ledger: Ledger) -> None:
    carry_out(ledger, grant(expiration=NOW + 1))
    pass_time(ledger, 1)
    carry_out(ledger, GRANT)
    (agent,) = agents_of(ledger.store, ALICE)
    assert agent.id == 1


def test_a_refused_grant_sweeps_nothing_and_takes_no_id(ledger: Ledger) -> None:
    for number in range(16):
        carry_out(ledger, grant(f"bot-{number}"))
    expired = AgentPermission(account=ALICE, agent_name=AccountName("old"), agent_key=KEY, expiration=NOW)
    ledger.store.create(AGENT_PERMISSIONS, expired)
    next_id = ledger.store.next_id(AGENT_PERMISSIONS)
    refuses(ledger, grant("bot-16"), FULL)
    assert (len(names(ledger)), ledger.store.next_id(AGENT_PERMISSIONS)) == (17, next_id)


@pytest.mark.parametrize("name", sorted(NEVER_DELEGABLE))
def test_what_cannot_be_delegated_is_refused_where_nothing_was_checked_before(ledger: Ledger, name: str) -> None:
    text = f"!never_delegable_operation_names().count(name): Operation {name} is not delegable"
    refuses(ledger, grant(operations=(name,)), text)
    carry_out(ledger, grant(operations=("proposal_create", "set_agent_permission")))


@pytest.mark.parametrize("name", ["author_reward", "tranfer", "validator_reward"])
def test_so_is_what_cannot_be_sent(ledger: Ledger, name: str) -> None:
    text = f"is_broadcastable_operation_wire_name(name): Unknown or non-broadcastable operation {name}"
    refuses(ledger, grant(operations=("transfer", name)), text)


def test_old_names_are_looked_up_there_and_kept_as_they_came(ledger: Ledger) -> None:
    carry_out(ledger, grant(operations=("witness_update",)))
    (agent,) = agents_of(ledger.store, ALICE)
    assert agent.operations == "witness_update"
    refuses(
        ledger,
        grant(operations=("witness_reward",)),
        "is_broadcastable_operation_wire_name(name): Unknown or non-broadcastable operation validator_reward",
    )
