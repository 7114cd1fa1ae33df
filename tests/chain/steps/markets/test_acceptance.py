"""Markets that their oracle has not taken on in time (spec 09, section 5.3)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.virtual_markets import PmMarketExpired
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets.liquidity import CLOSED
from ledgerd.state.objects.markets.markets import DELETED, PAID, WAITING
from tests.chain.ledgers import ALICE, NOW, set_median
from tests.chain.market_scenes import ORACLE, RICH, create_liquidity, create_market, create_oracle
from tests.chain.steps.markets.market_blocks import next_block, this_block


def test_the_liquidity_goes_back_and_the_oracle_keeps_its_counters(markets: Ledger) -> None:
    oracle = create_oracle(markets, active_markets=3)
    market = create_market(markets, 5_000, status=WAITING, accept_deadline=NOW)
    row = create_liquidity(markets, market, ALICE, 5_000)

    assert this_block(markets) == [PmMarketExpired(ORACLE, ALICE, 0, tokens(5_000))]

    assert (market.status, market.payout_status, market.finalized_time) == (DELETED, PAID, NOW)
    assert (row.status, markets.account(ALICE).balance, oracle.active_markets) == (CLOSED, RICH + 5_000, 3)


def test_the_window_is_open_until_its_end(markets: Ledger) -> None:
    create_market(markets, status=WAITING, accept_deadline=NOW + 1)

    assert this_block(markets) == []
    assert len(next_block(markets, 1)) == 1


def test_a_market_takes_a_turn(markets: Ledger) -> None:
    for _ in range(3):
        create_market(markets, status=WAITING, accept_deadline=NOW)
    set_median(markets, pm_processing_cap_per_block=2)

    assert [len(this_block(markets)), len(next_block(markets))] == [2, 1]
