"""What nodes say of accounts: who signs for them, agents included, and answers that are none."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.authorities.authority_check import Accounts, verify_authority
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.types.authority import authority_of
from ledgerd.sdk.errors import ClientError, WrongAnswer
from ledgerd.sdk.transactions import accounts as account_facts
from tests.sdk.transactions.scripted import (
    ACTIVE,
    ALICES,
    FRIEND,
    REGULAR,
    STRANGER,
    ScriptedChain,
    authority,
    builder,
    prepared,
)


def test_accounts_that_stand_in_for_accounts_are_followed_as_deep_as_the_network_looks() -> None:
    chain = ScriptedChain()
    chain.accounts["shared"] = (authority(1, {"team": 1}),) * 3
    chain.accounts["team"] = (authority(2, {"bob": 1, "carol": 1}),) * 3
    chain.accounts["bob"] = (authority_of(FRIEND.public),) * 3
    chain.accounts["carol"] = (authority_of(STRANGER.public),) * 3
    made = prepared(builder(chain, FRIEND, STRANGER, ACTIVE).transfer("shared", "bob", "1.000 VIZ"))

    assert made.missing is None
    assert made.signed_by == {FRIEND.public, STRANGER.public}
    by_role = (lambda name: chain.accounts[name][1], lambda name: chain.accounts[name][2], lambda _: ALICES[0])
    verify_authority(made.operations, made.signed_by, Accounts(*by_role))


def test_an_agent_signs_where_the_accounts_own_keys_are_not_there() -> None:
    chain = ScriptedChain()
    record = {
        "agent_name": "phone",
        "agent_key": public_key_text(FRIEND.public),
        "operations": ["award"],
        "expiration": "2030-01-01T00:00:00",
        "expired": False,
    }
    chain.agents = [record]
    assert prepared(builder(chain, FRIEND).award("alice", "bob", 100)).signed_by == {FRIEND.public}
    assert prepared(builder(chain, FRIEND, REGULAR).award("alice", "bob", 100)).signed_by == {REGULAR.public}
    assert prepared(builder(chain, FRIEND).transfer("alice", "bob", "1.000 VIZ")).missing is not None
    chain.agents = [{**record, "expired": True}]
    assert prepared(builder(chain, FRIEND).award("alice", "bob", 100)).missing is not None


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("get_dynamic_global_properties", {"head_block_id": "zz"}),
        ("get_dynamic_global_properties", {}),
        ("get_config", {"CHAIN_ID": "00"}),
        ("get_config", {}),
        ("lookup_account_names", []),
        ("lookup_account_names", [{}]),
        ("lookup_account_names", [{"name": "mallory"}]),
        ("lookup_account_names", [7]),
    ],
)
def test_answers_of_another_form_are_wrong_answers(method: str, answer: object) -> None:
    chain = ScriptedChain()
    chain.extra[method] = lambda *_: answer
    with pytest.raises(WrongAnswer):
        prepared(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ"))


def test_a_node_cannot_have_accounts_looked_up_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account_facts, "MOST_ACCOUNTS", 30)
    chain = ScriptedChain()
    chain.accounts["alice"] = (authority(1, {f"member-{number}": 1 for number in range(40)}),) * 3
    with pytest.raises(WrongAnswer, match="more than 30 accounts"):
        prepared(builder(chain, ACTIVE).transfer("alice", "bob", "1.000 VIZ"))
    assert chain.count("lookup_account_names") == 1


def test_a_circle_of_accounts_is_asked_for_once() -> None:
    chain = ScriptedChain()
    chain.accounts["alice"] = (ALICES[0], authority(1, {"bob": 1}), ALICES[2])
    chain.accounts["bob"] = (ALICES[0], authority(1, {"alice": 1}, FRIEND), ALICES[2])
    assert prepared(builder(chain, FRIEND).transfer("alice", "bob", "1.000 VIZ")).missing is None
    assert chain.count("lookup_account_names") == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=80),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.sampled_from(["get_config", "get_dynamic_global_properties", "lookup_account_names", "get_agent_permissions"]),
    JSON,
    st.integers(0, 12),
    st.booleans(),
)
def test_whatever_a_node_answers_is_read_or_an_error_of_the_client(
    method: str, garbage: Any, place: int, is_whole: bool
) -> None:
    chain = ScriptedChain()

    def spoilt(*arguments: Any) -> object:
        if is_whole:
            return garbage
        plain = ScriptedChain()
        plain.agents = [{"agent_name": "a", "agent_key": "", "operations": [], "expiration": "", "expired": False}]
        usual = plain.usual(method, *arguments)
        record = usual[0] if isinstance(usual, list) else usual
        record[list(record)[place % len(record)]] = garbage
        return usual

    chain.extra[method] = spoilt
    made = builder(chain, STRANGER).transfer("alice", "bob", "1.000 VIZ")
    with suppress(ClientError):
        prepared(made)
