"""How the oracle of a market ends it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.markets import PmNoContest, PmResolveMarket
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets.markets import (
    ACTIVE,
    BEING_PAID,
    DISPUTED,
    RESOLVED,
    TO_BE_PAID,
    WAITING,
    PmMarket,
)
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, refuses
from tests.chain.market_scenes import (
    FAR_ID,
    ORACLE,
    UNKNOWN,
    Rule,
    Scene,
    create_market,
    create_oracle,
)

RESOLVE = PmResolveMarket(
    oracle=ORACLE,
    market_id=0,
    winning_outcome=1,
    decision_url="https://decision.test",
    decision_reason="so",
    extensions=(),
)
END = NOW - 200
"""When betting ends in the markets that are resolved."""


def ended_market(ledger: Ledger, **fields: Any) -> PmMarket:
    times = {"betting_expiration": END, "result_expiration": NOW}
    return create_market(ledger, **{**times, **fields})


UNTIL_STATUS = (
    Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": 0}}),
    Rule(
        "mkt.oracle == o.oracle: Not the market oracle",
        {"operation": {"oracle": BOB}},
        {"operation": {"oracle": ORACLE}},
    ),
    Rule("mkt.status == 1: Market not active", {"market": {"status": WAITING}}, {"market": {"status": ACTIVE}}),
    Rule(
        "mkt.payout_status != 4: Market is being refunded",
        {"market": {"payout_status": BEING_PAID}},
        {"market": {"payout_status": DISPUTED}},
    ),
)


def test_a_resolution_asks_in_this_order(markets: Ledger) -> None:
    scene = Scene(markets, RESOLVE, market=ended_market(markets))
    out_of_range = "o.winning_outcome >= 0 && o.winning_outcome < (int16_t)mkt.outcome_count: Invalid winning_outcome"

    scene.asks_in_order(
        [
            *UNTIL_STATUS,
            Rule(out_of_range, {"operation": {"winning_outcome": -1}}),
            Rule(out_of_range, {"operation": {"winning_outcome": 2}}, {"operation": {"winning_outcome": 1}}),
            Rule(
                "o.decision_url.size() <= MAX_PM_DECISION_URL_LEN: decision_url too long",
                {"operation": {"decision_url": "a" * 257}},
                {"operation": {"decision_url": "a" * 256}},
            ),
            Rule(
                "can_resolve_early || now >= mkt.result_expiration: Cannot resolve yet",
                {"market": {"result_expiration": NOW + 1}},
                {"market": {"result_expiration": NOW}},
            ),
        ]
    )


@pytest.mark.parametrize("outcome", [0, 1])
def test_either_outcome_of_two_may_have_come_true(markets: Ledger, outcome: int) -> None:
    market = ended_market(markets)

    carry_out(markets, replace(RESOLVE, winning_outcome=outcome))

    assert market.resolved_outcome == outcome


@pytest.mark.parametrize("status", [-1, 0, 2, 3])
def test_only_an_active_market_is_resolved(markets: Ledger, status: int) -> None:
    ended_market(markets, status=status)

    refuses(markets, RESOLVE, "mkt.status == 1: Market not active")


@pytest.mark.parametrize(
    ("betting_end", "early", "can"), [(NOW + 1, True, False), (NOW, True, True), (NOW, False, False), (0, True, True)]
)
def test_a_market_is_resolved_early_if_it_allows_it(
    markets: Ledger, betting_end: int, *, early: bool, can: bool
) -> None:
    ended_market(markets, betting_expiration=betting_end, result_expiration=NOW + 9, allow_early_resolution=early)

    if can:
        carry_out(markets, RESOLVE)
    else:
        refuses(markets, RESOLVE, "can_resolve_early || now >= mkt.result_expiration: Cannot resolve yet")


def test_a_resolved_market_may_be_disputed_from_now_on(markets: Ledger) -> None:
    """The averages of spec 08, section 13.7."""
    oracle = create_oracle(
        markets,
        markets_resolved=3,
        active_markets=2,
        total_volume_resolved=7,
        avg_resolution_time=1_000,
        resolution_time_hist=(4, 0, 0, 0, 0, 0, 0, 0),
    )
    market = ended_market(markets, betting_expiration=NOW - 500, result_expiration=NOW, bets_sum=90)

    assert carry_out(markets, RESOLVE) == []

    assert (market.status, market.payout_status, market.resolved_outcome) == (RESOLVED, TO_BE_PAID, 1)
    assert (market.result_expiration, market.finalized_time) == (NOW, 0)
    assert (market.decision_url, market.decision_reason) == ("https://decision.test", "so")
    assert (oracle.markets_resolved, oracle.active_markets, oracle.markets_in_dispute_window) == (4, 1, 1)
    assert (oracle.total_volume_resolved, oracle.resolved_late_count, oracle.last_active_time) == (97, 0, NOW)
    assert oracle.avg_resolution_time == 875
    assert oracle.resolution_time_hist == (5, 0, 0, 0, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("taken", "place"), [(0, 0), (3_600, 0), (3_601, 1), (21_601, 2), (2_592_000, 6), (2_592_001, 7)]
)
def test_times_until_a_decision_fall_into_classes(markets: Ledger, taken: int, place: int) -> None:
    oracle = create_oracle(markets)
    market = ended_market(markets, betting_expiration=NOW - taken, result_expiration=NOW - 1)

    carry_out(markets, RESOLVE)

    assert [i for i, count in enumerate(oracle.resolution_time_hist) if count] == [place]
    assert (oracle.resolved_late_count, oracle.avg_resolution_time) == (1, taken)
    assert market.result_expiration == NOW


def test_a_market_without_an_end_of_betting_takes_no_time(markets: Ledger) -> None:
    oracle = create_oracle(markets, avg_resolution_time=10, markets_resolved=1)
    ended_market(markets, betting_expiration=0, allow_early_resolution=True)

    carry_out(markets, RESOLVE)

    assert (oracle.avg_resolution_time, oracle.active_markets) == (5, 0)


NO_CONTEST = PmNoContest(oracle=ORACLE, market_id=0, reason="nobody knows", extensions=())


def test_calling_a_market_off_asks_in_this_order(markets: Ledger) -> None:
    scene = Scene(markets, NO_CONTEST, market=create_market(markets))

    scene.asks_in_order(
        [
            *UNTIL_STATUS,
            Rule(
                "o.reason.size() <= MAX_PM_DISPUTE_REASON_LEN: Reason too long",
                {"operation": {"reason": "ж" * 512 + "a"}},
                {"operation": {"reason": "ж" * 512}},
            ),
        ]
    )


def test_a_market_is_called_off_while_bets_are_taken(markets: Ledger) -> None:
    oracle = create_oracle(markets, active_markets=1, markets_in_dispute_window=2, no_contest_count=3)
    market = create_market(markets, decision_url="stays", resolved_outcome=1)

    assert carry_out(markets, NO_CONTEST) == []

    assert (market.status, market.payout_status, market.resolved_outcome) == (RESOLVED, TO_BE_PAID, -1)
    assert (market.result_expiration, market.decision_url, market.decision_reason) == (NOW, "stays", "nobody knows")
    assert (oracle.no_contest_count, oracle.active_markets, oracle.markets_in_dispute_window) == (4, 0, 3)
    assert (oracle.last_active_time, oracle.markets_resolved) == (NOW, 0)


@pytest.mark.parametrize("operation", [RESOLVE, NO_CONTEST])
def test_an_oracle_that_never_registered_ends_its_market(markets: Ledger, operation: Any) -> None:
    market = ended_market(markets, oracle=AccountName("alice"))

    carry_out(markets, replace(operation, oracle=ALICE))

    assert market.status == RESOLVED
