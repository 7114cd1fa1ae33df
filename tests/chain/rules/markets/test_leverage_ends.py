"""Which markets have positions to be closed is known without a look at the others (spec 09, section 5.5)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.liquidation import bring_end, ends_due, expect_end, forget_end
from ledgerd.state.objects.markets.markets import PmMarket
from tests.chain.ledgers import NOW, pass_time
from tests.chain.market_scenes import create_market


def due(ledger: Ledger) -> list[int]:
    return [end.market for end in ends_due(ledger)]


def opened(ledger: Ledger, betting_expiration: int) -> PmMarket:
    market = create_market(ledger, betting_expiration=betting_expiration)
    expect_end(ledger, market)
    expect_end(ledger, market)
    return market


def test_a_market_is_due_when_its_betting_ends_once_however_many_positions_it_has(markets: Ledger) -> None:
    market = opened(markets, NOW + 1)

    assert due(markets) == []
    pass_time(markets, 1)
    assert due(markets) == [market.id]


def test_a_market_without_an_end_is_due_once_it_is_resolved(markets: Ledger) -> None:
    market = opened(markets, 0)
    pass_time(markets, 10**8)
    assert due(markets) == []

    bring_end(markets, market)

    assert due(markets) == [market.id]


def test_a_market_without_positions_is_never_due(markets: Ledger) -> None:
    market = create_market(markets)
    bring_end(markets, market)
    forget_end(markets, market.id)

    assert due(markets) == []


def test_a_market_that_was_dealt_with_is_forgotten(markets: Ledger) -> None:
    market = opened(markets, NOW)
    forget_end(markets, market.id)

    assert due(markets) == []
