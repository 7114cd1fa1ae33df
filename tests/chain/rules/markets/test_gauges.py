from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.oracles import (
    AWAITING_DECISION,
    AWAITING_RESPONSE,
    CLASS_ENDS,
    adjust_gauge,
    begin_market,
    dispute_left_open,
    end_market,
    time_class,
)
from ledgerd.protocol.types.arrays import TIME_CLASSES
from ledgerd.state.objects.markets.disputes import PmDispute
from tests.chain.market_scenes import NOBODY, ORACLE, create_market, create_oracle

MOST = 2**32 - 1


@pytest.mark.parametrize(("before", "turned", "after"), [(4, -5, 0), (4, -4, 0), (4, 3, 7), (MOST, 1, 0), (4, 0, 4)])
def test_a_gauge_stops_at_zero_and_wraps_at_the_top(markets: Ledger, before: int, turned: int, after: int) -> None:
    oracle = create_oracle(markets, disputes_awaiting_decision=before)

    adjust_gauge(markets, ORACLE, AWAITING_DECISION, turned)

    assert oracle.disputes_awaiting_decision == after


def test_who_never_registered_has_no_gauges(markets: Ledger) -> None:
    adjust_gauge(markets, NOBODY, AWAITING_RESPONSE, 1)
    begin_market(markets, NOBODY)
    end_market(markets, create_market(markets, oracle=NOBODY))


@pytest.mark.parametrize(("answered", "left"), [(0, (0, 1)), (9, (1, 0))])
def test_a_dispute_leaves_the_gauge_that_it_was_in(markets: Ledger, answered: int, left: tuple[int, int]) -> None:
    oracle = create_oracle(markets, disputes_awaiting_response=1, disputes_awaiting_decision=1)

    dispute_left_open(markets, ORACLE, PmDispute(oracle_response_time=answered))

    assert (oracle.disputes_awaiting_response, oracle.disputes_awaiting_decision) == left


@pytest.mark.parametrize(("status", "before", "after"), [(1, 2, 1), (1, 0, 0), (0, 2, 2), (3, 2, 2)])
def test_only_active_markets_end(markets: Ledger, status: int, before: int, after: int) -> None:
    oracle = create_oracle(markets, active_markets=before)

    end_market(markets, create_market(markets, status=status))

    assert oracle.active_markets == after


@pytest.mark.parametrize(("before", "after"), [(0, 1), (MOST, 0)])
def test_markets_that_begin_are_counted(markets: Ledger, before: int, after: int) -> None:
    oracle = create_oracle(markets, active_markets=before)

    begin_market(markets, ORACLE)

    assert oracle.active_markets == after


def test_the_end_of_a_class_belongs_to_it() -> None:
    ends = [time_class(end) for end in CLASS_ENDS]
    beyond = [time_class(end + 1) for end in CLASS_ENDS]

    assert ends == list(range(TIME_CLASSES - 1))
    assert beyond == list(range(1, TIME_CLASSES))
    assert time_class(0) == 0
