"""Positions that their owners close, or turn into bets."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.leverage import PmLeverageClose, PmLeverageConvert
from ledgerd.state.objects.markets.bets import PmBet
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest
from ledgerd.state.objects.markets.leverage import (
    ACTIVE,
    CLOSED,
    CONVERTED,
    LIQUIDATED,
    PmLeveragePosition,
)
from ledgerd.state.objects.markets.markets import PM_MARKETS, PmMarket
from ledgerd.state.objects.markets.settlements import CLOSED_LEVERAGE, PM_DEFERRED_CLAIMS, PmDeferredClaim
from tests.chain.ledgers import BOB, CAROL, NOW, carry_out, change, pass_time, refuses, set_median
from tests.chain.leverage_scenes import DAY, LENDABLE, OPEN, K, create_deep_market, position_of
from tests.chain.market_scenes import (
    FAR_ID,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    bet_of,
    create_position,
    pool_of,
)

CLOSE = PmLeverageClose(account=BOB, position_id=0, min_return=0, extensions=())
CONVERT = PmLeverageConvert(account=BOB, position_id=0, conversion_profit_cost=50, extensions=())


def claims_of(ledger: Ledger) -> list[PmDeferredClaim]:
    return list(ledger.store.scan(PM_DEFERRED_CLAIMS))


def market_of(ledger: Ledger) -> PmMarket:
    return ledger.store.get(PM_MARKETS, 0)


def open_position(ledger: Ledger, **fields: Any) -> PmLeveragePosition:
    """The position of spec 08, section 13.6, worth 700,000, in a market that was resolved since."""
    market = create_deep_market(ledger)
    pool_of(ledger, free_balance=LENDABLE)
    carry_out(ledger, OPEN)
    change(ledger, market, status=3, payout_status=1)
    change(ledger, position_of(ledger), **fields)
    set_median(ledger, pm_leverage_enabled=False)
    return position_of(ledger)


def let_three_days_count(ledger: Ledger) -> None:
    """Until funding of 300 is due."""
    set_median(ledger, pm_leverage_funding_rate_ppm_per_day=500)
    pass_time(ledger, 3 * DAY)


OF_THE_POSITION = (
    Rule(UNKNOWN, {"operation": {"position_id": FAR_ID}}, {"operation": {"position_id": 0}}),
    Rule(
        "pos.account == o.account: Not your position",
        {"operation": {"account": CAROL}},
        {"operation": {"account": BOB}},
    ),
    Rule(
        "pos.status == 0: Position not active", {"position": {"status": LIQUIDATED}}, {"position": {"status": ACTIVE}}
    ),
)


def test_closing_asks_in_this_order(markets: Ledger) -> None:
    """The funding that is due now, 20, counts; who is refused is not charged it."""
    position = open_position(markets, funding_due_time=NOW)
    scene = Scene(markets, CLOSE, position=position)

    caused = scene.asks_in_order(
        [
            *OF_THE_POSITION,
            Rule(
                "cv >= obligation: Position underwater: cannot voluntarily close",
                {"position": {"liquidation_threshold": 699_981}},
                {"position": {"liquidation_threshold": 699_980}},
            ),
            Rule(
                "bettor_received >= o.min_return: Return below min_return",
                {"operation": {"min_return": 1}},
                {"operation": {"min_return": 0}},
            ),
        ]
    )

    assert caused == []
    assert (position.status, position.bettor_received, position.pool_received) == (CLOSED, 0, 700_000)
    assert (position.funding_paid, position.funding_due_time) == (20, NOW + DAY)
    assert claims_of(markets) == []


def test_a_position_is_closed(markets: Ledger) -> None:
    """The figures of spec 08, section 13.6."""
    position, pool = open_position(markets), pool_of(markets, total_shares=1_000_000)
    let_three_days_count(markets)

    refuses(markets, replace(CLOSE, min_return=479_701), "bettor_received >= o.min_return: Return below min_return")
    assert carry_out(markets, replace(CLOSE, min_return=479_700)) == []

    now = NOW + 3 * DAY
    claim = PmDeferredClaim(
        id=0, market=0, account=BOB, kind=CLOSED_LEVERAGE, outcome_index=0, claim_amount=479_700, exit_time=now
    )
    assert claims_of(markets) == [claim]
    assert (pool.free_balance, pool.leverage_fund_used) == (LENDABLE + 20_300, 0)
    assert (pool.earned_balance, pool.reward_per_share) == (20_300, 20_300_000)
    assert (position.status, position.pool_received, position.bettor_received) == (CLOSED, 220_300, 479_700)
    assert (position.funding_paid, position.last_update, position.cancel_value_at_liquidation) == (300, now, 0)
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_leverage_collateral) == (RICH - 500_000, 0)


@pytest.mark.parametrize("side", [0, 1])
def test_a_closed_position_leaves_its_tokens_and_what_it_staked(markets: Ledger, side: int) -> None:
    market = create_deep_market(markets)
    pool_of(markets, free_balance=LENDABLE)
    carry_out(markets, replace(OPEN, outcome_index=side))

    carry_out(markets, CLOSE)

    assert (market.reserve_a, market.reserve_b, market.k) == (50_000_000, 50_000_000, K)
    assert (market.forfeit_pool, market.deferred_claim_count, market.bets_sum) == (480_000, 1, 0)
    assert claims_of(markets)[0].outcome_index == side


@pytest.mark.parametrize(("total", "left"), [(220_001, 1), (220_000, 0), (219_999, 0)])
def test_nothing_is_left_where_more_is_owed_than_was_bet(markets: Ledger, total: int, left: int) -> None:
    open_position(markets, total_bet=total)

    carry_out(markets, CLOSE)

    assert market_of(markets).forfeit_pool == left


@pytest.mark.parametrize(("before", "after"), [(9_999, 10_000), (10_000, 10_000)])
def test_beyond_the_most_claims_a_gain_is_lost(markets: Ledger, before: int, after: int) -> None:
    position = open_position(markets)
    market = market_of(markets)
    change(markets, market, deferred_claim_count=before)

    carry_out(markets, CLOSE)

    assert (market.deferred_claim_count, len(claims_of(markets))) == (after, after - before)
    assert (position.bettor_received, market.forfeit_pool) == (480_000, 480_000)


def test_who_waits_for_the_pool_is_paid_by_a_closed_position(markets: Ledger) -> None:
    open_position(markets)
    pool = pool_of(markets, free_balance=0, pending_withdrawals=300_000)
    markets.store.create(PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest(account=CAROL, amount=100_000))
    markets.store.create(PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest(account=CAROL, amount=100_000))

    carry_out(markets, CLOSE)

    assert (markets.account(CAROL).balance, pool.free_balance) == (RICH + 100_000, 120_000)


def test_closing_closes_no_other_position(markets: Ledger) -> None:
    open_position(markets)
    hopeless = create_position(markets, market_of(markets), liquidation_threshold=10**9)

    assert carry_out(markets, CLOSE) == []
    assert hopeless.status == ACTIVE


def test_converting_asks_in_this_order(markets: Ledger) -> None:
    position = open_position(markets, funding_due_time=NOW)
    scene = Scene(markets, CONVERT, position=position, bob=markets.account(BOB))

    caused = scene.asks_in_order(
        [
            Rule(
                "o.conversion_profit_cost == mp.pm_conversion_profit_cost_percent: "
                "conversion_profit_cost must equal current consensus value",
                {"operation": {"conversion_profit_cost": 51}},
                {"operation": {"conversion_profit_cost": 50}},
            ),
            *OF_THE_POSITION,
            Rule(
                "cv >= obligation: Position underwater",
                {"position": {"liquidation_threshold": 699_981}},
                {"position": {"liquidation_threshold": 699_980}},
            ),
            Rule(
                "current_profit > 0: No profit to convert",
                {"position": {"liquidation_threshold": 699_980}},
                {"position": {"liquidation_threshold": 699_979}},
            ),
            Rule(
                "acct.balance.amount >= total_payment: Insufficient balance for conversion",
                {"bob": {"balance": 699_998}},
                {"bob": {"balance": 699_999}},
            ),
        ]
    )

    assert caused == []
    assert (position.status, markets.account(BOB).balance) == (CONVERTED, 0)


def test_a_smaller_cost_than_the_median_is_refused_too(markets: Ledger) -> None:
    open_position(markets)

    refuses(
        markets,
        replace(CONVERT, conversion_profit_cost=49),
        "o.conversion_profit_cost == mp.pm_conversion_profit_cost_percent: "
        "conversion_profit_cost must equal current consensus value",
    )


def test_a_position_becomes_a_bet(markets: Ledger) -> None:
    """The figures of spec 08, section 13.6. The risk of the bet began as the position was opened."""
    position, pool = open_position(markets), pool_of(markets, total_shares=1_000_000)
    market = market_of(markets)
    change(markets, market, time_penalty_value=2 * (DAY + 1))
    let_three_days_count(markets)

    assert carry_out(markets, CONVERT) == []

    now = NOW + 3 * DAY
    assert bet_of(markets) == PmBet(
        id=0,
        market=0,
        account=BOB,
        side=0,
        outcome_index=-1,
        amount=700_000,
        weight=690_336,
        created_time=now,
        time_penalty=500_000,
        entry_liquidity=100_000_000,
    )
    assert (market.a_bets_sum, market.b_bets_sum, market.bets_sum) == (700_000, 0, 700_000)
    assert (market.reserve_a, market.reserve_b, market.forfeit_pool) == (50_700_000, 49_309_664, 0)
    assert (pool.free_balance, pool.leverage_fund_used) == (LENDABLE - 200_000 + 460_150, 0)
    assert (pool.earned_balance, pool.reward_per_share) == (260_150, 260_150_000)
    assert (position.status, position.last_update, position.funding_paid) == (CONVERTED, now, 300)
    assert (position.pool_received, position.bettor_received, claims_of(markets)) == (0, 0, [])
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_leverage_collateral, bob.pm_bets_staked) == (RICH - 500_000 - 460_150, 0, 700_000)


def test_a_position_on_side_1_becomes_a_bet_on_it(markets: Ledger) -> None:
    market = create_deep_market(markets)
    pool_of(markets, free_balance=LENDABLE)
    carry_out(markets, replace(OPEN, outcome_index=1))

    carry_out(markets, CONVERT)

    assert (market.a_bets_sum, market.b_bets_sum, bet_of(markets).side) == (0, 700_000, 1)


def test_who_waits_for_the_pool_may_be_the_one_who_converts(markets: Ledger) -> None:
    open_position(markets)
    pool = pool_of(markets, free_balance=0, pending_withdrawals=100_000)
    markets.store.create(PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest(account=BOB, amount=100_000))

    carry_out(markets, CONVERT)

    assert (markets.account(BOB).balance, pool.free_balance) == (RICH - 500_000 - 460_000 + 100_000, 360_000)
