"""What providers of a settled market get and are charged (spec 09, section 6.3). The numbers are of section 14.3."""

from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.markets.settlement import pay_providers
from ledgerd.protocol.operations.markets.virtual_markets import PmLpPayout
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS
from ledgerd.state.objects.markets.markets import PmMarket
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, run
from tests.chain.market_scenes import RICH, create_liquidity, create_market
from tests.chain.steps.markets.market_blocks import of_kind

NAMES = (ALICE, BOB, CAROL)


def provide(ledger: Ledger, *rows: tuple[int, int]) -> PmMarket:
    """So much of each for so many seconds."""
    market = create_market(ledger)
    for name, (amount, seconds) in zip(NAMES, rows, strict=False):
        create_liquidity(ledger, market, name, amount, deposit_time=NOW - seconds)
    return market


def paid(ledger: Ledger, market: PmMarket, bonus: int, uncovered: int) -> list[tuple[int, int, int]]:
    happened = run(ledger, lambda at, _: pay_providers(at, market, bonus, uncovered))
    payouts = of_kind(happened, PmLpPayout)
    return [(each.principal.amount, each.income.amount, each.charge.amount) for each in payouts]


def test_a_bonus_is_shared_by_amount_and_minutes_begun(markets: Ledger) -> None:
    market = provide(markets, (100_000, 86_400), (50_000, 3_599), (70_001, -5))

    assert [income for _, income, _ in paid(markets, market, 12_345, 0)] == [12_087, 251, 7]
    assert [markets.account(name).balance - RICH for name in NAMES] == [112_087, 50_251, 70_008]
    assert [markets.account(name).pm_liquidity_committed for name in NAMES] == [0, 0, 0]


@pytest.mark.parametrize(
    ("amounts", "uncovered", "charges"),
    [((100, 3, 50), 101, (67, 1, 33)), ((1, 1, 1), 2, (1, 1, 0)), ((5, 5), 99, (5, 5))],
)
def test_what_is_missing_is_charged_by_amount_and_no_more_than_there_is(
    amounts: tuple[int, ...], uncovered: int, charges: tuple[int, ...], markets: Ledger
) -> None:
    market = provide(markets, *((amount, 0) for amount in amounts))

    found = paid(markets, market, 0, uncovered)

    assert found == [(amount - charge, 0, charge) for amount, charge in zip(amounts, charges, strict=True)]


def test_a_charge_of_the_pool_stays_in_its_allocated_balance(markets: Ledger) -> None:
    market, pool = create_market(markets), markets.store.get(PM_LAZY_POOLS, 0)
    change(markets, pool, allocated_balance=100)
    create_liquidity(markets, market, AccountName(""), 100)

    assert paid(markets, market, 0, 30) == []
    assert (pool.free_balance, pool.allocated_balance) == (70, 30)
