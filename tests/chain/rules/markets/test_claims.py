from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.market import defer_claim
from ledgerd.state.objects.markets.settlements import CLOSED_LEVERAGE, PM_DEFERRED_CLAIMS, PmDeferredClaim
from tests.chain.ledgers import BOB, NOW
from tests.chain.market_scenes import create_market


def test_a_claim_is_kept_and_counted(markets: Ledger) -> None:
    create_market(markets)
    market = create_market(markets, deferred_claim_count=4)

    defer_claim(markets, market, BOB, CLOSED_LEVERAGE, 1, 70)

    assert list(markets.store.scan(PM_DEFERRED_CLAIMS)) == [
        PmDeferredClaim(
            id=0,
            market=market.id,
            account=BOB,
            kind=CLOSED_LEVERAGE,
            outcome_index=1,
            claim_amount=70,
            exit_time=NOW,
        )
    ]
    assert market.deferred_claim_count == 5


@pytest.mark.parametrize(("count", "amount", "kept"), [(0, 0, 0), (0, -1, 0), (0, 1, 1), (9_999, 1, 1), (10_000, 1, 0)])
def test_nothing_and_what_is_too_many_is_no_claim(markets: Ledger, count: int, amount: int, kept: int) -> None:
    market = create_market(markets, deferred_claim_count=count)

    defer_claim(markets, market, BOB, CLOSED_LEVERAGE, 0, amount)

    assert (markets.store.count(PM_DEFERRED_CLAIMS), market.deferred_claim_count) == (kept, count + kept)


def test_an_outcome_is_cut_to_eight_bits(markets: Ledger) -> None:
    """A bet on no side has -1 there."""
    market = create_market(markets)

    defer_claim(markets, market, BOB, CLOSED_LEVERAGE, -1, 1)

    assert markets.store.get(PM_DEFERRED_CLAIMS, 0).outcome_index == 255


def test_a_claim_may_be_made_while_the_market_is_edited(markets: Ledger) -> None:
    market = create_market(markets)

    with markets.editing(market):
        market.forfeit_pool = 5
        defer_claim(markets, market, BOB, CLOSED_LEVERAGE, 0, 1)

    assert (market.forfeit_pool, market.deferred_claim_count) == (5, 1)
