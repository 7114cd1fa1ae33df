"""What an oracle's insurance pays when the oracle does nothing in time (spec 09, sections 5.2 and 5.6)."""

from __future__ import annotations

from typing import Literal

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, truncated, uint32
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.gauges import find_oracle
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.state.objects.markets import PmMarket
from ledgerd.state.objects.oracles import PmOracle

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
