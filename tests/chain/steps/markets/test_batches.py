"""Bets of a batch at the end of an epoch, and passes that are cut (spec 09, section 5.10)."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.pricing.lmsr_fill import tokens_for_amount
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.markets.virtual_markets import PmBatchSettle
from ledgerd.state.objects.markets import bets
from ledgerd.state.objects.markets.bets import ACTIVE, QUEUED, REFUNDED, PmBet
from ledgerd.state.objects.markets.markets import BEING_PAID, OUTCOME_BY_MARKET, RESOLVED, PmMarket
from tests.chain.ledgers import ALICE, BOB, NOW, change, set_median
from tests.chain.market_scenes import RICH, create_bet, create_market, create_multi_market
from tests.chain.steps.markets.market_blocks import next_block, of_kind, this_block

EPOCH = 20


def queue(ledger: Ledger, market: PmMarket, amount: int, side: int = 0, **fields: Any) -> PmBet:
    return create_bet(ledger, market, ALICE, amount, side, status=QUEUED, weight=0, mode=1, **fields)


def statuses(ledger: Ledger) -> list[int]:
    return [bet.status for bet in ledger.store.scan(bets.PM_BETS)]


def cursor(ledger: Ledger) -> tuple[int, int]:
    return ledger.globals.pm_batch_settle_cursor, ledger.globals.pm_batch_settle_bet_cursor


def test_queued_bets_get_their_prices_one_after_the_other_at_the_end_of_an_epoch(markets: Ledger) -> None:
    market = create_market(markets, 20_000_000, current_epoch=7, k=1)
    first, second = queue(markets, market, 1_000_000), queue(markets, market, 500, side=1)

    assert this_block(markets) == [PmBatchSettle(market.id, 7, 2)]

    assert (first.weight, first.status, first.entry_liquidity) == (909_091, ACTIVE, 20_000_000)
    left = 11_000_000 * 9_090_909 // (9_090_909 + 500)
    assert second.weight == 11_000_000 - left
    assert (market.reserve_a, market.reserve_b, market.k) == (left, 9_091_409, left * 9_091_409)
    assert (market.a_bets_sum, market.b_bets_sum, market.bets_sum) == (1_000_000, 500, 1_000_500)
    assert market.current_epoch == 8


def test_between_ends_of_epochs_nothing_happens(markets: Ledger) -> None:
    queue(markets, create_market(markets), 1_000)
    change(markets, markets.globals, head_block_number=1_001)

    assert this_block(markets) == []
    for _ in range(EPOCH - 2):
        assert next_block(markets) == []
    assert len(next_block(markets)) == 1


def test_a_bet_that_would_get_too_little_goes_back(markets: Ledger) -> None:
    market = create_market(markets, 20_000_000)
    refused = queue(markets, market, 1_000_000, min_tokens=909_092)
    taken = queue(markets, market, 1_000_000, min_tokens=909_091)

    assert this_block(markets) == [PmBatchSettle(market.id, 0, 1)]

    assert (refused.status, taken.status) == (REFUNDED, ACTIVE)
    assert markets.account(ALICE).balance == RICH + 1_000_000
    assert markets.account(ALICE).pm_bets_staked == 1_000_000


def test_an_epoch_of_bets_that_all_go_back_ends_without_a_word(markets: Ledger) -> None:
    market = create_market(markets)
    queue(markets, market, 1_000, min_tokens=10**6)

    assert this_block(markets) == []
    assert market.current_epoch == 1


def test_bets_on_outcomes_are_counted_there(markets: Ledger) -> None:
    market = create_multi_market(markets)
    bet = queue(markets, market, 5_000, side=2)

    this_block(markets)

    outcome = markets.store.at(OUTCOME_BY_MARKET, market.id, 2)
    expected = tokens_for_amount([0, 0, 0], market.lmsr_b, 2, 5_000)
    assert (bet.weight, bet.entry_liquidity) == (expected, 0)
    assert (outcome.q, outcome.bets_sum, outcome.bets_count, outcome.weight_sum) == (expected, 5_000, 1, 0)
    assert market.bets_sum == 5_000


def test_tokens_that_were_too_few_count_for_the_bets_behind_and_are_else_forgotten(markets: Ledger) -> None:
    """Quirk: the refused tokens are in the stored quantity once a bet on the same outcome follows."""
    market, other = create_multi_market(markets), create_multi_market(markets)
    for each in (market, other):
        queue(markets, each, 5_000, min_tokens=10**6)
    bet = queue(markets, market, 700)

    this_block(markets)

    refused = tokens_for_amount([0, 0, 0], market.lmsr_b, 0, 5_000)
    assert bet.weight == tokens_for_amount([refused, 0, 0], market.lmsr_b, 0, 700)
    assert markets.store.at(OUTCOME_BY_MARKET, market.id, 0).q == refused + bet.weight
    assert markets.store.at(OUTCOME_BY_MARKET, other.id, 0).q == 0


@pytest.mark.parametrize("place", [-1, 3])
def test_a_bet_on_no_outcome_goes_back(place: int, markets: Ledger) -> None:
    queue(markets, create_multi_market(markets), 5_000, side=place)

    this_block(markets)

    assert statuses(markets) == [REFUNDED]


def test_a_bet_that_no_book_can_price_fails_the_block(markets: Ledger) -> None:
    """Quirk: it may be queued by anybody, and stops the chain at the end of the epoch (spec 09, section 13)."""
    market = create_multi_market(markets, lmsr_subsidy=0)
    change(markets, market, lmsr_b=144_269)
    queue(markets, market, 5_000_000)

    with pytest.raises(RuleViolation) as refusal:
        this_block(markets)

    assert refusal.value.message == "abs_x <= q96(130) * ONE: LMSR_OVERFLOW: exp_q domain exceeded"


@pytest.mark.parametrize(
    "fields", [{"status": RESOLVED, "finalized_time": NOW}, {"allow_batch": False}, {"payout_status": BEING_PAID}]
)
def test_markets_that_take_no_batches_are_passed_over(fields: dict[str, Any], markets: Ledger) -> None:
    closed, gone, open_ = (create_market(markets) for _ in range(3))
    change(markets, closed, **fields)
    for market in (closed, closed, gone, open_):
        queue(markets, market, 1_000)
    markets.store.remove(gone)

    assert of_kind(this_block(markets), PmBatchSettle) == [PmBatchSettle(open_.id, 0, 1)]
    assert statuses(markets) == [QUEUED, QUEUED, QUEUED, ACTIVE]


def test_a_pass_cut_within_a_market_goes_on_in_the_next_block(markets: Ledger) -> None:
    first, second = create_market(markets), create_market(markets)
    for market in (first, first, first, second):
        queue(markets, market, 1_000)
    set_median(markets, pm_settle_rows_per_block=2)

    assert this_block(markets) == []
    assert (statuses(markets), cursor(markets)) == ([0, 0, 5, 5], (0, 2))
    assert first.current_epoch == 0
    # Quirk: only the last part of the pass is told.
    assert next_block(markets) == [PmBatchSettle(first.id, 0, 1), PmBatchSettle(second.id, 0, 1)]
    assert cursor(markets) == (0, 0)


def test_a_pass_cut_between_markets_waits_for_the_next_epoch_and_begins_there(markets: Ledger) -> None:
    first, second = create_market(markets), create_market(markets)
    for market in (first, second):
        queue(markets, market, 1_000)
    set_median(markets, pm_processing_cap_per_block=1)

    assert this_block(markets) == [PmBatchSettle(first.id, 0, 1)]
    assert cursor(markets) == (second.id, 0)
    for _ in range(EPOCH - 1):
        assert next_block(markets) == []
    queue(markets, first, 1_000)
    assert next_block(markets) == [PmBatchSettle(second.id, 0, 1)]
    assert cursor(markets) == (0, 0)


def test_a_pass_with_rows_for_just_one_market_stops_before_the_next(markets: Ledger) -> None:
    first, second = create_market(markets), create_market(markets)
    for market in (first, first, second):
        queue(markets, market, 1_000)
    set_median(markets, pm_settle_rows_per_block=2)

    assert this_block(markets) == [PmBatchSettle(first.id, 0, 2)]
    assert cursor(markets) == (second.id, 0)


def test_a_parked_pass_that_finds_no_turns_waits_for_the_next_epoch(markets: Ledger) -> None:
    market = create_market(markets)
    for _ in range(3):
        queue(markets, market, 1_000)
    set_median(markets, pm_settle_rows_per_block=2)
    this_block(markets)
    create_market(markets, 0, status=0, accept_deadline=1)
    set_median(markets, pm_processing_cap_per_block=1)

    next_block(markets)

    assert (statuses(markets), cursor(markets)) == ([0, 0, 5], (0, 0))


def test_a_bet_at_a_side_that_there_is_not_counts_for_the_second(markets: Ledger) -> None:
    market = create_market(markets)
    queue(markets, market, 1_000, side=7)

    this_block(markets)

    assert (market.a_bets_sum, market.b_bets_sum) == (0, 1_000)


def test_a_bet_of_another_account_is_refunded_to_it(markets: Ledger) -> None:
    bet = queue(markets, create_market(markets), 1_000, min_tokens=10**9)
    change(markets, bet, account=BOB)

    this_block(markets)

    assert markets.account(BOB).balance == RICH + 1_000
