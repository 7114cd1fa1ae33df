from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.liquidity_return import return_liquidity
from ledgerd.protocol.operations.markets.virtual_markets import PmLeverageResolve
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.markets.lazy_pool import (
    PM_LAZY_ALLOCATIONS,
    PM_LAZY_WITHDRAW_REQUESTS,
    RETURNED,
    PmLazyAllocation,
    PmLazyWithdrawRequest,
)
from ledgerd.state.objects.markets.leverage import WON
from ledgerd.state.objects.markets.liquidity import CLOSED, PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS, PmDeferredClaim
from tests.chain.ledgers import ALICE, BOB, CAROL, change
from tests.chain.market_scenes import RICH, create_market, create_position, pool_of


def test_everybody_gets_back_what_they_put_in(markets: Ledger) -> None:
    """Of the market itself nothing changes, and of its rows only that they are closed."""
    market, other = create_market(markets), create_market(markets)
    pool = pool_of(markets, allocated_balance=5_000, pending_withdrawals=100)
    markets.store.create(PM_LAZY_WITHDRAW_REQUESTS, PmLazyWithdrawRequest(account=CAROL, amount=100))
    change(markets, markets.account(BOB), pm_liquidity_committed=900)
    providers = [(market, BOB, 300), (market, NO_NAME, 4_000), (other, BOB, 7), (market, BOB, 500), (market, ALICE, 9)]
    rows = [
        markets.store.create(
            PM_LIQUIDITY, PmLiquidity(market=place.id, provider=name, amount=amount, b_share=1, earned_fee=2)
        )
        for place, name, amount in providers
    ]
    gone = markets.store.create(PM_LIQUIDITY, PmLiquidity(market=market.id, provider=ALICE, amount=50, status=CLOSED))
    allocation = markets.store.create(PM_LAZY_ALLOCATIONS, PmLazyAllocation(market=market.id, amount=4_000))
    before = (market.liquidity_sum, market.reserve_a, market.reserve_b, market.k)

    return_liquidity(markets, market)

    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_liquidity_committed) == (RICH + 800, 100)
    assert (markets.account(ALICE).balance, markets.account(CAROL).balance) == (RICH + 9, RICH + 100)
    assert (pool.free_balance, pool.allocated_balance, pool.earned_balance) == (3_900, 1_000, 0)
    assert [row.status for row in rows] == [CLOSED, CLOSED, 0, CLOSED, CLOSED]
    assert [(row.amount, row.b_share, row.earned_fee) for row in (rows[0], rows[1])] == [(300, 1, 2), (4_000, 1, 2)]
    assert gone.amount == 50
    assert (allocation.status, allocation.returned_amount, allocation.amount) == (RETURNED, 4_000, 0)
    assert (market.liquidity_sum, market.reserve_a, market.reserve_b, market.k) == before


def test_claims_end_unpaid_and_positions_with_their_gain(markets: Ledger) -> None:
    market, other = create_market(markets), create_market(markets)
    position = create_position(markets, market, account=BOB, tokens=1_000)
    for place in (market, other, market, market):
        markets.store.create(PM_DEFERRED_CLAIMS, PmDeferredClaim(market=place.id, account=ALICE, claim_amount=9))

    return_liquidity(markets, market)

    (resolved,) = (each.operation for each in markets.operations)
    assert isinstance(resolved, PmLeverageResolve)
    gain = resolved.bettor_received.amount
    assert gain > 0
    assert (position.status, markets.account(BOB).balance) == (WON, RICH + gain)
    assert [claim.market for claim in markets.store.scan(PM_DEFERRED_CLAIMS)] == [other.id]
    assert markets.account(ALICE).balance == RICH
