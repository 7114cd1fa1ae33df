"""Hidden bets that were not shown in time (spec 09, section 5.1)."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.virtual_markets import PmCommitForfeit
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets.commitments import COMMITTED, FORFEITED, PM_COMMITS, REVEALED, PmCommit
from ledgerd.state.objects.markets.markets import RESOLVED
from tests.chain.ledgers import ALICE, NOW, change, set_median
from tests.chain.market_scenes import RICH, create_market
from tests.chain.steps.markets.market_blocks import next_block, this_block


def commit(ledger: Ledger, **fields: Any) -> PmCommit:
    hidden = PmCommit(account=ALICE, escrow_amount=10_001, no_reveal_fee_percent=2_000, reveal_deadline=NOW)
    for field, value in fields.items():
        setattr(hidden, field, value)
    return ledger.store.create(PM_COMMITS, hidden)


def test_a_part_goes_to_the_market_and_the_rest_back(markets: Ledger) -> None:
    market = create_market(markets, open_commits=1)
    hidden = commit(markets)

    assert this_block(markets) == [PmCommitForfeit(ALICE, 0, 0, tokens(2_000), tokens(8_001))]

    assert (hidden.status, market.forfeit_pool, market.open_commits) == (FORFEITED, 2_000, 0)
    assert markets.account(ALICE).balance == RICH + 8_001


def test_a_commit_may_be_shown_until_its_deadline_is_reached(markets: Ledger) -> None:
    create_market(markets)
    hidden, shown = commit(markets, reveal_deadline=NOW + 1), commit(markets, status=REVEALED)

    assert this_block(markets) == []
    assert (hidden.status, shown.status) == (COMMITTED, REVEALED)
    assert len(next_block(markets, 1)) == 1


@pytest.mark.parametrize(("percent", "penalty"), [(0, 0), (10_000, 10_001)])
def test_all_of_it_or_nothing_may_be_forfeited(percent: int, penalty: int, markets: Ledger) -> None:
    market = create_market(markets, status=RESOLVED)
    commit(markets, no_reveal_fee_percent=percent)

    this_block(markets)

    assert (market.forfeit_pool, market.open_commits) == (penalty, 0)
    assert markets.account(ALICE).balance == RICH + 10_001 - penalty


def test_the_penalty_of_a_market_that_is_gone_is_nobodys(markets: Ledger) -> None:
    markets.store.remove(create_market(markets))
    hidden, supply = commit(markets), markets.globals.current_supply

    assert len(this_block(markets)) == 1
    assert hidden.status == FORFEITED
    assert markets.globals.current_supply == supply


def test_turns_bound_them_and_those_due_first_come_first(markets: Ledger) -> None:
    create_market(markets)
    for deadline in (NOW, NOW - 2, NOW - 1):
        commit(markets, reveal_deadline=deadline)
    set_median(markets, pm_processing_cap_per_block=2)

    happened = [*this_block(markets), *next_block(markets)]

    assert [each.commit_id for each in happened if isinstance(each, PmCommitForfeit)] == [1, 2, 0]
    assert markets.globals.time == NOW + 3
    change(markets, markets.globals, time=NOW)
    assert this_block(markets) == []
