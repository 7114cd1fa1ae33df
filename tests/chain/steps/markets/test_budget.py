"""How much of the markets' work one block does (spec 09, section 4.2)."""

from __future__ import annotations

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.properties import default_properties
from tests.chain.ledgers import set_median


@pytest.mark.parametrize(("said", "cap", "rows"), [(0, 20, 2_000), (1, 1, 1), (2**32 - 1, 2**32 - 1, 2**32 - 1)])
def test_a_budget_is_what_the_median_says_or_else_a_default(said: int, cap: int, rows: int) -> None:
    median = msgspec.structs.replace(
        default_properties(MAINNET), pm_processing_cap_per_block=said, pm_settle_rows_per_block=said
    )

    budget = MarketBudget(median)

    assert (budget.cap, budget.turns, budget.rows) == (cap, cap, rows)


def test_a_row_is_paid_for_while_there_are_any(markets: Ledger) -> None:
    set_median(markets, pm_settle_rows_per_block=2)
    budget = MarketBudget(markets.median)

    assert [budget.spend() for _ in range(3)] == [True, True, False]
