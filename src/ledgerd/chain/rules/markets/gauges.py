"""Counters of oracles: markets at work, open disputes, times until a decision (spec 08, section 3.3).

An oracle that never registered has none of them, and all of this passes it over.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.names import AccountName
from ledgerd.state.objects.disputes import PmDispute
from ledgerd.state.objects.markets import ACTIVE, PmMarket
from ledgerd.state.objects.oracles import ORACLE_BY_OWNER, PmOracle

Gauge = Literal["markets_in_dispute_window", "disputes_awaiting_response", "disputes_awaiting_decision"]

IN_DISPUTE_WINDOW: Gauge = "markets_in_dispute_window"
AWAITING_RESPONSE: Gauge = "disputes_awaiting_response"
AWAITING_DECISION: Gauge = "disputes_awaiting_decision"

CLASS_ENDS = (3_600, 21_600, 86_400, 259_200, 604_800, 1_209_600, 2_592_000)
"""The longest time until a decision of each class, in seconds; what takes longer is in the last one."""


def find_oracle(ledger: Ledger, name: AccountName) -> PmOracle | None:
    return ledger.store.lookup(ORACLE_BY_OWNER, name)


def begin_market(ledger: Ledger, name: AccountName) -> None:
    """An oracle has one active market more (`inc_active`)."""
    oracle = find_oracle(ledger, name)
    if oracle is not None:
        with ledger.editing(oracle):
            oracle.active_markets = uint32(oracle.active_markets + 1)


def end_market(ledger: Ledger, market: PmMarket) -> None:
    """A market's oracle has one less, if the market still is active (`dec_active`)."""
    oracle = find_oracle(ledger, market.oracle) if market.status == ACTIVE else None
    if oracle is not None and oracle.active_markets > 0:
        with ledger.editing(oracle):
            oracle.active_markets -= 1


def turn(oracle: PmOracle, gauge: Gauge, change: int) -> None:
    """Turn a gauge up or down, never below zero; for an oracle that is being edited."""
    value = getattr(oracle, gauge) + change
    setattr(oracle, gauge, uint32(value) if change > 0 else max(0, value))


def turn_gauge(ledger: Ledger, name: AccountName, gauge: Gauge, change: int) -> None:
    oracle = find_oracle(ledger, name) if change else None
    if oracle is not None:
        with ledger.editing(oracle):
            turn(oracle, gauge, change)


def gauge_of(dispute: PmDispute) -> Gauge:
    """Where an open dispute counts: its oracle has answered, or has not."""
    return AWAITING_DECISION if dispute.oracle_response_time else AWAITING_RESPONSE


def dispute_left_open(ledger: Ledger, name: AccountName, dispute: PmDispute) -> None:
    """A dispute is about to be closed (`dispute_left_open`)."""
    turn_gauge(ledger, name, gauge_of(dispute), -1)


def time_class(seconds: int) -> int:
    """The class of a time until a decision (`rt_bucket`)."""
    return bisect_left(CLASS_ENDS, seconds)
