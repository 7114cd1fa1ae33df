"""Counters of oracles: markets at work, open disputes, times until a decision (spec 08, section 3.3); and the
insurance that idle ones lose (spec 09, 5.2 and 5.6). An oracle that never registered is passed over.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Literal

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, truncated, uint32
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets.disputes import PmDispute
from ledgerd.state.objects.markets.markets import ACTIVE, PmMarket
from ledgerd.state.objects.markets.oracles import ORACLE_BY_OWNER, PmOracle

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
        ledger.remember(oracle)
        oracle.active_markets = uint32(oracle.active_markets + 1)


def end_market(ledger: Ledger, market: PmMarket) -> None:
    """A market's oracle has one less, if the market still is active (`dec_active`)."""
    oracle = find_oracle(ledger, market.oracle) if market.status == ACTIVE else None
    if oracle is not None and oracle.active_markets > 0:
        ledger.remember(oracle)
        oracle.active_markets -= 1


def move_gauge(oracle: PmOracle, gauge: Gauge, change: int) -> None:
    """Count up or down, never below zero; for an oracle that is being edited."""
    value = getattr(oracle, gauge) + change
    setattr(oracle, gauge, uint32(value) if change > 0 else max(0, value))


def adjust_gauge(ledger: Ledger, name: AccountName, gauge: Gauge, change: int) -> None:
    oracle = find_oracle(ledger, name) if change else None
    if oracle is not None:
        with ledger.editing(oracle):
            move_gauge(oracle, gauge, change)


def gauge_of(dispute: PmDispute) -> Gauge:
    return AWAITING_DECISION if dispute.oracle_response_time else AWAITING_RESPONSE


def dispute_left_open(ledger: Ledger, name: AccountName, dispute: PmDispute) -> None:
    """A dispute is about to be closed (`dispute_left_open`)."""
    adjust_gauge(ledger, name, gauge_of(dispute), -1)


def time_class(seconds: int) -> int:
    """The class of a time until a decision (`rt_bucket`)."""
    return bisect_left(CLASS_ENDS, seconds)


OracleFault = Literal["missed_count", "dispute_responses_missed", "disputes_auto_closed"]


def slash_idle(ledger: Ledger, market: PmMarket, *faults: OracleFault) -> int:
    """A part of the insurance goes to the committee; only where it is not nothing, the faults are counted."""
    oracle = find_oracle(ledger, market.oracle)
    if oracle is None or oracle.insurance <= 0:
        return 0
    slashed = truncated(int64(oracle.insurance * ledger.median.pm_oracle_penalty_percent), HUNDRED_PERCENT)
    if slashed <= 0:
        return 0
    with ledger.editing(oracle):
        take_insurance(oracle, slashed)
        for fault in faults:
            setattr(oracle, fault, uint32(getattr(oracle, fault) + 1))
    adjust_balance(ledger, ledger.account(COMMITTEE_ACCOUNT), slashed)
    return slashed


def take_insurance(oracle: PmOracle, amount: int) -> None:
    oracle.insurance = fits_int64(oracle.insurance - amount)
    oracle.total_insurance_slashed = fits_int64(oracle.total_insurance_slashed + amount)
