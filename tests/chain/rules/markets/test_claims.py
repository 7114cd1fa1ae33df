from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.claims import defer_claim
from ledgerd.state.objects.settlements import CANCELLED_BET, CLOSED_LEVERAGE, PM_DEFERRED_CLAIMS, PmDeferredClaim
from tests.chain.ledgers import BOB, NOW
from tests.chain.market_scenes import create_market


@pytest.mark.parametrize(
    ("amount", "count", "taken"), [(1, 0, 1), (0, 0, 0), (-1, 0, 0), (2**63 - 1, 9_999, 1), (1, 10_000, 0)]
)
def test_a_market_takes_10000_claims_of_something(markets: Ledger, amount: int, count: int, taken: int) -> None:
    market = create_market(markets, deferred_claim_count=count)

    defer_claim(markets, market, BOB, CANCELLED_BET, 0, amount)

    assert (market.deferred_claim_count, markets.store.count(PM_DEFERRED_CLAIMS)) == (count + taken, taken)


@pytest.mark.parametrize(("outcome", "written"), [(1, 1), (-1, 255), (256, 0)])
def test_an_outcome_is_cut_to_8_bits(markets: Ledger, outcome: int, written: int) -> None:
    market = create_market(markets)

    defer_claim(markets, market, BOB, CLOSED_LEVERAGE, outcome, 7)

    assert markets.store.get(PM_DEFERRED_CLAIMS, 0) == PmDeferredClaim(
        id=0, market=0, account=BOB, kind=CLOSED_LEVERAGE, outcome_index=written, claim_amount=7, exit_time=NOW
    )
