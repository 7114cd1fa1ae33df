"""Settlements, cut wherever the budget ends (spec 09, section 6.1). The numbers are of section 14.3."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.markets.virtual_markets import (
    PmAutoPayout,
    PmEarlyExitClaimPaid,
    PmLeverageResolve,
    PmLpPayout,
    PmPayout,
)
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.markets import bets
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_ALLOCATIONS, PM_LAZY_POOLS, PmLazyAllocation
from ledgerd.state.objects.markets.leverage import WON
from ledgerd.state.objects.markets.markets import BEING_PAID, PAID, PmMarket
from ledgerd.state.objects.markets.oracles import ORACLE_BY_OWNER
from ledgerd.state.objects.markets.settlements import (
    PM_DEFERRED_CLAIMS,
    PM_SETTLEMENTS,
    SETTLEMENT_BY_MARKET,
    PmDeferredClaim,
    PmSettlement,
)
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, close_all, set_median
from tests.chain.market_scenes import (
    ORACLE,
    RICH,
    create_bet,
    create_liquidity,
    create_oracle,
    create_position,
    market_ledger,
)
from tests.chain.steps.markets.market_blocks import next_block, of_kind, resolved_market, this_block

LOST = 1_000_003
FEES = {
    "oracle_fee_percent": 250,
    "creator_fee_percent": 100,
    "liquidity_fee_percent": 200,
    "oracle_fixed_fee": 5_000,
    "forfeit_pool": 777,
}


def worked_market(ledger: Ledger) -> PmMarket:
    """Three winners, one loser, three claims, and bets that never became any."""
    market = resolved_market(ledger, 0, creator=BOB, bets_sum=LOST + 3_507, **FEES)
    create_bet(ledger, market, ALICE, 1_000, weight=3_333)
    create_bet(ledger, market, CAROL, LOST, side=1)
    create_bet(ledger, market, CAROL, 500, status=bets.QUEUED, weight=0)
    create_bet(ledger, market, ALICE, 2_500, weight=1_234, time_penalty=123_456)
    create_bet(ledger, market, ALICE, 7, weight=1, time_penalty=1_000_000)
    create_liquidity(ledger, market, CAROL, 100_001)
    for account, amount in ((BOB, 200_000), (CAROL, 150_000), (BOB, 5)):
        claim = PmDeferredClaim(market=market.id, account=account, claim_amount=amount)
        ledger.store.create(PM_DEFERRED_CLAIMS, claim)
    lost_claim = PmDeferredClaim(market=market.id, account=BOB, claim_amount=9_999, outcome_index=1)
    ledger.store.create(PM_DEFERRED_CLAIMS, lost_claim)
    return market


def balances(ledger: Ledger) -> dict[str, int]:
    return {name: ledger.account(name).balance - RICH for name in (ALICE, BOB, CAROL, ORACLE)}


WORKED = {
    ALICE: 446_650 + 147_127 + 7,
    BOB: 200_000 + 10_000,
    CAROL: 130_000 + 500 + 100_001 + 40_503,
    ORACLE: 30_000,
}


def test_losers_pay_fees_claims_winners_and_providers_in_this_order(markets: Ledger) -> None:
    market = worked_market(markets)

    happened = this_block(markets)

    assert balances(markets) == WORKED
    assert happened == [
        PmEarlyExitClaimPaid(BOB, 0, 0, 0, tokens(200_000), tokens(200_000)),
        PmEarlyExitClaimPaid(CAROL, 0, 0, 0, tokens(150_000), tokens(130_000)),
        PmPayout(ALICE, 0, 0, 0, -1, tokens(1_000), tokens(446_650)),
        PmPayout(CAROL, 0, 1, 1, -1, tokens(LOST), tokens(0)),
        PmPayout(ALICE, 0, 3, 0, -1, tokens(2_500), tokens(147_127)),
        PmPayout(ALICE, 0, 4, 0, -1, tokens(7), tokens(7)),
        PmLpPayout(CAROL, 0, tokens(100_001), tokens(40_503), tokens(0)),
        PmAutoPayout(ORACLE, 0, -1, tokens(LOST + 3_507)),
    ]
    assert (market.payout_status, market.finalized_time, market.forfeit_pool) == (PAID, NOW, 0)
    assert market.liquidity_fee_earned == 40_503
    assert not list(markets.store.scan(PM_DEFERRED_CLAIMS))
    assert not list(markets.store.scan(PM_SETTLEMENTS))
    assert {markets.account(name).pm_bets_staked for name in (ALICE, CAROL)} == {0}
    assert markets.account(CAROL).pm_liquidity_committed == 0


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 7, 13, 14])
def test_a_settlement_that_is_cut_anywhere_pays_the_same(rows: int, markets: Ledger) -> None:
    market = worked_market(markets)
    set_median(markets, pm_settle_rows_per_block=rows)

    happened = this_block(markets)
    while market.payout_status != PAID:
        assert market.payout_status == BEING_PAID
        assert markets.store.lookup(SETTLEMENT_BY_MARKET, market.id) is not None
        happened += next_block(markets)

    assert balances(markets) == WORKED
    assert len(happened) == 8
    assert isinstance(happened[-1], PmAutoPayout)


def test_a_cut_settlement_says_where_it_stands(markets: Ledger) -> None:
    worked_market(markets)
    set_median(markets, pm_settle_rows_per_block=4)
    this_block(markets)
    state = markets.store.at(SETTLEMENT_BY_MARKET, 0)

    assert (state.phase, state.cursor, state.rows_total) == (2, 4, 3)
    assert (state.stake_total, state.weight_total) == (LOST, 3_333 + 1_234)
    next_block(markets)
    assert (state.phase, state.cursor, state.paid_claims) == (3, 0, 330_000)
    assert len(list(markets.store.scan(PM_DEFERRED_CLAIMS))) == 1
    next_block(markets)
    assert (state.phase, state.cursor, state.rows_done) == (4, 3, 2)
    assert (state.winners_pool, state.uncovered, state.lp_bonus) == (610_780, 0, 20_000)


@settings(max_examples=25, deadline=None)
@given(
    stakes=st.lists(st.tuples(st.integers(1, 10**6), st.integers(0, 1), st.integers(1, 10**6)), max_size=8),
    claims=st.lists(st.integers(1, 10**5), max_size=3),
    outcome=st.integers(-1, 1),
    rows=st.integers(1, 6),
    pot=st.integers(0, 10**4),
)
def test_no_token_is_made_or_lost_wherever_the_budget_cuts(
    stakes: list[tuple[int, int, int]], claims: list[int], outcome: int, rows: int, pot: int
) -> None:
    ends = []
    for budget in (rows, 100_000):
        with tempfile.TemporaryDirectory() as folder:
            ledger = market_ledger(Path(folder))
            create_oracle(ledger, insurance=300_000)
            market = resolved_market(ledger, outcome, **{**FEES, "forfeit_pool": pot})
            for amount, side, weight in stakes:
                create_bet(ledger, market, BOB, amount, side, weight=weight)
            for amount in claims:
                claim = PmDeferredClaim(market=market.id, account=CAROL, claim_amount=amount)
                ledger.store.create(PM_DEFERRED_CLAIMS, claim)
            create_liquidity(ledger, market, ALICE, 100_001)
            set_median(ledger, pm_settle_rows_per_block=budget)
            oracle, supply = ledger.store.at(ORACLE_BY_OWNER, ORACLE), ledger.globals.current_supply
            while market.payout_status != PAID:
                next_block(ledger)
            ends.append({**balances(ledger), "insurance": oracle.insurance, "supply": ledger.globals.current_supply})
            gained = sum(balances(ledger).values()) + oracle.insurance - 300_000
            burned = supply - ledger.globals.current_supply
            assert gained + burned == sum(amount for amount, _, _ in stakes) + pot + 100_001
            close_all()
    assert ends[0] == ends[1]


def test_stakes_of_a_market_without_a_contest_come_back_with_their_parts_of_both_pots(markets: Ledger) -> None:
    oracle = create_oracle(markets, insurance=500)
    market = resolved_market(markets, -1, forfeit_pool=77)
    for account, amount in ((ALICE, 1_000), (BOB, 2_001), (CAROL, 4_000)):
        create_bet(markets, market, account, amount)

    happened = this_block(markets)

    assert [balances(markets)[name] for name in (ALICE, BOB, CAROL)] == [1_081, 2_165, 4_332]
    assert (oracle.insurance, oracle.total_insurance_slashed) == (0, 500)
    assert happened == [PmAutoPayout(ORACLE, 0, -1, tokens(0))]
    assert {bet.status for bet in markets.store.scan(bets.PM_BETS)} == {bets.REFUNDED}


@pytest.mark.parametrize("rows", [1, 2, 4, 5])
def test_the_last_row_takes_what_is_left_of_the_pots_wherever_it_is_cut(rows: int, markets: Ledger) -> None:
    create_oracle(markets, insurance=500)
    market = resolved_market(markets, -1, forfeit_pool=77)
    for account, amount in ((ALICE, 1_000), (BOB, 2_001), (CAROL, 4_000)):
        create_bet(markets, market, account, amount)
    set_median(markets, pm_settle_rows_per_block=rows)

    while market.payout_status != PAID:
        next_block(markets)

    assert [balances(markets)[name] for name in (ALICE, BOB, CAROL)] == [1_081, 2_165, 4_332]


def test_forfeits_of_a_market_without_bets_and_contest_are_burned(markets: Ledger) -> None:
    oracle = create_oracle(markets, insurance=500)
    market = resolved_market(markets, -1, forfeit_pool=77)
    supply = markets.globals.current_supply

    this_block(markets)

    assert (markets.globals.current_supply, market.forfeit_pool) == (supply - 77, 0)
    assert oracle.insurance == 500


def test_an_oracle_whose_resolved_market_had_no_bets_is_marked(markets: Ledger) -> None:
    oracle = create_oracle(markets)
    resolved_market(markets, 1)
    resolved_market(markets, -1)

    this_block(markets)

    assert (oracle.penalty_stamps, oracle.last_penalty_stamp_time) == (1, NOW)


def test_positions_fall_before_anything_is_counted_and_what_they_leave_belongs_to_the_winners(markets: Ledger) -> None:
    market = resolved_market(markets, 0, reserve_a=5_150_000, reserve_b=4_854_368, k=25 * 10**12)
    fields = {"collateral": 50_000, "loan": 100_000, "total_bet": 150_000, "tokens": 145_632}
    position = create_position(markets, market, liquidation_threshold=110_000, funding_paid=30, **fields)
    create_bet(markets, market, ALICE, 1_000)
    create_bet(markets, market, BOB, 10_000, side=1)

    happened = this_block(markets)

    assert position.status == WON
    assert of_kind(happened, PmLeverageResolve) == happened[:1]
    # The cap is a share of what was lost, 3,300 of it; the claim of 39,970 gets no more.
    assert [each.paid.amount for each in of_kind(happened, PmEarlyExitClaimPaid)] == [3_300]
    assert balances(markets)[ALICE] == 1_000 + 10_000 + 39_970 - 3_300


def test_without_providers_their_bonus_is_nobodys(markets: Ledger) -> None:
    market = resolved_market(markets, 0, liquidity_fee_percent=1_000)
    create_bet(markets, market, ALICE, 1_000)
    create_bet(markets, market, BOB, 10_000, side=1)

    this_block(markets)

    assert balances(markets) == {ALICE: 10_000, BOB: 0, CAROL: 0, ORACLE: 0}
    assert market.liquidity_fee_earned == 0


def test_the_pool_gets_its_part_as_income(markets: Ledger) -> None:
    market = resolved_market(markets, 0, liquidity_fee_percent=1_000)
    pool = markets.store.get(PM_LAZY_POOLS, 0)
    change(markets, pool, total_shares=100, allocated_balance=4_000)
    create_liquidity(markets, market, NO_NAME, 4_000)
    row = markets.store.create(PM_LAZY_ALLOCATIONS, PmLazyAllocation(market=market.id, amount=4_000))
    create_bet(markets, market, ALICE, 1_000)
    create_bet(markets, market, BOB, 10_000, side=1)

    happened = this_block(markets)

    assert (pool.free_balance, pool.allocated_balance, pool.earned_balance) == (5_000, 0, 1_000)
    assert pool.reward_per_share == 10 * 10**9
    assert (row.status, row.amount, row.returned_amount) == (1, 0, 4_000)
    assert of_kind(happened, PmLpPayout) == []


def test_books_that_do_not_balance_fail_the_block(markets: Ledger) -> None:
    """A penalty that comes in between, with rows still to be paid (quirk 3)."""
    market = resolved_market(markets, 0)
    create_bet(markets, market, ALICE, 1_000)
    create_bet(markets, market, BOB, 10_000, side=1)
    set_median(markets, pm_settle_rows_per_block=3)
    this_block(markets)
    change(markets, market, forfeit_pool=7)

    with pytest.raises(RuleViolation) as refusal:
        next_block(markets)

    assert refusal.value.message == "st.escrow.value == 0: PM settlement did not balance for market 0: escrow=7"


def test_a_market_that_is_due_earlier_overtakes_one_that_was_cut(markets: Ledger) -> None:
    first = resolved_market(markets, 0)
    for _ in range(3):
        create_bet(markets, first, ALICE, 1_000)
    set_median(markets, pm_settle_rows_per_block=4)
    this_block(markets)
    second = resolved_market(markets, 0, result_expiration=1)

    happened = next_block(markets)

    assert [each.market_id for each in of_kind(happened, PmAutoPayout)] == [second.id, first.id]


def test_turns_bound_how_many_markets_are_settled(markets: Ledger) -> None:
    for _ in range(3):
        resolved_market(markets, 0)
    set_median(markets, pm_processing_cap_per_block=2)

    assert [each.market_id for each in of_kind(this_block(markets), PmAutoPayout)] == [0, 1]
    assert [each.market_id for each in of_kind(next_block(markets), PmAutoPayout)] == [2]


def test_without_rows_one_market_still_begins_and_ends_if_it_has_no_bets(markets: Ledger) -> None:
    missed = resolved_market(markets, 0)
    create_bet(markets, missed, ALICE, 1)
    empty = resolved_market(markets, 0, result_expiration=1)
    also_empty = resolved_market(markets, 0, result_expiration=2)
    set_median(markets, pm_settle_rows_per_block=1)

    happened = this_block(markets)

    assert [each.market_id for each in of_kind(happened, PmAutoPayout)] == [empty.id, also_empty.id]
    assert markets.store.at(SETTLEMENT_BY_MARKET, missed.id).phase == 4


def test_a_settlement_object_has_its_market_only_while_it_is_needed(markets: Ledger) -> None:
    market = resolved_market(markets, 0)
    create_bet(markets, market, ALICE, 1)
    set_median(markets, pm_settle_rows_per_block=1)
    this_block(markets)

    assert markets.store.at(SETTLEMENT_BY_MARKET, market.id) == PmSettlement(
        market=market.id, phase=4, weight_total=1, rows_total=1
    )
    next_block(markets)
    assert markets.store.lookup(SETTLEMENT_BY_MARKET, market.id) is None
