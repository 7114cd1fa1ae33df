"""What is left of a market goes long after its end, piece by piece in an order (spec 09, sections 5.9 and 6.5)."""

from __future__ import annotations

from typing import Any

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.markets.expirations import PARTS
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets.bets import RESOLVED as PAID_BET
from ledgerd.state.objects.markets.commitments import PM_COMMITS, PmCommit
from ledgerd.state.objects.markets.disputes import PM_DISPUTE_VOTES, PM_DISPUTES, PmDispute, PmDisputeVote
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_ALLOCATIONS, PmLazyAllocation
from ledgerd.state.objects.markets.leverage import CLOSED
from ledgerd.state.objects.markets.markets import PAID, PM_MARKETS, PM_OUTCOMES, RESOLVED, PmMarket, PmOutcome
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS, PM_SETTLEMENTS, PmDeferredClaim, PmSettlement
from tests.chain.ledgers import ALICE, NOW, set_median
from tests.chain.market_scenes import create_bet, create_liquidity, create_market, create_position
from tests.chain.steps.markets.market_blocks import next_block, this_block

RETENTION = 432_000


def ended_market(ledger: Ledger, **fields: Any) -> PmMarket:
    """A market with one thing of each kind, and two ballots."""
    market = create_market(
        ledger, **{"status": RESOLVED, "payout_status": PAID, "finalized_time": NOW - RETENTION, **fields}
    )
    store = ledger.store
    store.create(PM_OUTCOMES, PmOutcome(market=market.id))
    create_bet(ledger, market, ALICE, 5, status=PAID_BET)
    create_liquidity(ledger, market, ALICE, 5, status=3)
    store.create(PM_COMMITS, PmCommit(market=market.id, status=1))
    for voter in ("zoe", "adam"):
        store.create(PM_DISPUTE_VOTES, PmDisputeVote(market=market.id, voter=AccountName(voter)))
    create_position(ledger, market, status=CLOSED)
    store.create(PM_DEFERRED_CLAIMS, PmDeferredClaim(market=market.id))
    store.create(PM_SETTLEMENTS, PmSettlement(market=market.id))
    store.create(PM_DISPUTES, PmDispute(market=market.id, status=2))
    store.create(PM_LAZY_ALLOCATIONS, PmLazyAllocation(market=market.id, status=1))
    return market


def left(ledger: Ledger) -> list[str]:
    return [part.table.title for part in PARTS for _ in ledger.store.scan(part)]


ORDER = [
    "PmOutcome",
    "PmBet",
    "PmLiquidity",
    "PmCommit",
    "PmDisputeVote",
    "PmDisputeVote",
    "PmLeveragePosition",
    "PmDeferredClaim",
    "PmSettlement",
    "PmDispute",
    "PmLazyAllocation",
]


def test_things_go_one_by_one_in_their_order_and_the_market_at_last(markets: Ledger) -> None:
    ended_market(markets)
    set_median(markets, pm_settle_rows_per_block=1)
    assert left(markets) == ORDER

    for gone in range(1, len(ORDER) + 1):
        assert next_block(markets, 0) == []
        assert left(markets) == ORDER[gone:]
        if gone == 5:
            assert [ballot.voter for ballot in markets.store.scan(PM_DISPUTE_VOTES)] == ["zoe"]
    assert len(list(markets.store.scan(PM_MARKETS))) == 1
    next_block(markets, 0)
    assert not list(markets.store.scan(PM_MARKETS))


def test_with_rows_enough_all_goes_at_once_and_forfeits_are_burned(markets: Ledger) -> None:
    ended_market(markets, forfeit_pool=77)
    supply = markets.globals.current_supply
    set_median(markets, pm_settle_rows_per_block=len(ORDER) + 1)

    this_block(markets)

    assert not list(markets.store.scan(PM_MARKETS))
    assert markets.globals.current_supply == supply - 77


def test_a_market_that_is_cut_short_burns_its_forfeits_once(markets: Ledger) -> None:
    market = ended_market(markets, forfeit_pool=77)
    supply = markets.globals.current_supply
    set_median(markets, pm_settle_rows_per_block=1)

    this_block(markets)
    next_block(markets)

    assert (markets.globals.current_supply, market.forfeit_pool) == (supply - 77, 0)


def test_a_market_is_kept_for_its_time_and_one_that_goes_on_for_ever(markets: Ledger) -> None:
    ended_market(markets, finalized_time=NOW - RETENTION + 1)
    living = create_market(markets)

    this_block(markets)
    assert len(list(markets.store.scan(PM_MARKETS))) == 2
    next_block(markets, 1)
    assert list(markets.store.scan(PM_MARKETS)) == [living]


def test_while_the_time_to_keep_them_is_longer_than_time_itself_none_goes(markets: Ledger) -> None:
    ended_market(markets, finalized_time=1)
    set_median(markets, pm_closed_market_retention_sec=NOW)

    this_block(markets)

    assert len(list(markets.store.scan(PM_MARKETS))) == 1


def test_turns_bound_how_many_go(markets: Ledger) -> None:
    for _ in range(3):
        ended_market(markets)
    set_median(markets, pm_processing_cap_per_block=2)

    this_block(markets)

    assert [market.id for market in markets.store.scan(PM_MARKETS)] == [2]
