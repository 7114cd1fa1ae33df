"""What a node says of accounts, in the recorded form of its answers."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.types.names import AccountName
from ledgerd.wallet.errors import NodeUnreachable, NoSuchAccount
from ledgerd.wallet.node import ledger as ledger_module
from ledgerd.wallet.node.ledger import LedgerReader
from tests.recorded import recorded_result
from tests.wallet.nodes import FakeNode, Fault, asking

KEY = public_key_text(MAINNET.initiator_key)


def recorded_accounts() -> dict[str, Any]:
    found = json.loads(recorded_result("open-2/api-617", "lookup_account_names"))
    return {each["name"]: each for each in found if each is not None}


def test_recorded_accounts_are_read() -> None:
    accounts = recorded_accounts()
    assert accounts
    node = FakeNode(lookup_account_names=lambda names: [accounts.get(each) for each in names])
    with asking(node) as client:
        ledger = LedgerReader(client)
        for name, record in accounts.items():
            facts = ledger.account(name)
            assert public_key_text(facts.memo_key) == record["memo_key"]
            assert ledger.authorities(facts.name) == (facts.regular, facts.active, facts.master)
            assert facts.active.weight_threshold == record["active_authority"]["weight_threshold"]
        assert ledger.find("nobody") is None
        with pytest.raises(NoSuchAccount, match="there is no account nobody"):
            ledger.account("nobody")
        asked = node.count("lookup_account_names")
        ledger.learn([*accounts, "nobody"])
        assert node.count("lookup_account_names") == asked


def agent(name: str, *, expired: bool = False) -> dict[str, object]:
    return {
        "account": "alice",
        "agent_name": name,
        "agent_key": KEY,
        "operations": ["award"],
        "expiration": "1970-01-01T00:00:00",
        "addons": [],
        "expired": expired,
    }


def test_the_keys_of_live_agents_are_those_that_may_sign() -> None:
    with asking(FakeNode(get_agent_permissions=lambda _: [agent("bot")])) as client:
        ledger = LedgerReader(client)
        assert ledger.agent_keys(AccountName("alice"), "award") == [MAINNET.initiator_key]
        assert ledger.agent_keys(AccountName("alice"), "transfer") == []
    with asking(FakeNode(get_agent_permissions=lambda _: [agent("bot", expired=True)])) as client:
        assert LedgerReader(client).agent_keys(AccountName("alice"), "award") == []


def test_a_node_that_knows_no_agents_or_keys_has_none() -> None:
    def refuse(*_: object) -> None:
        raise Fault("no such method")

    with asking(FakeNode(get_agent_permissions=refuse, get_key_references=refuse)) as client:
        ledger = LedgerReader(client)
        assert ledger.agents("alice") == ()
        assert ledger.names_of_keys([MAINNET.initiator_key]) == set()
    with asking(FakeNode(get_key_references=[["alice"], ["bob", "alice"]])) as client:
        assert LedgerReader(client).names_of_keys([MAINNET.initiator_key]) == {"alice", "bob"}


@pytest.mark.parametrize("answer", [[], {}, [{"name": "bob"}], [{"name": "alice", "memo_key": "x"}], [5]])
def test_an_answer_of_another_form_is_refused(answer: object) -> None:
    with asking(FakeNode(lookup_account_names=answer, get_chain_properties=[], get_agent_permissions=[{}])) as client:
        ledger = LedgerReader(client)
        with pytest.raises(NodeUnreachable, match="does not answer as a node does"):
            ledger.account("alice")
        with pytest.raises(NodeUnreachable):
            _ = ledger.chain_properties
        with pytest.raises(NodeUnreachable):
            ledger.agents("alice")


def test_a_node_does_not_lead_to_accounts_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_module, "MOST_ACCOUNTS", 150)
    with asking(FakeNode(lookup_account_names=lambda names: [None for _ in names])) as client:
        ledger = LedgerReader(client)
        ledger.learn(f"account{number}" for number in range(150))
        with pytest.raises(NodeUnreachable, match="names more than 150 accounts"):
            ledger.learn(["one-more"])
