"""What `ledgerd dev` has ready for markets and agents, on a node that runs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.node.dev.founding import AGENTS, INSURANCE, market_times
from ledgerd.protocol.networks.parameters import TESTNET
from tests.house.source_tree import ROOT
from tests.node.dev.sending import EVERYBODY, Sending, broadcast, in_seconds, last_operations
from tests.node.processes import NodeProcess

DOCUMENT = ROOT / "docs" / "developing-on-it.md"
KEYS = {str(each.name): each.key for each in AGENTS}
BETTING, HOUR = 120, 3_600


@pytest.fixture
def node(tmp_path: Path) -> Iterator[NodeProcess]:
    folder = str(tmp_path / "chain")
    with NodeProcess("dev", "--data-dir", folder, "--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=0") as node:
        yield node


def market(node: NodeProcess) -> Sending:
    """Whether it rains: two minutes for bets, three until it must be resolved."""
    return (
        "pm_create_market",
        {
            "creator": "alice",
            "oracle": "oracle",
            "outcomes": ["Yes", "No"],
            "url": "",
            "oracle_fee_percent": 100,
            "oracle_fixed_fee": "0.000 VIZ",
            "liquidity": "100.000 VIZ",
            "betting_expiration": in_seconds(node, BETTING),
            "result_expiration": in_seconds(node, 180),
            "allow_early_resolution": True,
            "allow_cancellation": True,
        },
    )


def bet(name: str, side: int) -> Sending:
    return ("pm_place_bet", {"account": name, "market_id": 0, "side": side, "amount": "10.000 VIZ"})


def resolution() -> Sending:
    return ("pm_resolve_market", {"oracle": "oracle", "market_id": 0, "winning_outcome": 0, "decision_reason": "rain"})


def payouts(node: NodeProcess, name: str) -> list[int]:
    """What an account got for each of its bets, in thousandths."""
    rows = [values["payout"] for kind, values in last_operations(node, name) if kind == "pm_payout"]
    return [int(each.removesuffix(" VIZ").replace(".", "")) for each in rows]


def test_the_oracle_is_registered_and_the_median_has_short_times(node: NodeProcess) -> None:
    registered = [values for name, values in last_operations(node, "oracle") if name == "pm_oracle_register"]
    assert [each["insurance"] for each in registered] == [INSURANCE.json_text().strip('"')]

    median = node.call("validator_api", "get_validator_schedule")["median_props"]
    wished = market_times(TESTNET)
    assert {name: median[name] for name in wished.__struct_fields__ if name.endswith("_sec")} == {
        name: getattr(wished, name) for name in wished.__struct_fields__ if name.endswith("_sec")
    }


def test_a_market_goes_from_its_creation_to_its_payout_with_what_is_there(node: NodeProcess) -> None:
    assert broadcast(node, market(node)) == {}
    assert broadcast(node, bet("bob", 0)) == {}
    assert broadcast(node, bet("charlie", 1)) == {}
    node.call("dev_api", "move_time", BETTING)
    assert broadcast(node, resolution()) == {}
    node.call("dev_api", "move_time", HOUR)

    assert [amount > 10_000 for amount in payouts(node, "bob")] == [True]
    assert payouts(node, "charlie") == [0]


def test_each_agent_signs_what_it_may_and_nothing_else(node: NodeProcess) -> None:
    award: Sending = (
        "award",
        {"initiator": "alice", "receiver": "bob", "energy": 10, "custom_sequence": 0, "memo": "", "beneficiaries": []},
    )
    transfer: Sending = ("transfer", {"from": "alice", "to": "bob", "amount": "1.000 VIZ", "memo": ""})
    assert broadcast(node, market(node)) == {}

    assert broadcast(node, bet("alice", 0), key=KEYS["bet-bot"]) == {}
    assert broadcast(node, ("pm_cancel_bet", {"account": "alice", "bet_id": 0}), key=KEYS["bet-bot"]) == {}
    node.call("dev_api", "move_time", BETTING)
    assert broadcast(node, resolution(), key=KEYS["result-bot"]) == {}
    for name in ("award-bot", "bet-bot", "result-bot"):
        assert "Missing Active Authority alice" in broadcast(node, transfer, key=KEYS[name])["message"]
    assert "Missing Regular Authority alice" in broadcast(node, award, key=KEYS["bet-bot"])["message"]
    assert broadcast(node, award, key=KEYS["award-bot"]) == {}


def test_accounts_agents_and_their_keys_are_printed_and_documented(node: NodeProcess) -> None:
    node.wait_for("Try it:")
    document = DOCUMENT.read_text(encoding="utf-8")

    assert any(line.split()[:2] == ["oracle", EVERYBODY.wif] for line in node.lines)
    for each in AGENTS:
        assert any(line.split()[:2] == [f"{each.account}/{each.name}", each.key.wif] for line in node.lines)
        assert f"| `{each.account}` | `{each.name}` | `{each.key.wif}` |" in document


def test_the_document_names_the_times_of_markets() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    wished: Any = market_times(TESTNET)

    for name in wished.__struct_fields__:
        if name in document:
            assert f"| `{name}` | {getattr(wished, name)} |" in document
    assert "pm_dispute_grace_sec" in document
