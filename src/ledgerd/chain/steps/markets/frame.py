"""The market step of a block: its sections one after the other, which share a budget (spec 09, section 4)."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import find_pool, serve_queue
from ledgerd.chain.rules.markets.seeds import recount_newcomers
from ledgerd.chain.steps.markets.batches import carry_out_batches
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.chain.steps.markets.disputes import close_undecided, finish_voted
from ledgerd.chain.steps.markets.expirations import collect_ended, forfeit_commits, lift_bans
from ledgerd.chain.steps.markets.positions import charge_funding, close_after_betting
from ledgerd.chain.steps.markets.recalls import recall_idle
from ledgerd.chain.steps.markets.refunding import drop_unaccepted, refund_unresolved
from ledgerd.chain.steps.markets.settlement import settle_resolved
from ledgerd.state.objects.markets.markets import PM_MARKETS

MarketStep = Callable[[Ledger, MarketBudget], None]


def pay_withdrawals(ledger: Ledger, budget: MarketBudget) -> None:
    """Pay those who wait for tokens of the lazy pool with the rows that are left (spec 09, section 5.14)."""
    pool = find_pool(ledger)
    if pool is not None and pool.pending_withdrawals > 0 and budget.rows > 0:
        budget.rows -= serve_queue(ledger, budget.rows)


SECTIONS: tuple[MarketStep, ...] = (
    forfeit_commits,
    refund_unresolved,
    drop_unaccepted,
    charge_funding,
    close_after_betting,
    close_undecided,
    finish_voted,
    settle_resolved,
    collect_ended,
    carry_out_batches,
    recall_idle,
    lift_bans,
    pay_withdrawals,
)

SECTIONS_OF_THE_POOL: tuple[MarketStep, ...] = (finish_voted, pay_withdrawals)
"""The first of them weighs the pool whether or not a dispute is due."""


def process_markets(ledger: Ledger, context: BlockContext) -> None:
    """Do what is due in markets. A section that runs out of rows ends; those behind it run."""
    _seed(ledger, context.parent_time)
    budget = MarketBudget(ledger.median)
    # Without a market that ever was, only the pool can have something to do.
    for section in SECTIONS if ledger.store.next_id(PM_MARKETS) else SECTIONS_OF_THE_POOL:
        section(ledger, budget)


def _seed(ledger: Ledger, parent_time: int) -> None:
    """The first block with markets, and the first after an import, finds its counts right but for newcomers."""
    globals_ = ledger.globals
    if globals_.pm_oracle_gauges_seeded:
        return
    recount_newcomers(ledger, parent_time)
    ledger.remember(globals_)
    globals_.pm_frozen_counters_seeded = True
    globals_.pm_frozen_counters_reseeded_v1 = True
    globals_.pm_active_markets_seeded = True
    globals_.pm_oracle_gauges_seeded = True
