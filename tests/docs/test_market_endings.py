"""What docs/markets.md says of other ends than the one that it goes through, on a development chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from tests.docs.guides import DOCUMENTS
from tests.node.dev.sending import broadcast, in_seconds, last_operations
from tests.node.processes import NodeProcess

DOCUMENT = (DOCUMENTS / "markets.md").read_text(encoding="utf-8")
BETTING, HOUR, VOTING, AUTO_CLOSE = 120, 3_600, 90, 300
RETURNED = (3, 3, -1)
"""`status`, `payout_status` and `resolved_outcome` of a market whose bets went back."""


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    """One chain for all: each test opens a market of its own."""
    folder = str(tmp_path_factory.mktemp("chain"))
    words = ("dev", "--data-dir", folder, "--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=0")
    with NodeProcess(*words) as node:
        registration = {"owner": "frank", "insurance": "5000.000 VIZ", "fixed_fee": "0.000 VIZ", "rules_url": ""}
        assert broadcast(node, ("pm_oracle_register", registration)) == {}
        yield node


def sent(node: NodeProcess, name: str, **fields: object) -> None:
    assert broadcast(node, (name, fields)) == {}


def opened(node: NodeProcess, oracle: str = "oracle", creator: str = "alice", **fields: object) -> int:
    """The number of a new market."""
    usual = {
        "outcomes": ["Yes", "No"],
        "url": "",
        "oracle_fee_percent": 100,
        "oracle_fixed_fee": "0.000 VIZ",
        "liquidity": "200.000 VIZ",
        "betting_expiration": in_seconds(node, BETTING),
        "result_expiration": in_seconds(node, 2 * BETTING),
        "allow_early_resolution": True,
        "allow_cancellation": True,
    }
    sent(node, "pm_create_market", creator=creator, oracle=oracle, **{**usual, **fields})
    newest = node.call("prediction_market_api", "list_markets_by_creator", creator, 0, 1, "newest")
    number: int = newest[0]["id"]
    return number


def bet(node: NodeProcess, market: int, account: str, side: int, amount: int) -> None:
    sent(node, "pm_place_bet", account=account, market_id=market, side=side, amount=f"{amount}.000 VIZ")


def decided(node: NodeProcess, market: int, oracle: str = "oracle") -> None:
    """Have the oracle say "Yes" after the end of betting."""
    node.call("dev_api", "move_time", BETTING)
    sent(node, "pm_resolve_market", oracle=oracle, market_id=market, winning_outcome=0)


def balances(node: NodeProcess, *names: str) -> list[int]:
    """Of accounts, in thousandths."""
    found = node.call("database_api", "get_accounts", names)
    return [int(each["balance"].removesuffix(" VIZ").replace(".", "")) for each in found]


def gains(node: NodeProcess, before: Sequence[int], *names: str) -> list[int]:
    return [now - then for now, then in zip(balances(node, *names), before, strict=True)]


def standing(node: NodeProcess, market: int) -> tuple[int, int, int]:
    found = node.call("prediction_market_api", "get_market", market)
    return found["status"], found["payout_status"], found["resolved_outcome"]


def insurance(node: NodeProcess, oracle: str) -> int:
    amount: int = node.call("prediction_market_api", "get_oracle", oracle)["oracle"]["insurance"]
    return amount


def test_a_market_that_no_oracle_takes_gives_its_liquidity_back(node: NodeProcess) -> None:
    before = balances(node, "alice")
    market = opened(node, oracle="frank")
    assert standing(node, market) == (0, 0, -1)
    node.call("dev_api", "move_time", HOUR)

    assert standing(node, market) == (-1, 3, -1)
    assert gains(node, before, "alice") == [-5_000]


def test_a_market_that_is_never_decided_gives_all_back_and_cuts_the_insurance(node: NodeProcess) -> None:
    insured, before = insurance(node, "oracle"), balances(node, "bob", "charlie")
    market = opened(node)
    bet(node, market, "bob", 0, 20)
    bet(node, market, "charlie", 1, 30)
    node.call("dev_api", "move_time", 2 * BETTING + HOUR)

    assert standing(node, market) == RETURNED
    assert gains(node, before, "bob", "charlie") == [0, 0]
    assert insurance(node, "oracle") == insured - insured * 5 // 100
    assert "loses 5 % of its insurance, and all bets go back" in DOCUMENT


def test_no_answer_gives_all_back_and_half_a_dispute_fee_to_the_bettors(node: NodeProcess) -> None:
    insured, before = insurance(node, "oracle"), balances(node, "bob", "charlie")
    market = opened(node)
    bet(node, market, "bob", 0, 30)
    bet(node, market, "charlie", 1, 10)
    sent(node, "pm_no_contest", oracle="oracle", market_id=market, reason="the fair was called off")
    node.call("dev_api", "move_time", HOUR)

    assert standing(node, market) == RETURNED
    assert gains(node, before, "bob", "charlie") == [375_000, 125_000]
    assert insurance(node, "oracle") == insured - 500_000
    assert "half a dispute fee of the oracle's\n  insurance is divided among the bettors" in DOCUMENT


def test_who_leaves_with_a_gain_gets_the_stake_at_once_and_a_part_of_the_rest_in_the_end(node: NodeProcess) -> None:
    before = balances(node, "bob")
    market = opened(node)
    bet(node, market, "bob", 0, 20)
    bet(node, market, "charlie", 0, 60)
    bet(node, market, "dan", 1, 10)
    number = node.call("prediction_market_api", "get_market_bets", market, 0, 1, "oldest")[0]["id"]
    sent(node, "pm_cancel_bet", account="bob", bet_id=number)
    claims = node.call("prediction_market_api", "get_deferred_claims", market)
    assert gains(node, before, "bob") == [0]
    assert [each["account"] for each in claims] == ["bob"]
    decided(node, market)
    node.call("dev_api", "move_time", HOUR)

    assert claims[0]["claim_amount"] > 3_300
    assert gains(node, before, "bob") == [3_300]
    assert "from at most 33 % of what losers lose" in DOCUMENT


def test_a_dispute_that_too_few_vote_on_leaves_the_result_and_pays_the_oracle(node: NodeProcess) -> None:
    market = opened(node)
    bet(node, market, "bob", 0, 20)
    decided(node, market)
    before, insured = balances(node, "oracle", "dan"), insurance(node, "oracle")
    sent(node, "pm_dispute_create", disputer="dan", market_id=market, proposed_outcome=1, reason="no")
    sent(node, "pm_dispute_vote", voter="charlie", market_id=market, vote_outcome=1, vote_percent=10_000)
    node.call("dev_api", "move_time", VOTING)

    assert standing(node, market) == (3, 3, 0)
    assert gains(node, before, "oracle", "dan") == [1_000_000, -1_000_000]
    assert insurance(node, "oracle") == insured
    assert "or too few vote, the result stays, and the oracle gets the dispute fee" in DOCUMENT


def test_a_jump_over_the_vote_leaves_a_dispute_undecided(node: NodeProcess) -> None:
    before = balances(node, "bob", "charlie", "dan")
    market = opened(node)
    bet(node, market, "bob", 0, 20)
    bet(node, market, "charlie", 1, 20)
    decided(node, market)
    sent(node, "pm_dispute_create", disputer="dan", market_id=market, proposed_outcome=1, reason="no")
    node.call("dev_api", "move_time", AUTO_CLOSE)

    assert standing(node, market) == RETURNED
    assert gains(node, before, "bob", "charlie", "dan") == [0, 0, 0]
    assert "ends undecided: then everybody gets back what they paid" in DOCUMENT


def test_one_account_decides_where_the_market_names_it(node: NodeProcess) -> None:
    market = opened(node, dispute_mode=1, dispute_resolver="chuck")
    sent(
        node,
        "pm_oracle_accept_market",
        oracle="oracle",
        market_id=market,
        accept=True,
        oracle_fee_percent=100,
        oracle_fixed_fee="0.000 VIZ",
    )
    bet(node, market, "bob", 1, 20)
    decided(node, market)
    before, insured = balances(node, "dan"), insurance(node, "oracle")
    sent(node, "pm_dispute_create", disputer="dan", market_id=market, proposed_outcome=1, reason="no")
    sent(
        node, "pm_dispute_resolve", resolver="chuck", market_id=market, correct_outcome=1, penalty_amount="500.000 VIZ"
    )
    node.call("dev_api", "move_time", HOUR)

    assert standing(node, market) == (3, 3, 1)
    assert gains(node, before, "dan") == [500_000]
    assert insurance(node, "oracle") == insured - 500_000


def test_a_fixed_fee_takes_no_more_than_the_losers_leave(node: NodeProcess) -> None:
    market = opened(node, oracle="chuck", creator="chuck", oracle_fixed_fee="50.000 VIZ")
    bet(node, market, "bob", 0, 20)
    bet(node, market, "dan", 1, 10)
    before = balances(node, "chuck", "bob")
    decided(node, market, oracle="chuck")
    node.call("dev_api", "move_time", HOUR)

    assert gains(node, before, "chuck", "bob") == [210_000, 20_000]
    assert [each["payout"] for name, each in last_operations(node, "dan") if name == "pm_payout"][-1] == "0.000 VIZ"


def test_a_bet_that_costs_too_much_is_refused_by_its_least_weight(node: NodeProcess) -> None:
    market = opened(node)
    refused: Any = broadcast(
        node,
        (
            "pm_place_bet",
            {"account": "bob", "market_id": market, "side": 0, "amount": "20.000 VIZ", "min_tokens": 20_000},
        ),
    )

    assert "Slippage: tokens below min_tokens" in refused["message"]
    assert '`"min_tokens": 6000` in a bet refuses it if the weight would be less' in DOCUMENT
