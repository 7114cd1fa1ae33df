from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.liquidation import (
    ANY_SIDE,
    BY_CANCELLED_BET,
    BY_END,
    BY_FUNDING,
    BY_OPPOSING_BET,
    BY_VOID,
    accrue_funding,
    cascade,
    force_close,
    has_active_position,
    liquidate,
)
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets.virtual_markets import PmLeverageLiquidate, PmLeverageResolve
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest
from ledgerd.state.objects.markets.leverage import (
    ACTIVE,
    CLOSED,
    CONVERTED,
    LEVERAGE_END_BY_MARKET,
    LEVERAGE_ENDS,
    LIQUIDATED,
    LOST,
    WON,
    LeverageEnd,
    PmLeveragePosition,
)
from ledgerd.state.objects.markets.markets import PmMarket
from ledgerd.state.objects.markets.settlements import CLOSED_LEVERAGE, PM_DEFERRED_CLAIMS, PmDeferredClaim
from tests.chain.ledgers import BOB, CAROL, NOW, change, set_median
from tests.chain.leverage_scenes import DAY, K
from tests.chain.market_scenes import RICH, create_market, create_position, pool_of

POSITION = {
    "account": BOB,
    "collateral": 500_000,
    "loan": 200_000,
    "total_bet": 700_000,
    "tokens": 690_336,
    "pool_profit": 20_000,
    "liquidation_threshold": 220_000,
}
"""The position of spec 08, section 13.6, and its market as it left it."""


def create_market_of_position(ledger: Ledger, **fields: Any) -> PmMarket:
    reserves = {"reserve_a": 50_700_000, "reserve_b": 49_309_664, "k": K}
    return create_market(ledger, 100_000_000, **{**reserves, **fields})


def standing(ledger: Ledger, market: PmMarket, **fields: Any) -> PmLeveragePosition:
    return create_position(ledger, market, **{**POSITION, **fields})


def caused(ledger: Ledger) -> list[Operation]:
    """The virtual operations so far."""
    return [each.operation for each in ledger.operations]


def claims_of(ledger: Ledger) -> list[PmDeferredClaim]:
    return list(ledger.store.scan(PM_DEFERRED_CLAIMS))


@pytest.mark.parametrize(
    ("loan", "rate", "late", "added", "periods"),
    [
        (200_000, 500, 2 * DAY, 300, 3),
        (200_000, 500, 2 * DAY - 1, 200, 2),
        (200_000, 500, 0, 100, 1),
        (200_000, 0, 0, 0, 1),
        (9_999, 100, 0, 0, 1),
        (123_456_789, 100, DAY, 24_691, 2),
    ],
)
def test_every_day_begun_is_charged(markets: Ledger, loan: int, rate: int, late: int, added: int, periods: int) -> None:
    set_median(markets, pm_leverage_funding_rate_ppm_per_day=rate)
    due = NOW - late
    position = standing(markets, create_market(markets), loan=loan, funding_paid=7, funding_due_time=due)

    accrue_funding(markets, position)

    assert (position.funding_paid, position.funding_due_time) == (7 + added, due + periods * DAY)
    assert position.last_update == NOW


@pytest.mark.parametrize(
    "fields",
    [
        {"funding_due_time": NOW + 1},
        {"funding_due_time": 0},
        {"funding_due_time": NOW, "status": LIQUIDATED},
        {"funding_due_time": NOW, "status": CLOSED},
    ],
)
def test_when_nothing_is_charged(markets: Ledger, fields: dict[str, int]) -> None:
    position = standing(markets, create_market(markets), **fields)

    accrue_funding(markets, position)

    assert (position.funding_paid, position.last_update) == (0, 0)
    assert position.funding_due_time == fields["funding_due_time"]


@pytest.mark.parametrize("reason", [BY_OPPOSING_BET, BY_CANCELLED_BET, BY_FUNDING])
def test_a_position_falls_with_a_gain(markets: Ledger, reason: int) -> None:
    """What it is worth beyond its obligation is a claim; what was bet beyond it is forfeited."""
    market = create_market_of_position(markets)
    pool = pool_of(markets, total_shares=1_000_000, leverage_fund_used=200_000)
    position = standing(markets, market, funding_paid=280, funding_due_time=NOW)
    change(markets, markets.account(BOB), pm_leverage_collateral=600_000)

    liquidate(markets, position, market, reason)

    assert caused(markets) == [
        PmLeverageLiquidate(BOB, 0, 0, tokens(700_000), tokens(220_300), tokens(479_700), reason)
    ]
    assert (market.reserve_a, market.reserve_b, market.k) == (50_000_000, 50_000_000, K)
    assert (market.forfeit_pool, market.deferred_claim_count, market.bets_sum) == (479_700, 1, 0)
    assert (pool.free_balance, pool.leverage_fund_used) == (220_300, 0)
    assert (pool.earned_balance, pool.reward_per_share) == (20_300, 20_300_000)
    assert claims_of(markets) == [
        PmDeferredClaim(
            id=0, market=0, account=BOB, kind=CLOSED_LEVERAGE, outcome_index=0, claim_amount=479_700, exit_time=NOW
        )
    ]
    assert (position.status, position.funding_paid, position.last_update) == (LIQUIDATED, 300, NOW)
    assert (position.cancel_value_at_liquidation, position.pool_received) == (700_000, 220_300)
    assert (position.bettor_received, position.liquidated_at, position.liquidated_by_bet) == (479_700, 0, 0)
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_leverage_collateral) == (RICH, 100_000)


def test_a_position_falls_with_a_loss(markets: Ledger) -> None:
    """The last figures of spec 08, section 13.6: the pool bears it, and its rewards stay."""
    market = create_market_of_position(markets, reserve_a=22_870_804, reserve_b=109_309_664)
    pool = pool_of(markets, total_shares=1, free_balance=1_000, leverage_fund_used=200_000, earned_balance=5)
    position = standing(markets, market)

    liquidate(markets, position, market, BY_OPPOSING_BET)

    assert caused(markets) == [PmLeverageLiquidate(BOB, 0, 0, tokens(143_532), tokens(143_532), tokens(0), 0)]
    assert (market.reserve_a, market.reserve_b, market.forfeit_pool) == (22_727_272, 110_000_000, 556_468)
    assert (pool.free_balance, pool.leverage_fund_used) == (144_532, 0)
    assert (pool.earned_balance, pool.reward_per_share, claims_of(markets)) == (5, 0, [])


def test_side_1_falls_the_other_way(markets: Ledger) -> None:
    market = create_market_of_position(markets, reserve_a=49_309_664, reserve_b=50_700_000)
    position = standing(markets, market, outcome_index=1)

    liquidate(markets, position, market, BY_OPPOSING_BET)

    assert (market.reserve_a, market.reserve_b) == (50_000_000, 50_000_000)
    assert claims_of(markets)[0].outcome_index == 1


@pytest.mark.parametrize(("threshold", "won"), [(700_000, True), (700_001, False)])
@pytest.mark.parametrize("reason", [BY_END, BY_VOID])
def test_a_settled_position_won_or_lost(markets: Ledger, reason: int, threshold: int, won: bool) -> None:
    market = create_market_of_position(markets)
    position = standing(markets, market, liquidation_threshold=threshold)

    liquidate(markets, position, market, reason)

    assert caused(markets) == [PmLeverageResolve(BOB, 0, 0, won, tokens(700_000), tokens(0), 0, 1)]
    assert position.status == (WON if won else LOST)


def test_at_the_end_of_a_market_a_gain_is_a_claim(markets: Ledger) -> None:
    market = create_market_of_position(markets)
    position = standing(markets, market, collateral=100_000)

    liquidate(markets, position, market, BY_END)

    assert caused(markets) == [PmLeverageResolve(BOB, 0, 0, True, tokens(220_000), tokens(480_000), 0, 7)]
    assert (markets.account(BOB).balance, market.forfeit_pool) == (RICH, 480_000)
    assert claims_of(markets)[0].claim_amount == 480_000


@pytest.mark.parametrize(("bet", "forfeited"), [(700_001, 1), (700_000, 0), (300_000, 0)])
def test_in_a_void_market_a_gain_is_paid_at_once(markets: Ledger, bet: int, forfeited: int) -> None:
    market = create_market_of_position(markets)
    position = standing(markets, market, total_bet=bet)

    liquidate(markets, position, market, BY_VOID)

    assert (markets.account(BOB).balance, market.forfeit_pool) == (RICH + 480_000, forfeited)
    assert (claims_of(markets), market.deferred_claim_count) == ([], 0)


@pytest.mark.parametrize(("before", "after"), [(9_999, 10_000), (10_000, 10_000)])
def test_beyond_the_most_claims_a_gain_is_lost(markets: Ledger, before: int, after: int) -> None:
    market = create_market_of_position(markets, deferred_claim_count=before)
    position = standing(markets, market)

    liquidate(markets, position, market, BY_FUNDING)

    assert (market.deferred_claim_count, len(claims_of(markets))) == (after, after - before)
    assert position.bettor_received == 480_000


def test_a_fallen_position_pays_one_who_waits_for_the_pool(markets: Ledger) -> None:
    market, pool = create_market_of_position(markets), pool_of(markets, pending_withdrawals=200_000)
    for _ in range(2):
        markets.store.create(PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest(account=CAROL, amount=100_000))

    liquidate(markets, standing(markets, market), market, BY_FUNDING)

    assert (markets.account(CAROL).balance, pool.free_balance) == (RICH + 100_000, 120_000)


@pytest.mark.parametrize("status", [LIQUIDATED, WON, LOST, CLOSED, CONVERTED])
def test_which_positions_stand(markets: Ledger, status: int) -> None:
    market, other = create_market(markets), create_market(markets)
    position = standing(markets, market)
    standing(markets, other, status=status)

    assert (has_active_position(markets, market), has_active_position(markets, other)) == (True, False)
    change(markets, position, status=status)
    assert not has_active_position(markets, market)


SINKING = {"reserve_a": 22_870_804, "reserve_b": 109_309_664}
"""Reserves at which the position is worth 143,532."""


@pytest.mark.parametrize(
    ("threshold", "funding", "falls"),
    [(143_532, 0, True), (143_531, 0, False), (143_500, 32, True), (143_500, 31, False)],
)
def test_what_is_worth_no_more_than_it_owes_falls(markets: Ledger, threshold: int, funding: int, falls: bool) -> None:
    market = create_market_of_position(markets, **SINKING)
    position = standing(markets, market, liquidation_threshold=threshold, funding_paid=funding)

    cascade(markets, market, ANY_SIDE, BY_OPPOSING_BET)

    assert position.status == (LIQUIDATED if falls else ACTIVE)


def test_funding_that_is_due_does_not_sink_a_position_in_a_cascade(markets: Ledger) -> None:
    market = create_market_of_position(markets, **SINKING)
    position = standing(markets, market, liquidation_threshold=143_531, funding_due_time=NOW)

    cascade(markets, market, ANY_SIDE, BY_OPPOSING_BET)

    assert (position.status, position.funding_paid) == (ACTIVE, 0)


@pytest.mark.parametrize(("side", "fallen"), [(0, [0]), (1, [1]), (ANY_SIDE, [0, 1])])
def test_a_cascade_keeps_to_its_side_and_market(markets: Ledger, side: int, fallen: list[int]) -> None:
    market, other = create_market_of_position(markets), create_market_of_position(markets)
    for outcome in (0, 1):
        standing(markets, market, outcome_index=outcome, liquidation_threshold=10**9)
    standing(markets, other, liquidation_threshold=10**9)
    standing(markets, market, liquidation_threshold=10**9, status=CONVERTED)

    cascade(markets, market, side, BY_CANCELLED_BET)

    assert [(each.position_id, each.reason) for each in caused(markets) if isinstance(each, PmLeverageLiquidate)] == [
        (place, BY_CANCELLED_BET) for place in fallen
    ]


def test_each_fall_moves_the_price_for_those_before_it(markets: Ledger) -> None:
    """The second falls first, which takes the first down with it; the third is worth more than it owes."""
    market = create_market_of_position(markets)
    worth = 700_000
    first = standing(markets, market, liquidation_threshold=worth - 1)
    second = standing(markets, market, liquidation_threshold=worth)
    third = standing(markets, market, liquidation_threshold=100_000)

    cascade(markets, market, 0, BY_OPPOSING_BET)

    order = [each.position_id for each in caused(markets) if isinstance(each, PmLeverageLiquidate)]
    assert order == [second.id, first.id]
    assert [each.status for each in (first, second, third)] == [LIQUIDATED, LIQUIDATED, ACTIVE]


def test_all_positions_of_a_market_are_closed_by_id(markets: Ledger) -> None:
    market, other = create_market_of_position(markets), create_market_of_position(markets)
    for place in (market, other, market, market):
        standing(markets, place)
    markets.store.create(LEVERAGE_ENDS, LeverageEnd(market=market.id))

    force_close(markets, market, BY_END)

    assert [each.position_id for each in caused(markets) if isinstance(each, PmLeverageResolve)] == [0, 2, 3]
    assert (has_active_position(markets, market), has_active_position(markets, other)) == (False, True)
    assert markets.store.lookup(LEVERAGE_END_BY_MARKET, market.id) is None


def test_a_reserve_of_nothing_divides_nothing(markets: Ledger) -> None:
    market = create_market_of_position(markets, reserve_b=-690_336)
    position = standing(markets, market)

    with pytest.raises(RuleViolation) as refusal:
        liquidate(markets, position, market, BY_FUNDING)
    assert (refusal.value.code, refusal.value.message) == (21, "")
