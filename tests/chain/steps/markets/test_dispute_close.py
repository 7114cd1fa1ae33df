"""Disputes closed by time, and what becomes of a refund that is cut there (spec 09, section 5.6)."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.markets.virtual_markets import (
    PmAutoPayout,
    PmDisputeAutoClose,
)
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets import bets
from ledgerd.state.objects.markets.disputes import CLOSED_BY_TIME, OPEN, PM_DISPUTES, PmDispute
from ledgerd.state.objects.markets.markets import DISPUTED, PAID, PmMarket
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, set_median
from tests.chain.market_scenes import ORACLE, create_liquidity, create_oracle
from tests.chain.steps.markets.market_blocks import next_block, of_kind, resolved_market, this_block
from tests.chain.steps.markets.test_refunding import bet_on, gains


def disputed_market(ledger: Ledger, outcome: int = 0, **fields: Any) -> tuple[PmMarket, PmDispute]:
    """Its vote ends later than it is closed by time, as odd properties can make it."""
    market = resolved_market(ledger, outcome, payout_status=DISPUTED, **fields)
    dispute = PmDispute(
        market=market.id, disputer=BOB, dispute_fee=1_000, voting_end_time=NOW + 10_000, auto_close_time=NOW
    )
    return market, ledger.store.create(PM_DISPUTES, dispute)


def test_a_dispute_closed_by_time_refunds_its_fee_and_all_bets(markets: Ledger) -> None:
    oracle = create_oracle(markets, insurance=10_000, disputes_awaiting_response=1)
    market, dispute = disputed_market(markets)
    bet_on(markets, market)

    happened = this_block(markets)

    assert happened == [PmDisputeAutoClose(ORACLE, 0, tokens(500))]
    assert gains(markets) == {ALICE: 1_000, BOB: 2_001 + 1_000, CAROL: 4_000}
    assert (dispute.status, market.resolved_outcome, market.payout_status) == (CLOSED_BY_TIME, -1, PAID)
    assert (oracle.dispute_responses_missed, oracle.disputes_auto_closed, oracle.missed_count) == (1, 1, 0)
    assert oracle.disputes_awaiting_response == 0


def test_a_dispute_is_closed_at_its_time_and_not_before(markets: Ledger) -> None:
    _, dispute = disputed_market(markets)
    change(markets, dispute, auto_close_time=NOW + 1)

    assert this_block(markets) == []
    assert len(next_block(markets, 1)) == 1


@pytest.mark.parametrize(("rows", "escrow"), [(2, -150), (6, -350 - 10 - 22)])
def test_a_cut_refund_of_a_dispute_fails_the_block_where_fees_are_due(rows: int, escrow: int, markets: Ledger) -> None:
    """Quirk: the settlement of the same block takes it up (spec 09, section 5.6), with what was counted so far."""
    market, _ = disputed_market(markets, oracle_fee_percent=500, forfeit_pool=77)
    create_liquidity(markets, market, ALICE, 100_001)
    bet_on(markets, market)
    set_median(markets, pm_settle_rows_per_block=rows)

    with pytest.raises(RuleViolation) as refusal:
        this_block(markets)

    assert refusal.value.message == (
        f"st.escrow.value == 0: PM settlement did not balance for market 0: escrow={escrow}"
    )


def test_a_cut_refund_without_anything_due_ends_as_paid_and_the_next_block_begins_anew(markets: Ledger) -> None:
    oracle = create_oracle(markets, insurance=10_000)
    market, dispute = disputed_market(markets, forfeit_pool=77)
    create_liquidity(markets, market, ALICE, 100_001)
    bet_on(markets, market)
    set_median(markets, pm_settle_rows_per_block=2)

    happened = this_block(markets)

    assert [type(each) for each in happened][::2] == [PmDisputeAutoClose, PmAutoPayout]
    assert gains(markets) == {ALICE: 100_001 + 77, BOB: 1_000, CAROL: 0}
    assert (market.payout_status, market.resolved_outcome, dispute.status) == (PAID, 0, OPEN)
    assert {bet.status for bet in markets.store.scan(bets.PM_BETS)} == {0, 1, 5}

    happened = next_block(markets)
    assert happened == [PmDisputeAutoClose(ORACLE, 0, tokens(475))]
    assert gains(markets)[BOB] == 2_000
    while dispute.status == OPEN:
        assert next_block(markets) == []
    assert gains(markets) == {ALICE: 100_001 + 77 + 1_000, BOB: 2_000 + 2_001, CAROL: 4_000}
    assert oracle.disputes_auto_closed == 2


def test_a_cut_refund_of_a_market_without_a_contest_burns_the_pot_and_ends_as_paid(markets: Ledger) -> None:
    market, _ = disputed_market(markets, -1, forfeit_pool=77)
    create_liquidity(markets, market, ALICE, 100_001)
    bet_on(markets, market)
    set_median(markets, pm_settle_rows_per_block=6)
    supply = markets.globals.current_supply

    happened = this_block(markets)

    assert len(of_kind(happened, PmAutoPayout)) == 1
    assert gains(markets) == {ALICE: 1_010 + 100_001, BOB: 2_001 + 22 + 1_000, CAROL: 0}
    assert markets.globals.current_supply == supply - (77 - 10 - 22)
