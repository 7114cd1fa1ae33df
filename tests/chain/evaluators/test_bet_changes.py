"""Bets that are taken back or given away."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.bets import PmCancelBet, PmPlaceBet, PmTransferPosition
from ledgerd.protocol.operations.markets.virtual_markets import PmLeverageLiquidate
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets.bets import ACTIVE, CANCELLED, PM_BETS, QUEUED, REFUNDED, RESOLVED, PmBet
from ledgerd.state.objects.markets.leverage import LIQUIDATED
from ledgerd.state.objects.markets.markets import BEING_PAID, OUTCOME_BY_MARKET, PmMarket, PmOutcome
from ledgerd.state.objects.markets.settlements import CANCELLED_BET, PM_DEFERRED_CLAIMS, PmDeferredClaim
from tests.chain.ledgers import BOB, CAROL, NOW, carry_out, change, refuses, set_median
from tests.chain.market_scenes import (
    FAR_ID,
    NOBODY,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    bet_of,
    create_market,
    create_multi_market,
    create_position,
)

BET = PmPlaceBet(
    account=BOB, market_id=0, side=0, outcome_index=-1, amount=tokens(10_000), min_tokens=0, mode=0, extensions=()
)
ON_OUTCOME = replace(BET, side=-1, outcome_index=0)

MOST = 2**63 - 1
WINDOW = "mkt.betting_expiration == time_point_sec() || now < mkt.betting_expiration: "


def outcome_of(ledger: Ledger, market: PmMarket, place: int) -> PmOutcome:
    return ledger.store.at(OUTCOME_BY_MARKET, market.id, place)


LEVERAGED = {
    "collateral": 500_000,
    "loan": 200_000,
    "total_bet": 700_000,
    "tokens": 690_336,
    "pool_profit": 20_000,
    "liquidation_threshold": 220_000,
}


CANCEL = PmCancelBet(account=BOB, bet_id=0, min_return=0, extensions=())


GIVE = PmTransferPosition(sender=BOB, bet_id=0, recipient=CAROL, amount=0, memo="for you", extensions=())


def test_taking_a_bet_back_asks_in_this_order(markets: Ledger) -> None:
    market = create_market(markets)
    carry_out(markets, BET)
    scene = Scene(markets, CANCEL, market=market, bet=bet_of(markets))

    scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"bet_id": FAR_ID}}, {"operation": {"bet_id": 0}}),
            Rule(
                "bet.account == o.account: Not your bet",
                {"operation": {"account": CAROL}},
                {"operation": {"account": BOB}},
            ),
            Rule("bet.status == 0: Bet not active", {"bet": {"status": QUEUED}}, {"bet": {"status": ACTIVE}}),
            Rule(
                "mkt.allow_cancellation: Cancellation not allowed",
                {"market": {"allow_cancellation": False}},
                {"market": {"allow_cancellation": True}},
            ),
            Rule("mkt.status == 1: Market not active", {"market": {"status": 3}}, {"market": {"status": 1}}),
            Rule(
                f"{WINDOW}Cannot cancel bets after betting closes",
                {"market": {"betting_expiration": NOW}},
                {"market": {"betting_expiration": NOW + 1}},
            ),
            Rule(
                "denom.lo > 0 || denom.hi > 0: CPMM overflow",
                {"market": {"reserve_b": -8_334}},
            ),
            Rule(
                "curve_refund >= 0: curve-priced refund underflow",
                {"market": {"reserve_b": 41_667, "reserve_a": 49_999}},
                {"market": {"reserve_a": 60_000, "reserve_b": 41_667}},
            ),
            Rule(
                "refund.value >= o.min_return: Refund below min_return",
                {"operation": {"min_return": 10_001}},
                {"operation": {"min_return": 10_000}},
            ),
        ]
    )

    assert markets.account(BOB).balance == RICH


@pytest.mark.parametrize("status", [CANCELLED, REFUNDED, RESOLVED, QUEUED, 6])
def test_only_active_bets_are_taken_back_or_given_away(markets: Ledger, status: int) -> None:
    create_market(markets)
    carry_out(markets, BET)
    change(markets, bet_of(markets), status=status)

    refuses(markets, CANCEL, "bet.status == 0: Bet not active")
    refuses(markets, GIVE, "bet.status == 0: Bet not active")


def test_what_a_cancelled_bet_gives_beyond_its_stake_is_a_claim(markets: Ledger) -> None:
    """State C of spec 08, section 13.1."""
    market = create_market(markets)
    carry_out(markets, BET)
    carry_out(markets, replace(BET, amount=tokens(20_000), account=CAROL))

    assert carry_out(markets, CANCEL) == []

    assert (market.reserve_a, market.reserve_b, market.k) == (63_158, 39_584, 2_500_050_000)
    assert (market.a_bets_sum, market.bets_sum, market.forfeit_pool) == (20_000, 20_000, 0)
    assert list(markets.store.scan(PM_DEFERRED_CLAIMS)) == [
        PmDeferredClaim(id=0, market=0, account=BOB, kind=CANCELLED_BET, claim_amount=6_842, exit_time=NOW)
    ]
    assert market.deferred_claim_count == 1
    bob, bet = markets.account(BOB), bet_of(markets)
    assert (bob.balance, bob.pm_bets_staked) == (RICH, 0)
    assert (bet.status, bet.amount, bet.weight) == (CANCELLED, 10_000, 8_334)


def test_what_a_cancelled_bet_gives_less_than_its_stake_is_forfeited(markets: Ledger) -> None:
    """State F of spec 08, section 13.1."""
    market = create_market(markets)
    carry_out(markets, BET)
    carry_out(markets, replace(BET, side=1, amount=tokens(30_000), account=CAROL))

    refuses(markets, replace(CANCEL, min_return=3_635), "refund.value >= o.min_return: Refund below min_return")
    carry_out(markets, replace(CANCEL, min_return=3_634))

    assert (market.reserve_a, market.reserve_b, market.forfeit_pool) == (31_250, 80_001, 6_366)
    assert markets.account(BOB).balance == RICH - 6_366
    assert (market.deferred_claim_count, markets.store.count(PM_DEFERRED_CLAIMS)) == (0, 0)
    assert (market.a_bets_sum, market.b_bets_sum, market.bets_sum) == (0, 30_000, 30_000)


def test_a_deeper_market_gives_no_more_for_an_older_bet(markets: Ledger) -> None:
    """State D of spec 08, section 13.1."""
    market = create_market(
        markets,
        liquidity=200_001,
        reserve_a=159_999,
        reserve_b=62_499,
        k=9_999_777_501,
        bets_sum=30_000,
        a_bets_sum=30_000,
    )
    markets.store.create(
        PM_BETS, PmBet(market=0, account=BOB, side=0, amount=10_000, weight=8_334, entry_liquidity=100_001)
    )

    carry_out(markets, CANCEL)

    assert (market.reserve_a, market.reserve_b) == (141_173, 70_833)
    assert markets.store.get(PM_DEFERRED_CLAIMS, 0).claim_amount == 6_844


@pytest.mark.parametrize(("count", "claims"), [(9_999, 1), (10_000, 0)])
def test_a_market_has_so_many_claims_and_no_more(markets: Ledger, count: int, claims: int) -> None:
    market = create_market(markets, deferred_claim_count=count)
    carry_out(markets, BET)
    carry_out(markets, replace(BET, amount=tokens(20_000), account=CAROL))

    carry_out(markets, CANCEL)

    assert (market.deferred_claim_count, markets.store.count(PM_DEFERRED_CLAIMS)) == (10_000, claims)
    assert markets.account(BOB).balance == RICH


def test_the_side_of_a_claim_is_told(markets: Ledger) -> None:
    create_market(markets)
    carry_out(markets, replace(BET, side=1))
    carry_out(markets, replace(BET, side=1, account=CAROL))

    carry_out(markets, CANCEL)

    assert markets.store.get(PM_DEFERRED_CLAIMS, 0).outcome_index == 1


def test_a_bet_on_an_outcome_comes_back_whole(markets: Ledger) -> None:
    market = create_multi_market(markets, 8)
    carry_out(markets, replace(ON_OUTCOME, outcome_index=5))
    carry_out(markets, replace(ON_OUTCOME, outcome_index=5, account=CAROL))
    kept = bet_of(markets, 1).weight

    carry_out(markets, replace(CANCEL, min_return=10_000))

    outcome = outcome_of(markets, market, 5)
    assert (outcome.q, outcome.bets_sum, outcome.bets_count, market.bets_sum) == (kept, 10_000, 1, 10_000)
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_bets_staked, market.forfeit_pool) == (RICH, 0, 0)
    assert bet_of(markets).status == CANCELLED


def test_a_bet_on_no_outcome_comes_back_too(markets: Ledger) -> None:
    """Such as a hidden one on a side, in a market that has none."""
    market = create_multi_market(markets, bets_sum=50)
    markets.store.create(PM_BETS, PmBet(market=market.id, account=BOB, side=1, amount=50))
    change(markets, outcome_of(markets, market, 0), q=7)

    carry_out(markets, CANCEL)

    assert (market.bets_sum, outcome_of(markets, market, 0).q, markets.account(BOB).balance) == (0, 7, RICH + 50)


def test_counters_of_stakes_never_fall_below_zero(markets: Ledger) -> None:
    create_market(markets)
    carry_out(markets, BET)
    change(markets, markets.account(BOB), pm_bets_staked=9_999)

    carry_out(markets, CANCEL)

    assert markets.account(BOB).pm_bets_staked == 0


def test_a_cancelled_bet_closes_positions_of_its_side(markets: Ledger) -> None:
    market = create_market(markets, reserve_a=50_700_000, reserve_b=49_309_664, k=2_500_000_000_000_000)
    carry_out(markets, replace(BET, amount=tokens(60_000_000)))
    position = create_position(markets, market, **{**LEVERAGED, "liquidation_threshold": 705_000})
    on_the_other_side = create_position(
        markets, market, outcome_index=1, **{**LEVERAGED, "liquidation_threshold": 10**9}
    )

    caused = carry_out(markets, CANCEL)

    (fallen,) = caused
    assert isinstance(fallen, PmLeverageLiquidate)
    assert (fallen.position_id, fallen.reason) == (position.id, 1)
    assert (position.status, on_the_other_side.status) == (LIQUIDATED, 0)


def test_giving_a_part_of_a_bet_asks_in_this_order(markets: Ledger) -> None:
    """Of a stake and a weight of 2,000, half is a bet that one could place, and what is left is too."""
    market = create_market(markets)
    markets.store.create(PM_BETS, PmBet(market=0, account=BOB, side=0, amount=2_000, weight=2_000))
    scene = Scene(markets, GIVE, market=market, bet=bet_of(markets))
    invalid = "transfer_weight.value > 0 && transfer_weight.value <= bet.weight.value: Invalid transfer amount"

    scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"bet_id": FAR_ID}}, {"operation": {"bet_id": 0}}),
            Rule(
                "bet.account == o.from: Not your bet", {"operation": {"sender": CAROL}}, {"operation": {"sender": BOB}}
            ),
            Rule("bet.status == 0: Bet not active", {"bet": {"status": QUEUED}}, {"bet": {"status": ACTIVE}}),
            Rule(UNKNOWN, {"operation": {"recipient": NOBODY}}, {"operation": {"recipient": CAROL}}),
            Rule(invalid, {"operation": {"amount": -1}}),
            Rule(invalid, {"operation": {"amount": 0}, "bet": {"weight": 0}}, {"bet": {"weight": 2_000}}),
            Rule(invalid, {"operation": {"amount": 2_001}}),
            Rule(
                "mkt.status == 1: Market not active",
                {"operation": {"amount": 999}, "market": {"status": 3}},
                {"market": {"status": 1}},
            ),
            Rule(
                "mkt.payout_status != 4: Market is being refunded",
                {"operation": {"amount": 999}, "market": {"payout_status": BEING_PAID}},
                {"market": {"payout_status": 0}},
            ),
            Rule(
                "transferred_amount >= mp.pm_min_bet.amount: Transferred part is below the minimum bet (pm_min_bet)",
                {"operation": {"amount": 999}},
            ),
            Rule(
                "bet.amount - transferred_amount >= mp.pm_min_bet.amount: Remaining part is below the minimum bet "
                "(pm_min_bet); transfer the whole position instead",
                {"operation": {"amount": 1_001}},
                {"operation": {"amount": 1_000}},
            ),
        ]
    )

    assert (bet_of(markets).amount, bet_of(markets, 1).amount) == (1_000, 1_000)


@pytest.mark.parametrize("amount", [0, 8_334])
def test_a_bet_is_given_away_whole(markets: Ledger, amount: int) -> None:
    """However small it is, and also after betting has closed."""
    market = create_market(markets)
    carry_out(markets, BET)
    change(markets, market, betting_expiration=NOW)
    set_median(markets, pm_min_bet=tokens(RICH))

    assert carry_out(markets, replace(GIVE, amount=amount)) == []

    bet = bet_of(markets)
    assert (bet.account, bet.amount, bet.weight, markets.store.count(PM_BETS)) == (CAROL, 10_000, 8_334, 1)
    staked = [markets.account(name).pm_bets_staked for name in (BOB, CAROL)]
    assert staked == [0, 10_000]
    assert (market.a_bets_sum, market.bets_sum) == (10_000, 10_000)


def test_a_part_of_a_bet_keeps_what_the_bet_was(markets: Ledger) -> None:
    market = create_multi_market(markets)
    carry_out(markets, ON_OUTCOME)
    bet = bet_of(markets)
    given = {"mode": 1, "epoch": 4, "time_penalty": 5, "entry_liquidity": 6, "price": 7, "min_tokens": 8}
    change(markets, bet, weight=3, created_time=NOW - 9, **given)
    change(markets, markets.account(BOB), pm_bets_staked=10_000)

    carry_out(markets, replace(GIVE, amount=1))

    assert (bet.account, bet.amount, bet.weight) == (BOB, 6_667, 2)
    assert bet_of(markets, 1) == PmBet(
        id=1,
        market=market.id,
        account=CAROL,
        outcome_index=0,
        amount=3_333,
        weight=1,
        mode=1,
        epoch=4,
        created_time=NOW - 9,
        time_penalty=5,
        entry_liquidity=6,
    )
    assert [markets.account(name).pm_bets_staked for name in (BOB, CAROL)] == [6_667, 3_333]
    assert outcome_of(markets, market, 0).bets_count == 1


def test_a_part_of_the_greatest_bet(markets: Ledger) -> None:
    create_market(markets)
    markets.store.create(PM_BETS, PmBet(market=0, account=BOB, side=1, amount=MOST, weight=MOST))

    carry_out(markets, replace(GIVE, amount=MOST - 1_000))

    assert (bet_of(markets).amount, bet_of(markets, 1).amount) == (1_000, MOST - 1_000)
