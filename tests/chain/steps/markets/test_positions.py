"""Positions with a loan: funding, and the end of betting (spec 09, sections 5.4 and 5.5)."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.liquidation import bring_end, expect_end
from ledgerd.protocol.operations.markets.virtual_markets import PmLeverageLiquidate, PmLeverageResolve
from ledgerd.state.objects.markets.leverage import (
    ACTIVE,
    LEVERAGE_ENDS,
    LIQUIDATED,
    LOST,
    PM_LEVERAGE_POSITIONS,
    WON,
    PmLeveragePosition,
)
from ledgerd.state.objects.markets.markets import PM_MARKETS, RESOLVED, PmMarket
from tests.chain.ledgers import NOW, change, close_all, set_median
from tests.chain.market_scenes import create_market, create_position, market_ledger
from tests.chain.steps.markets.market_blocks import next_block, of_kind, this_block

DAY = 86_400


def open_position(ledger: Ledger, market: PmMarket, **fields: Any) -> PmLeveragePosition:
    """As an operation opens it: of 150,000, two thirds of them lent."""
    amounts = {"collateral": 50_000, "loan": 100_000, "total_bet": 150_000, "tokens": 145_632}
    expect_end(ledger, market)
    return create_position(
        ledger,
        market,
        **{**amounts, "liquidation_threshold": 110_000, "funding_due_time": NOW + DAY, **fields},
    )


def leveraged_market(ledger: Ledger, **fields: Any) -> PmMarket:
    curve = {"reserve_a": 5_150_000, "reserve_b": 4_854_368, "k": 25 * 10**12}
    return create_market(ledger, 10_000_000, **{**curve, **fields})


def test_funding_is_charged_for_each_day_begun(markets: Ledger) -> None:
    position = open_position(markets, leveraged_market(markets), funding_due_time=NOW - 2 * DAY)

    assert this_block(markets) == []

    assert (position.funding_paid, position.funding_due_time, position.last_update) == (30, NOW + DAY, NOW)
    assert position.status == ACTIVE


def test_a_position_worth_no_more_than_it_then_owes_is_closed(markets: Ledger) -> None:
    """It is worth 150,000, and 10 are due."""
    market = leveraged_market(markets)
    falls = open_position(markets, market, liquidation_threshold=149_990, funding_due_time=NOW)

    happened = this_block(markets)

    assert [(each.position_id, each.reason) for each in of_kind(happened, PmLeverageLiquidate)] == [(falls.id, 3)]
    assert (falls.status, market.deferred_claim_count) == (LIQUIDATED, 0)


def test_a_position_worth_one_more_stays(markets: Ledger) -> None:
    stays = open_position(markets, leveraged_market(markets), liquidation_threshold=149_989, funding_due_time=NOW)

    assert this_block(markets) == []
    assert stays.funding_paid == 10


def test_a_position_that_never_pays_is_not_looked_at(markets: Ledger) -> None:
    position = open_position(markets, leveraged_market(markets), funding_due_time=0, liquidation_threshold=10**6)

    assert this_block(markets) == []
    assert position.status == ACTIVE


def test_each_look_at_funding_takes_a_turn(markets: Ledger) -> None:
    market = leveraged_market(markets)
    positions = [open_position(markets, market, funding_due_time=NOW - number) for number in range(3)]
    set_median(markets, pm_processing_cap_per_block=2)

    this_block(markets)

    assert [position.funding_paid for position in positions] == [0, 10, 10]


def test_positions_fall_when_betting_ends(markets: Ledger) -> None:
    market = leveraged_market(markets, betting_expiration=NOW + 1)
    position = open_position(markets, market)

    assert this_block(markets) == []
    happened = next_block(markets, 1)

    assert [each.won for each in of_kind(happened, PmLeverageResolve)] == [True]
    assert (position.status, market.deferred_claim_count) == (WON, 1)
    assert not list(markets.store.scan(LEVERAGE_ENDS))


def test_positions_of_an_open_ended_market_stand_until_it_is_resolved(markets: Ledger) -> None:
    market = leveraged_market(markets, betting_expiration=0, result_expiration=NOW + 10**6)
    position = open_position(markets, market, liquidation_threshold=160_000)
    assert next_block(markets, 10_000) == []

    change(markets, market, status=RESOLVED)
    bring_end(markets, market)

    assert len(this_block(markets)) == 1
    assert position.status == LOST


def test_a_void_refund_closes_what_stands_and_forgets_the_market(markets: Ledger) -> None:
    market = leveraged_market(markets, betting_expiration=0, result_expiration=1)
    position = open_position(markets, market)

    this_block(markets)

    assert position.status == WON
    assert not list(markets.store.scan(LEVERAGE_ENDS))


@settings(max_examples=40, deadline=None)
@given(data=st.data(), cap=st.integers(1, 5))
def test_those_fall_that_a_walk_over_all_positions_finds_in_its_order(data: st.DataObject, cap: int) -> None:
    """The walk of the reference, by the letter of section 5.5."""
    with tempfile.TemporaryDirectory() as folder:
        ledger = market_ledger(Path(folder))
        expirations = data.draw(st.lists(st.sampled_from([0, NOW - 1, NOW, NOW + 1]), min_size=1, max_size=4))
        all_markets = [
            leveraged_market(ledger, betting_expiration=time, result_expiration=NOW + 10**6) for time in expirations
        ]
        for market in all_markets:
            dues = data.draw(st.lists(st.sampled_from([0, NOW + 1, NOW + 2]), max_size=3))
            for due in dues:
                open_position(ledger, market, funding_due_time=due)
            if data.draw(st.booleans()):
                change(ledger, market, status=RESOLVED)
                bring_end(ledger, market)
        set_median(ledger, pm_processing_cap_per_block=cap)
        while True:
            walk = sorted(
                (position.funding_due_time, position.id)
                for position in ledger.store.scan(PM_LEVERAGE_POSITIONS)
                if position.status == ACTIVE and is_over(ledger, position)
            )
            closed = [each.position_id for each in of_kind(this_block(ledger), PmLeverageResolve)]
            assert closed == [position_id for _, position_id in walk[:cap]]
            if not walk:
                break
        close_all()


def is_over(ledger: Ledger, position: PmLeveragePosition) -> bool:
    market = ledger.store.get(PM_MARKETS, position.market)
    return market.status >= RESOLVED or 0 != market.betting_expiration <= ledger.now
