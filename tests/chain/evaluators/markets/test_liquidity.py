from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.liquidity import PmAddLiquidity, PmWithdrawLiquidity
from ledgerd.protocol.operations.markets.virtual_markets import PmLeverageLiquidate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.state.objects.markets import leverage
from ledgerd.state.objects.markets.liquidity import ACTIVE, CLOSED, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import PmMarket
from tests.chain.ledgers import BOB, CAROL, NOW, carry_out, change, refuses, set_median
from tests.chain.market_scenes import (
    FAR_ID,
    NOBODY,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    create_market,
    create_multi_market,
    create_position,
    market_ledger,
)

ADD = PmAddLiquidity(provider=BOB, market_id=0, amount=tokens(100_000), extensions=())
WITHDRAW = PmWithdrawLiquidity(provider=BOB, liquidity_id=0, amount=tokens(0), extensions=())

BELOW = "mkt.liquidity_sum.value - withdraw.value >= floor: Withdrawal would drop market liquidity below the minimum"
LOCKED = (
    "mkt.finalized_time != time_point_sec() || (mkt.status < 2 && (mkt.betting_expiration == time_point_sec() || now < "
    "mkt.betting_expiration)): LP positions are locked once betting closes or the market resolves, until settlement"
)
DRAINED = (
    "!db.has_hardfork(CHAIN_PM_AUDIT_FIX_HARDFORK) || b_remove <= mkt.lmsr_b: Withdrawal would drain the LMSR pricing "
    "curve: this position's b_share is larger than the market holds (pre-audit-fix partial-withdraw bookkeeping)"
)


def provide(ledger: Ledger, market: PmMarket, amount: int, **fields: Any) -> PmLiquidity:
    """What bob has put into a market, which has it already."""
    row = PmLiquidity(market=market.id, provider=BOB, amount=amount)
    for field, value in fields.items():
        setattr(row, field, value)
    return ledger.store.create(PM_LIQUIDITY, row)


def row_of(ledger: Ledger, row_id: int = 0) -> PmLiquidity:
    return ledger.store.get(PM_LIQUIDITY, row_id)


def curve_of(market: PmMarket) -> tuple[int, int, int, int]:
    return market.reserve_a, market.reserve_b, market.k, market.liquidity_sum


def test_adding_asks_in_this_order(markets: Ledger) -> None:
    market = create_market(markets)
    scene = Scene(markets, ADD, market=market, bob=markets.account(BOB))

    caused = scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": 0}}),
            Rule("mkt.status == 1: Market not active", {"market": {"status": 0}}, {"market": {"status": 1}}),
            Rule(
                "mkt.betting_expiration == time_point_sec() || now < mkt.betting_expiration: "
                "Cannot add liquidity after betting ends",
                {"market": {"betting_expiration": NOW}},
                {"market": {"betting_expiration": NOW + 1}},
            ),
            Rule("o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ", {"operation": {"amount": shares(100_000)}}),
            Rule(
                "o.amount.amount > 0: Amount must be positive",
                {"operation": {"amount": tokens(0)}},
                {"operation": {"amount": tokens(1)}},
            ),
            Rule(
                "o.amount.amount >= mp.pm_min_liquidity.amount: Liquidity below the minimum (pm_min_liquidity); "
                "the floor applies to topping up a market too",
                {"operation": {"amount": tokens(99_999)}},
                {"operation": {"amount": tokens(100_000)}},
            ),
            Rule(UNKNOWN, {"operation": {"provider": NOBODY}}, {"operation": {"provider": BOB}}),
            Rule(
                "provider.balance >= o.amount: Insufficient balance",
                {"bob": {"balance": 99_999}},
                {"bob": {"balance": 100_000}},
            ),
        ]
    )

    assert caused == []
    assert (markets.account(BOB).balance, row_of(markets).amount) == (0, 100_000)


def test_one_unit_is_enough_where_no_minimum_is(markets: Ledger) -> None:
    create_market(markets)
    set_median(markets, pm_min_liquidity=tokens(0))

    carry_out(markets, replace(ADD, amount=tokens(1)))

    assert row_of(markets).amount == 1


def test_a_curve_gets_deeper_and_back(markets: Ledger) -> None:
    """State D of spec 08, section 13.1, and what is left of it."""
    market = create_market(markets, 100_001, reserve_a=80_000, reserve_b=31_250, k=2_500_050_000)

    assert carry_out(markets, ADD) == []
    assert curve_of(market) == (159_999, 62_499, 9_999_777_501, 200_001)
    assert market.lmsr_subsidy == 100_001
    assert row_of(markets) == PmLiquidity(id=0, provider=BOB, amount=100_000, deposit_time=NOW)
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_liquidity_committed) == (RICH - 100_000, 100_000)

    assert carry_out(markets, replace(WITHDRAW, amount=tokens(100_000))) == []
    assert curve_of(market) == (79_999, 31_249, 79_999 * 31_249, 100_001)
    assert (bob.balance, bob.pm_liquidity_committed) == (RICH, 0)


def test_every_amount_has_a_row_of_its_own(markets: Ledger) -> None:
    market = create_market(markets, betting_expiration=0)

    carry_out(markets, ADD)
    carry_out(markets, ADD)

    assert [row_of(markets, place).amount for place in (0, 1)] == [100_000, 100_000]
    assert market.liquidity_sum == 300_001


@pytest.mark.parametrize("left", [0, -5])
def test_a_curve_without_liquidity_gets_halves(markets: Ledger, left: int) -> None:
    market = create_market(markets, reserve_a=7, reserve_b=9, liquidity_sum=left)

    carry_out(markets, replace(ADD, amount=tokens(100_003)))

    assert curve_of(market) == (50_008, 50_011, 50_008 * 50_011, 100_003 + left)


def test_the_greatest_reserves_are_scaled_as_wide_numbers(markets: Ledger) -> None:
    market = create_market(markets, reserve_a=2**62, reserve_b=2**61, liquidity_sum=2**62)

    carry_out(markets, replace(ADD, amount=tokens(RICH)))

    a, b = 2**62 + RICH, 2**61 + RICH // 2
    assert curve_of(market) == (a, b, a * b, 2**62 + RICH)


def test_positions_do_not_fall_as_liquidity_comes(markets: Ledger) -> None:
    market = create_market(markets)
    position = create_position(markets, market, tokens=10, liquidation_threshold=10**9)

    assert carry_out(markets, ADD) == []
    assert position.status == leverage.ACTIVE


@pytest.mark.parametrize(
    ("hardfork", "kept", "depths"), [(14, 45_511, (118_330, 72_819)), (15, 27_307, (118_330, 91_023))]
)
def test_a_book_gets_deeper_and_back(tmp_path: Path, hardfork: int, kept: int, depths: tuple[int, int]) -> None:
    """The figures of spec 08, section 13.3."""
    ledger = market_ledger(tmp_path, hardfork)
    market = create_multi_market(ledger)
    set_median(ledger, pm_min_liquidity=tokens(50_000))

    carry_out(ledger, replace(ADD, amount=tokens(50_000)))
    assert (row_of(ledger).b_share, market.lmsr_b) == (45_511, 136_534)
    assert (market.lmsr_subsidy, market.liquidity_sum, market.reserve_a, market.k) == (150_000, 150_000, 0, 0)

    carry_out(ledger, replace(WITHDRAW, amount=tokens(20_000)))
    assert (market.lmsr_b, market.lmsr_subsidy, market.liquidity_sum) == (depths[0], 150_000, 130_000)
    assert (row_of(ledger).amount, row_of(ledger).b_share, row_of(ledger).status) == (30_000, kept, ACTIVE)

    carry_out(ledger, replace(WITHDRAW, amount=tokens(30_000)))
    assert (market.lmsr_b, market.liquidity_sum) == (depths[1], 100_000)
    assert (row_of(ledger).amount, row_of(ledger).b_share, row_of(ledger).status) == (30_000, kept, CLOSED)


def test_a_book_without_liquidity_gets_no_depth(markets: Ledger) -> None:
    market = create_multi_market(markets, liquidity_sum=0)

    carry_out(markets, ADD)

    assert (row_of(markets).b_share, market.lmsr_b, market.lmsr_subsidy) == (0, 91_023, 200_000)


def test_withdrawing_asks_in_this_order(markets: Ledger) -> None:
    market = create_market(markets, 150_000)
    row = provide(markets, market, 50_000)
    scene = Scene(markets, WITHDRAW, market=market, row=row)
    invalid = "withdraw.value > 0 && withdraw.value <= lp.amount.value: Invalid withdrawal amount"

    caused = scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"liquidity_id": FAR_ID}}, {"operation": {"liquidity_id": 0}}),
            Rule(
                "lp.provider == o.provider: Not your liquidity position",
                {"operation": {"provider": CAROL}},
                {"operation": {"provider": BOB}},
            ),
            Rule("lp.status == 0: Position already closed", {"row": {"status": CLOSED}}, {"row": {"status": ACTIVE}}),
            Rule(UNKNOWN, {"row": {"market": 9}}, {"row": {"market": 0}}),
            Rule(LOCKED, {"market": {"betting_expiration": NOW}}, {"market": {"betting_expiration": NOW + 1}}),
            Rule(invalid, {"operation": {"amount": tokens(-1)}}),
            Rule(invalid, {"operation": {"amount": tokens(0)}, "row": {"amount": 0}}, {"row": {"amount": 50_000}}),
            Rule(invalid, {"operation": {"amount": tokens(50_001)}}, {"operation": {"amount": tokens(50_000)}}),
            Rule(BELOW, {"market": {"liquidity_sum": 149_999}}, {"market": {"liquidity_sum": 150_000}}),
        ]
    )

    assert caused == []
    assert (row.status, row.amount, market.liquidity_sum) == (CLOSED, 50_000, 100_000)


def test_withdrawing_from_a_book_asks_for_its_depth_last(markets: Ledger) -> None:
    market = create_multi_market(markets, liquidity=150_000)
    provide(markets, market, 50_000, b_share=45_511)
    scene = Scene(markets, WITHDRAW, market=market)

    scene.asks_in_order(
        [
            Rule(BELOW, {"market": {"liquidity_sum": 149_999}}, {"market": {"liquidity_sum": 150_000}}),
            Rule(DRAINED, {"market": {"lmsr_b": 45_510}}, {"market": {"lmsr_b": 45_511}}),
        ]
    )

    assert market.lmsr_b == 0


def test_a_part_is_asked_for_its_part_of_the_depth(markets: Ledger) -> None:
    market = create_multi_market(markets, liquidity=150_000)
    provide(markets, market, 50_000, b_share=45_511)
    part = replace(WITHDRAW, amount=tokens(20_000))

    change(markets, market, lmsr_b=18_203)
    refuses(markets, part, DRAINED)
    change(markets, market, lmsr_b=18_204)
    carry_out(markets, part)

    assert market.lmsr_b == 0


def test_before_hardfork_15_a_book_may_be_drained(tmp_path: Path) -> None:
    ledger = market_ledger(tmp_path, hardfork=14)
    market = create_multi_market(ledger, liquidity=150_000, lmsr_subsidy=150_000)
    change(ledger, market, lmsr_b=5)
    provide(ledger, market, 50_000, b_share=45_511)

    carry_out(ledger, WITHDRAW)

    assert market.lmsr_b == 5 - 45_511


def test_a_row_without_a_part_of_the_depth_is_not_asked_for_it(markets: Ledger) -> None:
    market = create_multi_market(markets, liquidity=150_000)
    change(markets, market, lmsr_b=-7)
    provide(markets, market, 50_000)

    carry_out(markets, WITHDRAW)

    assert (market.lmsr_b, row_of(markets).status) == (-7, CLOSED)


@pytest.mark.parametrize(
    ("least", "status", "floor"),
    [
        (100_000, leverage.ACTIVE, 5_000_000),
        (6_000_000, leverage.ACTIVE, 6_000_000),
        (100_000, leverage.LIQUIDATED, 100_000),
    ],
)
def test_more_must_stay_where_positions_stand(markets: Ledger, least: int, status: int, floor: int) -> None:
    market = create_market(markets, floor + 199)
    create_position(markets, market, status=status, liquidation_threshold=-1)
    set_median(markets, pm_min_liquidity=tokens(least))
    provide(markets, market, 1_000)

    refuses(markets, replace(WITHDRAW, amount=tokens(200)), BELOW)
    carry_out(markets, replace(WITHDRAW, amount=tokens(199)))

    assert (market.liquidity_sum, row_of(markets).amount) == (floor, 801)


def test_positions_of_other_markets_do_not_matter(markets: Ledger) -> None:
    market, other = create_market(markets, 150_000), create_market(markets)
    create_position(markets, other)
    provide(markets, market, 50_000)

    carry_out(markets, WITHDRAW)

    assert market.liquidity_sum == 100_000


@pytest.mark.parametrize("fields", [{"status": 2}, {"status": 3}, {"status": 0, "betting_expiration": NOW}])
def test_when_liquidity_is_locked(markets: Ledger, fields: dict[str, int]) -> None:
    market = create_market(markets, 150_000, **fields)
    provide(markets, market, 50_000)

    refuses(markets, WITHDRAW, LOCKED)


@pytest.mark.parametrize("fields", [{"status": 0}, {"status": -1}, {"betting_expiration": 0}])
def test_when_liquidity_is_not_locked(markets: Ledger, fields: dict[str, int]) -> None:
    market = create_market(markets, 150_000, **fields)
    provide(markets, market, 50_000)

    carry_out(markets, WITHDRAW)

    assert markets.account(BOB).balance == RICH + 50_000


def test_after_settlement_everything_may_go_with_its_fees(markets: Ledger) -> None:
    market = create_market(markets, 150_000, status=3, betting_expiration=NOW - 9, finalized_time=NOW - 1)
    provide(markets, market, 150_000, earned_fee=77)
    change(markets, markets.account(BOB), pm_liquidity_committed=149_999)

    carry_out(markets, replace(WITHDRAW, amount=tokens(149_999)))
    row, bob = row_of(markets), markets.account(BOB)
    assert (row.amount, row.earned_fee, row.status) == (1, 0, ACTIVE)
    assert (bob.balance, bob.pm_liquidity_committed) == (RICH + 150_076, 0)

    carry_out(markets, WITHDRAW)
    assert (row.amount, row.earned_fee, row.status) == (1, 0, CLOSED)
    assert (curve_of(market), bob.balance) == ((0, 0, 0, 0), RICH + 150_077)


def test_the_fees_of_a_whole_withdrawal_are_gone(markets: Ledger) -> None:
    provide(markets, create_market(markets, 150_000), 50_000, earned_fee=77)

    carry_out(markets, WITHDRAW)

    assert (row_of(markets).earned_fee, markets.account(BOB).balance) == (0, RICH + 50_077)


def test_a_curve_without_liquidity_keeps_its_reserves(markets: Ledger) -> None:
    market = create_market(markets, finalized_time=NOW, reserve_a=7, reserve_b=9, k=63, liquidity_sum=0)
    provide(markets, market, 50_000)

    carry_out(markets, WITHDRAW)

    assert curve_of(market) == (7, 9, 63, -50_000)


FALLEN = {"tokens": 690_336, "liquidation_threshold": 10**9, "total_bet": 700_000, "loan": 200_000}


def test_positions_of_both_sides_fall_as_liquidity_goes(markets: Ledger) -> None:
    market = create_market(markets, 100_000_000)
    positions = [create_position(markets, market, outcome_index=side, **FALLEN) for side in (1, 0)]
    standing = create_position(markets, market, **{**FALLEN, "liquidation_threshold": 1})
    provide(markets, market, 50_000)

    caused = carry_out(markets, WITHDRAW)

    assert [
        (type(each), each.position_id, each.reason) for each in caused if isinstance(each, PmLeverageLiquidate)
    ] == [
        (PmLeverageLiquidate, 0, 0),
        (PmLeverageLiquidate, 1, 0),
    ]
    assert len(caused) == 2
    assert [each.status for each in (*positions, standing)] == [leverage.LIQUIDATED] * 2 + [leverage.ACTIVE]


def test_positions_are_judged_at_the_prices_that_are_left(markets: Ledger) -> None:
    """Worth 680,935 before the withdrawal, and 671,786 after it."""
    market = create_market(markets, 100_000_000)
    position = create_position(markets, market, **{**FALLEN, "liquidation_threshold": 680_000})
    provide(markets, market, 50_000_000)

    carry_out(markets, replace(WITHDRAW, amount=tokens(1)))
    assert position.status == leverage.ACTIVE
    carry_out(markets, WITHDRAW)
    assert position.status == leverage.LIQUIDATED


def test_in_a_book_nothing_falls(markets: Ledger) -> None:
    market = create_multi_market(markets, liquidity=10_000_000)
    position = create_position(markets, market, **FALLEN)
    provide(markets, market, 50_000)

    assert carry_out(markets, WITHDRAW) == []
    assert position.status == leverage.ACTIVE


def test_no_more_is_paid_than_an_amount_can_be(markets: Ledger) -> None:
    market = create_market(markets, 150_000)
    provide(markets, market, 50_000, earned_fee=2**63 - 50_000)

    refuses(markets, WITHDRAW, "")
