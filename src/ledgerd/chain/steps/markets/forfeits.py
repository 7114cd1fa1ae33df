"""Hidden bets that were not shown in time (spec 09, section 5.1)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, truncated
from ledgerd.chain.ledger.discrepancies import note
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.protocol.assets import fits_int64, tokens
from ledgerd.protocol.operations.virtual_markets import PmCommitForfeit
from ledgerd.state.objects.commitments import COMMIT_BY_REVEAL_DEADLINE, COMMITTED, FORFEITED, PmCommit
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.markets import PM_MARKETS


def forfeit_commits(ledger: Ledger, budget: MarketBudget) -> None:
    """The penalty goes to the market, whatever its status, and the rest back. Without a market it is nobody's."""
    due = ledger.store.scan(COMMIT_BY_REVEAL_DEADLINE, lower=(COMMITTED,), upper=(COMMITTED, ledger.now))
    for commit in due:
        if budget.turns <= 0:
            return
        _forfeit(ledger, commit)
        budget.take_turn()


def _forfeit(ledger: Ledger, commit: PmCommit) -> None:
    penalty = truncated(int64(commit.escrow_amount * commit.no_reveal_fee_percent), HUNDRED_PERCENT)
    refund = commit.escrow_amount - penalty
    if refund > 0:
        adjust_balance(ledger, ledger.account(commit.account), refund)
    market = ledger.store.find(PM_MARKETS, commit.market)
    if market is None:
        note(ledger, Sum.TOKENS, -penalty)
    else:
        with ledger.editing(market):
            market.forfeit_pool = fits_int64(market.forfeit_pool + max(0, penalty))
            market.open_commits = max(0, market.open_commits - 1)
    ledger.emit(PmCommitForfeit(commit.account, commit.id, commit.market, tokens(penalty), tokens(refund)))
    with ledger.editing(commit):
        commit.status = FORFEITED
