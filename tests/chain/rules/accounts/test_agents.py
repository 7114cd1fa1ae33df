"""Which keys of agents may sign what, and that all of them go together (spec 10, sections 3 and 5)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.authorities import agent_keys, agents_of, wipe_agents
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AGENT_PERMISSIONS, AgentPermission
from tests.chain.ledgers import ALICE, BOB, NOW, key_of

ROWS = (
    (BOB, "a", "transfer", 0),
    (ALICE, "second", "transfer,custom", NOW + 1),
    (ALICE, "first", "transfer", 0),
    (ALICE, "over", "transfer", NOW),
    (ALICE, "nothing", "", 0),
)


def with_agents(ledger: Ledger) -> Ledger:
    for account, name, operations, expiration in ROWS:
        ledger.store.create(
            AGENT_PERMISSIONS,
            AgentPermission(
                account=account,
                agent_name=AccountName(name),
                agent_key=key_of(name),
                operations=operations,
                expiration=expiration,
            ),
        )
    return ledger


@pytest.fixture
def ledger(ledger_at: Callable[[int], Ledger]) -> Ledger:
    return with_agents(ledger_at(15))


def test_agents_come_in_the_order_of_their_names_with_those_that_have_expired(ledger: Ledger) -> None:
    assert [agent.agent_name for agent in agents_of(ledger.store, ALICE)] == ["first", "nothing", "over", "second"]


def test_live_agents_sign_the_operations_that_they_were_given(ledger: Ledger) -> None:
    keys = agent_keys(ledger.store, NOW)
    assert list(keys(ALICE, "transfer")) == [key_of("first"), key_of("second")]
    assert list(keys(ALICE, "custom")) == [key_of("second")]
    assert list(keys(ALICE, "trans")) == []
    assert list(keys(ALICE, "")) == []
    assert list(agent_keys(ledger.store, NOW + 1)(ALICE, "custom")) == []
    assert list(keys(BOB, "transfer")) == [key_of("a")]


def test_all_agents_of_an_account_go_at_once_and_no_others(ledger: Ledger) -> None:
    wipe_agents(ledger, ALICE)
    assert [agent.account for agent in ledger.store.scan(AGENT_PERMISSIONS)] == [BOB]


def test_before_hardfork_15_none_go(ledger_at: Callable[[int], Ledger]) -> None:
    ledger = with_agents(ledger_at(14))
    wipe_agents(ledger, ALICE)
    assert ledger.store.count(AGENT_PERMISSIONS) == len(ROWS)
