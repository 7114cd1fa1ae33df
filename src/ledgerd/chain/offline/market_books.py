"""Whether the books of prediction markets agree with their rows (spec 08, section 3; spec 09, section 5).

Each check takes a view of a state and names what is wrong. A market that is paid, or is being paid, keeps the totals
that it had when its payment began, so its bets are compared until then.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator

from ledgerd.chain.rules.markets.seeds import COUNTERS, STAKED
from ledgerd.protocol.operations.markets.markets import BINARY
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.markets import bets, commitments, leverage, liquidity
from ledgerd.state.objects.markets.bets import PM_BETS
from ledgerd.state.objects.markets.commitments import PM_COMMITS
from ledgerd.state.objects.markets.disputes import PM_DISPUTE_VOTES, PM_DISPUTES
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_DEPOSITS, PM_LAZY_POOLS, PM_LAZY_WITHDRAW_REQUESTS
from ledgerd.state.objects.markets.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.markets.markets import BEING_PAID, DELETED, PAID, PM_MARKETS, PM_OUTCOMES, PmMarket
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS
from ledgerd.state.views.view import View

Problems = Iterator[str]

SIDE_A = 0
"""The first of two outcomes."""


def stakes_agree(view: View) -> Problems:
    """What is frozen at accounts is what their rows hold."""
    provided, staked, pledged = Counter[str](), Counter[str](), Counter[str]()
    for row in view.scan_fields(PM_LIQUIDITY, "provider", "status", "amount"):
        if row.status == liquidity.ACTIVE:
            provided[row.provider] += row.amount
    for bet in view.scan_fields(PM_BETS, "account", "status", "amount"):
        if bet.status in STAKED:
            staked[bet.account] += bet.amount
    for position in view.scan(PM_LEVERAGE_POSITIONS):
        if position.status == leverage.ACTIVE:
            pledged[position.account] += position.collateral
    for account in view.scan_fields(ACCOUNTS, "name", *COUNTERS):
        name = account.name
        counted = account.pm_liquidity_committed, account.pm_bets_staked, account.pm_leverage_collateral
        found = provided.get(name, 0), staked.get(name, 0), pledged.get(name, 0)
        if counted != found:  # of few accounts among very many
            for what, one, other in zip(("liquidity", "bets", "collateral"), counted, found, strict=True):
                yield from _differs(f"the {what} of {name}", one, other)


def _differs(what: str, counted: int, found: int) -> Problems:
    if counted != found:
        yield f"{what}: {counted} by the counter, {found} by the rows"


def _takes_bets(market: PmMarket) -> bool:
    """Whether the totals of a market are those of its present rows."""
    return market.status != DELETED and market.payout_status not in {PAID, BEING_PAID}


def bets_agree(view: View) -> Problems:
    amounts, weights = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
    sides: defaultdict[int, list[int]] = defaultdict(lambda: [0, 0])
    for bet in view.scan_fields(PM_BETS, "market", "outcome_index", "side", "status", "amount", "weight"):
        if bet.status == bets.ACTIVE:
            amounts[bet.market, bet.outcome_index] += bet.amount
            weights[bet.market, bet.outcome_index] += bet.weight
            sides[bet.market][bet.side != SIDE_A] += bet.amount
    live: dict[int, bool] = {}
    for market in view.scan(PM_MARKETS):
        live[market.id] = _takes_bets(market) and market.market_type != BINARY
        if _takes_bets(market):
            of_a, of_b = sides[market.id]
            yield from _differs(f"the bets of market {market.id}", market.bets_sum, of_a + of_b)
            if market.market_type == BINARY:
                yield from _differs(f"the bets on A of market {market.id}", market.a_bets_sum, of_a)
                yield from _differs(f"the bets on B of market {market.id}", market.b_bets_sum, of_b)
    for outcome in view.scan(PM_OUTCOMES):
        if live.get(outcome.market):
            where, what = (outcome.market, outcome.outcome_index), f"{outcome.outcome_index} of market {outcome.market}"
            yield from _differs(f"the bets on outcome {what}", outcome.bets_sum, amounts[where])
            yield from _differs(f"the tokens of outcome {what}", outcome.q, weights[where])


def liquidity_agrees(view: View) -> Problems:
    found = Counter[int]()
    for row in view.scan_fields(PM_LIQUIDITY, "market", "status", "amount"):
        if row.status == liquidity.ACTIVE:
            found[row.market] += row.amount
    for market in view.scan(PM_MARKETS):
        if _takes_bets(market):
            yield from _differs(f"the liquidity of market {market.id}", market.liquidity_sum, found[market.id])


def counts_agree(view: View) -> Problems:
    """Markets count their open commits and deferred claims, and disputes their ballots."""
    commits = Counter(row.market for row in view.scan(PM_COMMITS) if row.status == commitments.COMMITTED)
    claims = Counter(row.market for row in view.scan(PM_DEFERRED_CLAIMS))
    for market in view.scan(PM_MARKETS):
        yield from _differs(f"the open commits of market {market.id}", market.open_commits, commits[market.id])
        if _takes_bets(market):
            counted, what = market.deferred_claim_count, f"the deferred claims of market {market.id}"
            yield from _differs(what, counted, claims[market.id])
    ballots = Counter(vote.market for vote in view.scan(PM_DISPUTE_VOTES))
    for dispute in view.scan(PM_DISPUTES):
        yield from _differs(f"the ballots on market {dispute.market}", dispute.ballots, ballots[dispute.market])


def pool_agrees(view: View) -> Problems:
    """The lazy pool is what was put into it, lent, and asked back."""
    for pool in view.scan(PM_LAZY_POOLS):
        shares = sum(deposit.shares for deposit in view.scan(PM_LAZY_DEPOSITS))
        asked = sum(request.amount for request in view.scan(PM_LAZY_WITHDRAW_REQUESTS))
        in_markets = sum(
            row.amount
            for row in view.scan_fields(PM_LIQUIDITY, "provider", "status", "amount")
            if row.status == liquidity.ACTIVE and not row.provider
        )
        lent = sum(each.loan for each in view.scan(PM_LEVERAGE_POSITIONS) if each.status == leverage.ACTIVE)
        yield from _differs("the shares of the lazy pool", pool.total_shares, shares)
        yield from _differs("the withdrawals from the lazy pool", pool.pending_withdrawals, asked)
        yield from _differs("what the lazy pool has in markets", pool.allocated_balance, in_markets)
        yield from _differs("what the lazy pool has lent", pool.leverage_fund_used, lent)


MARKET_CHECKS: tuple[Callable[[View], Problems], ...] = (
    stakes_agree,
    bets_agree,
    liquidity_agrees,
    counts_agree,
    pool_agrees,
)


def markets_agree(view: View) -> Problems:
    for each in MARKET_CHECKS:
        yield from each(view)
