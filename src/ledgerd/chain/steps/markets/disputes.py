"""Disputes whose vote is over (spec 09, section 5.7), and those that nobody has decided in time, where everything is
refunded (section 5.6). Those that an account should have decided are ended with a vote too, without ballots, and so
for the oracle.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import int64, truncated, uint32, uint128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import PoolVotes, pool_votes, voting_weight
from ledgerd.chain.rules.markets.market import market_of
from ledgerd.chain.rules.markets.oracles import dispute_left_open, find_oracle, slash_idle, take_insurance
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.chain.steps.markets.refunding import close_refunded, refund
from ledgerd.pricing.widths import mul_div
from ledgerd.protocol.operations.markets.virtual_markets import PmDisputeAutoClose, PmDisputeFinalize
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets import disputes
from ledgerd.state.objects.markets.markets import BEING_PAID, TO_BE_PAID, PmMarket
from ledgerd.state.objects.markets.oracles import PmOracle


def close_undecided(ledger: Ledger, budget: MarketBudget) -> None:
    """Quirk: a refund that is cut here is taken up by the settlement of the same block, which ends or fails it.

    Such a market is resolved, being paid and long due, and so looks like one whose settlement was cut.
    """
    due = ledger.store.scan(disputes.DISPUTE_BY_AUTO_CLOSE, lower=(disputes.OPEN,), upper=(disputes.OPEN, ledger.now))
    for dispute in due:
        if budget.turns <= 0:
            return
        market = market_of(ledger, dispute.market)
        if market.payout_status != BEING_PAID:
            _begin(ledger, market, dispute)
        if not refund(ledger, market, budget):
            return
        close_refunded(ledger, market)
        dispute_left_open(ledger, market.oracle, dispute)
        with ledger.editing(dispute):
            dispute.status = disputes.CLOSED_BY_TIME
        budget.use_turn()


def _begin(ledger: Ledger, market: PmMarket, dispute: disputes.PmDispute) -> None:
    slashed = slash_idle(ledger, market, "dispute_responses_missed", "disputes_auto_closed")
    if dispute.dispute_fee > 0:
        adjust_balance(ledger, ledger.account(dispute.disputer), dispute.dispute_fee)
    with ledger.editing(market):
        market.payout_status = BEING_PAID
    ledger.emit(PmDisputeAutoClose(market.oracle, market.id, tokens(slashed)))


DUE_FIRST = 1
"""As the time of a result: the market is paid out in this block, before all others."""


class BallotTally(NamedTuple):
    """What the ballots on a dispute come to, in shares."""

    voted: int
    """Of all who voted, whole."""
    changes: tuple[int, ...]
    """For each outcome, as large a part as each voter said."""
    defense: int
    """Against any change, the same."""
    ballots: int

    @property
    def best(self) -> int:
        return self.changes.index(max(self.changes))

    @property
    def strength(self) -> int:
        """How much of all votes the best outcome has, in ten-thousandths."""
        if self.voted <= 0:
            return 0
        return uint128(self.changes[self.best] * HUNDRED_PERCENT) // self.voted


def finish_voted(ledger: Ledger, budget: MarketBudget) -> None:
    """End what is due. The pool is weighed once, as it stands now, also where nothing is due."""
    pool = pool_votes(ledger)
    due = ledger.store.scan(disputes.DISPUTE_BY_VOTING_END, lower=(disputes.OPEN,), upper=(disputes.OPEN, ledger.now))
    for dispute in due:
        if budget.turns <= 0 or budget.rows == 0:
            return
        market = market_of(ledger, dispute.market)
        if market.payout_status == BEING_PAID:
            continue
        dispute_left_open(ledger, market.oracle, dispute)
        tally = _count(ledger, market, pool)
        budget.rows = max(0, budget.rows - tally.ballots)
        _end(ledger, market, dispute, tally, pool)
        budget.use_turn()


def _count(ledger: Ledger, market: PmMarket, pool: PoolVotes) -> BallotTally:
    """Whatever is not for an outcome by more than nothing defends what the oracle said."""
    voted = defense = ballots = 0
    changes = [0] * market.outcome_count
    for ballot in ledger.store.under(disputes.DISPUTE_VOTE_BY_MARKET, market.id):
        ballots += 1
        weight = voting_weight(ledger, pool, ballot.voter)
        voted = fits_int64(voted + weight)
        part = truncated(int64(weight * abs(ballot.vote_percent)), HUNDRED_PERCENT)
        if ballot.vote_percent > 0 and 0 <= ballot.vote_outcome < market.outcome_count:
            changes[ballot.vote_outcome] = fits_int64(changes[ballot.vote_outcome] + part)
        else:
            defense = fits_int64(defense + part)
    return BallotTally(voted, tuple(changes), defense, ballots)


def _end(ledger: Ledger, market: PmMarket, dispute: disputes.PmDispute, tally: BallotTally, pool: PoolVotes) -> None:
    all_shares = fits_int64(ledger.globals.total_vesting_shares + pool.weight)
    least = mul_div(all_shares, ledger.median.pm_dispute_approve_min_percent, HUNDRED_PERCENT)
    change = fits_int64(sum(tally.changes))
    is_upheld = tally.voted < least or change <= 0 or tally.defense >= change
    penalty = 0
    if is_upheld:
        _uphold(ledger, market, dispute)
    else:
        penalty = _override(ledger, market, dispute, tally)
    with ledger.editing(market, dispute):
        if not is_upheld:
            market.resolved_outcome = tally.best
        market.payout_status = TO_BE_PAID
        market.result_expiration = DUE_FIRST
        dispute.status = disputes.ORACLE_RIGHT if is_upheld else disputes.ORACLE_WRONG
    ledger.emit(PmDisputeFinalize(market.oracle, market.id, market.resolved_outcome, tokens(penalty)))


def _uphold(ledger: Ledger, market: PmMarket, dispute: disputes.PmDispute) -> None:
    oracle = find_oracle(ledger, market.oracle)
    if oracle is not None:
        ledger.remember(oracle)
        oracle.disputes_won = uint32(oracle.disputes_won + 1)
    _pay(ledger, market.oracle, dispute.dispute_fee)


def _override(ledger: Ledger, market: PmMarket, dispute: disputes.PmDispute, tally: BallotTally) -> int:
    """Returns what the oracle's insurance has paid."""
    oracle, percent = find_oracle(ledger, market.oracle), market.dispute_penalty_percent
    fee = max(0, dispute.dispute_fee)
    if percent < 0:
        reward = min(fee, mul_div(fee, -percent, HUNDRED_PERCENT))
        _pay(ledger, market.oracle, reward)
        _pay(ledger, dispute.disputer, fee - reward)
        _count_loss(ledger, oracle)
        return 0
    slashed = 0
    if percent > 0 and oracle is not None and oracle.insurance > 0:
        most = mul_div(oracle.insurance, percent, HUNDRED_PERCENT)
        slashed = min(oracle.insurance, mul_div(most, tally.strength, HUNDRED_PERCENT))
        if slashed > 0:
            with ledger.editing(oracle):
                take_insurance(oracle, slashed)
            _count_loss(ledger, oracle)
    else:
        _count_loss(ledger, oracle)
    target = mul_div(fee, ledger.median.pm_dispute_reward_multiplier, HUNDRED_PERCENT)
    bonus = min(slashed, max(0, target - fee))
    _pay(ledger, dispute.disputer, fee + bonus)
    ledger.remember(market)
    market.forfeit_pool = fits_int64(market.forfeit_pool + slashed - bonus)
    return slashed


def _count_loss(ledger: Ledger, oracle: PmOracle | None) -> None:
    if oracle is not None:
        ledger.remember(oracle)
        oracle.disputes_lost = uint32(oracle.disputes_lost + 1)


def _pay(ledger: Ledger, name: AccountName, amount: int) -> None:
    if amount > 0:
        adjust_balance(ledger, ledger.account(name), amount)
