"""Markets and oracles of a test's chain."""

from __future__ import annotations

import pytest

from ledgerd.testing.chain import DevChain
from ledgerd.testing.errors import RequestRefused


def test_a_market_is_opened_bet_on_decided_and_paid(chain: DevChain) -> None:
    market = chain.market()
    bets = [market.bet("bob", "Yes", "10.000 VIZ"), market.bet("charlie", 1, "10.000 VIZ")]
    market.resolve("Yes")

    assert bets == [0, 1]
    assert market.settle() == {"bob": "19.900 VIZ", "charlie": "0.000 VIZ"}
    assert chain.balance("bob") == "10009.900 VIZ"


def test_a_market_may_have_more_outcomes_and_an_oracle_of_its_own(chain: DevChain) -> None:
    carol = chain.new_account("carol", balance="6000.000 VIZ")
    chain.oracle(carol, fee_percent=500)

    market = chain.market("bob", ("Red", "Green", "Blue"), oracle=carol, betting=60, liquidity="200.000 VIZ", url="u")
    market.bet("alice", "Green", "5.000 VIZ")

    record = market.record
    assert (record["oracle"], record["outcome_count"], record["liquidity_sum"], record["url"]) == (
        "carol",
        3,
        200_000,
        "u",
    )
    assert chain.call("prediction_market_api", "get_oracle", "carol")["oracle"]["fee_percent"] == 500
    market.end_betting()
    with pytest.raises(RequestRefused, match="betting"):
        market.bet("alice", "Green", "5.000 VIZ")
    with pytest.raises(ValueError, match="'Black' is none of the outcomes"):
        market.resolve("Black")


def test_a_bet_is_taken_back(chain: DevChain) -> None:
    market = chain.market()

    market.cancel_bet("bob", market.bet("bob", "No", "10.000 VIZ"))

    assert chain.balance("bob") == "10000.000 VIZ"


def test_a_market_without_an_answer_gives_everything_back(chain: DevChain) -> None:
    market = chain.market("alice", dispute_penalty_percent=0)
    market.bet("bob", "No", "10.000 VIZ")
    market.cancel()

    assert market.settle() == {}
    assert chain.balance("bob") == "10500.000 VIZ"  # and what the oracle pays for it
