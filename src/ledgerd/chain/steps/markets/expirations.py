"""What runs out in markets: hidden bets that were not shown in time, bans, and what is left of markets that ended
long ago (spec 09, sections 5.1, 5.9, 5.13 and 6.5).
"""

from __future__ import annotations

from itertools import islice
from typing import Any

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, truncated
from ledgerd.chain.ledger.discrepancies import record_discrepancy
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance, burn
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.protocol.operations.markets.virtual_markets import PmBanExpired, PmCommitForfeit
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.markets import commitments
from ledgerd.state.objects.markets.bets import BET_BY_MARKET
from ledgerd.state.objects.markets.disputes import CREATOR_BAN_BY_EXPIRY, DISPUTE_BY_MARKET, DISPUTE_VOTE_BY_MARKET
from ledgerd.state.objects.markets.lazy_pool import LAZY_ALLOCATION_BY_MARKET
from ledgerd.state.objects.markets.leverage import LEVERAGE_BY_MARKET_STATUS
from ledgerd.state.objects.markets.liquidity import LIQUIDITY_BY_MARKET
from ledgerd.state.objects.markets.markets import MARKET_BY_FINALIZED, OUTCOME_BY_MARKET, PM_MARKETS, PmMarket
from ledgerd.state.objects.markets.oracles import NOT_BANNED, ORACLE_BY_BAN
from ledgerd.state.objects.markets.settlements import DEFERRED_CLAIM_BY_MARKET, SETTLEMENT_BY_MARKET
from ledgerd.state.tables.tables import Index


def forfeit_commits(ledger: Ledger, budget: MarketBudget) -> None:
    """The penalty goes to the market, whatever its status, and the rest back. Without a market it is nobody's."""
    due = ledger.store.scan(
        commitments.COMMIT_BY_REVEAL_DEADLINE, lower=(commitments.COMMITTED,), upper=(commitments.COMMITTED, ledger.now)
    )
    for commit in due:
        if budget.turns <= 0:
            return
        _forfeit(ledger, commit)
        budget.use_turn()


def _forfeit(ledger: Ledger, commit: commitments.PmCommit) -> None:
    penalty = truncated(int64(commit.escrow_amount * commit.no_reveal_fee_percent), HUNDRED_PERCENT)
    refund = commit.escrow_amount - penalty
    if refund > 0:
        adjust_balance(ledger, ledger.account(commit.account), refund)
    market = ledger.store.find(PM_MARKETS, commit.market)
    if market is None:
        record_discrepancy(ledger, Sum.TOKENS, -penalty)
    else:
        ledger.remember(market)
        market.forfeit_pool = fits_int64(market.forfeit_pool + max(0, penalty))
        market.open_commits = max(0, market.open_commits - 1)
    ledger.emit(PmCommitForfeit(commit.account, commit.id, commit.market, tokens(penalty), tokens(refund)))
    with ledger.editing(commit):
        commit.status = commitments.FORFEITED


EARLIEST = 1


def lift_bans(ledger: Ledger, budget: MarketBudget) -> None:
    """Of oracles, then of creators; together no more than the cap, whatever else the block has done."""
    lifted = 0
    for oracle in ledger.store.scan(ORACLE_BY_BAN, lower=(EARLIEST,), upper=(ledger.now,)):
        if lifted == budget.cap:
            return
        with ledger.editing(oracle):
            oracle.banned_until, oracle.banned_by = NOT_BANNED, NO_NAME
        ledger.emit(PmBanExpired(oracle.owner, oracle=True, creator=False))
        lifted += 1
    for ban in ledger.store.scan(CREATOR_BAN_BY_EXPIRY, lower=(EARLIEST,), upper=(ledger.now,)):
        if lifted == budget.cap:
            return
        with ledger.editing(ban):
            ban.banned_until, ban.banned_by = NOT_BANNED, NO_NAME
        ledger.emit(PmBanExpired(ban.creator, oracle=False, creator=True))
        lifted += 1


FINALIZED = 1
"""Markets that are not finalized have time 0."""

PARTS: tuple[Index[Any], ...] = (
    OUTCOME_BY_MARKET,
    BET_BY_MARKET,
    LIQUIDITY_BY_MARKET,
    commitments.COMMIT_BY_MARKET,
    DISPUTE_VOTE_BY_MARKET,
    LEVERAGE_BY_MARKET_STATUS,
    DEFERRED_CLAIM_BY_MARKET,
    SETTLEMENT_BY_MARKET,
    DISPUTE_BY_MARKET,
    LAZY_ALLOCATION_BY_MARKET,
)
"""What goes with a market, in the order in which it goes."""


def collect_ended(ledger: Ledger, budget: MarketBudget) -> None:
    """Whatever of a market the budget does not reach goes in a later block."""
    kept_until = max(0, ledger.now - ledger.median.pm_closed_market_retention_sec)
    for market in ledger.store.scan(MARKET_BY_FINALIZED, lower=(FINALIZED,), upper=(kept_until,)):
        if budget.turns <= 0 or not _collect(ledger, market, budget):
            return
        budget.use_turn()


def _collect(ledger: Ledger, market: PmMarket, budget: MarketBudget) -> bool:
    if market.forfeit_pool > 0:
        burn(ledger, market.forfeit_pool)
        ledger.remember(market)
        market.forfeit_pool = 0
    for index in PARTS:
        for part in list(islice(ledger.store.under(index, market.id), budget.rows + 1)):
            if not budget.spend():
                return False
            ledger.store.remove(part)
    if not budget.spend():
        return False
    ledger.store.remove(market)
    return True
