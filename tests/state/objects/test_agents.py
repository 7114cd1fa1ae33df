"""Agents: their order, and what a row of one says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Store
from ledgerd.state.errors import NotUnique
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.accounts.accounts import AGENT_BY_ACCOUNT, AGENT_PERMISSIONS, FOR_EVER, AgentPermission

ALICE, BOB = AccountName("alice"), AccountName("bob")
KEY = PublicKey(b"\2" * 33)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


def test_agents_of_an_account_are_walked_by_their_names_each_of_which_is_there_once(store: Store) -> None:
    for account, name in ((ALICE, "bot"), (BOB, "a"), (ALICE, "a-1"), (ALICE, "_")):
        store.create(AGENT_PERMISSIONS, AgentPermission(account=account, agent_name=AccountName(name), agent_key=KEY))

    of_alice = store.scan(AGENT_BY_ACCOUNT, lower=(ALICE,), upper=(ALICE,))
    assert [agent.agent_name for agent in of_alice] == ["_", "a-1", "bot"]
    with pytest.raises(NotUnique):
        store.create(AGENT_PERMISSIONS, AgentPermission(account=ALICE, agent_name=AccountName("bot")))


def test_an_agent_may_sign_what_stands_between_the_commas() -> None:
    for operations, may_sign in (("award,transfer", ["award", "transfer"]), ("", []), (",award,,", ["award"])):
        agent = AgentPermission(operations=operations)
        names = ("award", "transfer", "war", "", "transfer_to_vesting")
        assert [name for name in names if agent.may_sign(name)] == may_sign


@pytest.mark.parametrize(("expiration", "is_live"), [(FOR_EVER, True), (99, False), (100, False), (101, True)])
def test_an_agent_lives_until_its_time(expiration: int, *, is_live: bool) -> None:
    assert AgentPermission(expiration=expiration).is_live(100) is is_live
