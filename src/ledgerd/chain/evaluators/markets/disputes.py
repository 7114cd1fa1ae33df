"""The rules of disputes and bans: filing, voting, deciding, answering, and taking a ban back (spec 08, section 7)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets import oracles
from ledgerd.chain.rules.markets.market import market_of, require_markets_enabled
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.pricing.widths import mul_div
from ledgerd.protocol.constants import MAX_PM_DISPUTE_REASON_LENGTH
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.markets import disputes
from ledgerd.protocol.operations.markets.markets import BY_ACCOUNT, BY_COMMITTEE
from ledgerd.protocol.operations.markets.virtual_markets import PmDisputeOpened
from ledgerd.protocol.types.assets import fits_int64
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.texts import byte_length
from ledgerd.state.objects.markets.disputes import (
    CREATOR_BAN_BY_ACCOUNT,
    DISPUTE_BY_MARKET,
    DISPUTE_VOTE_BY_MARKET,
    OPEN,
    ORACLE_RIGHT,
    ORACLE_WRONG,
    PM_CREATOR_BANS,
    PM_DISPUTE_VOTES,
    PM_DISPUTES,
    PmCreatorBan,
    PmDispute,
)
from ledgerd.state.objects.markets.disputes import PmDisputeVote as Ballot
from ledgerd.state.objects.markets.markets import DISPUTED, RESOLVED, TO_BE_PAID, PmMarket
from ledgerd.state.objects.markets.oracles import NOT_BANNED, PmOracle


@evaluates(disputes.PmDisputeCreate)
def pm_dispute_create(ledger: Ledger, operation: disputes.PmDisputeCreate) -> None:
    """Say for a fee that the oracle was wrong: anybody may, once in the life of a market (spec 08, section 7.3)."""
    require_markets_enabled(ledger)
    market, median = market_of(ledger, operation.market_id), ledger.median
    require(market.status == RESOLVED, "mkt.status == 3: Market not resolved")
    require(market.payout_status == TO_BE_PAID, "mkt.payout_status == 1: Payout not in pending state")
    require(
        byte_length(operation.reason) <= MAX_PM_DISPUTE_REASON_LENGTH,
        "o.reason.size() <= MAX_PM_DISPUTE_REASON_LEN: Reason too long",
    )
    _require_outcome(market, operation.proposed_outcome, "proposed_outcome")
    require(
        ledger.now <= uint32(market.result_expiration + median.pm_dispute_grace_sec),
        "now <= mkt.result_expiration + fc::seconds(mp.pm_dispute_grace_sec): Grace period passed",
    )
    require(_dispute_of(ledger, market) is None, "didx.find(mkt.id) == didx.end(): Dispute already filed")
    disputer, fee = ledger.account(operation.disputer), median.pm_dispute_fee.amount
    require(disputer.balance >= fee, "disputer.balance >= mp.pm_dispute_fee: Insufficient balance for dispute fee")
    adjust_balance(ledger, disputer, -fee)
    _file(ledger, operation, market, fee)
    with ledger.editing(market):
        market.payout_status = DISPUTED
    oracle = oracles.find_oracle(ledger, market.oracle)
    if oracle is not None:
        with ledger.editing(oracle):
            oracle.disputes_received = uint32(oracle.disputes_received + 1)
            oracles.move_gauge(oracle, oracles.IN_DISPUTE_WINDOW, -1)
            oracles.move_gauge(oracle, oracles.AWAITING_RESPONSE, 1)
    ledger.emit(PmDisputeOpened(market.oracle, disputer.name, market.id, operation.proposed_outcome))


def _file(ledger: Ledger, operation: disputes.PmDisputeCreate, market: PmMarket, fee: int) -> None:
    now, median = ledger.now, ledger.median
    response_deadline = uint32(now + median.pm_oracle_dispute_response_sec)
    dispute = PmDispute(
        market=market.id,
        disputer=operation.disputer,
        dispute_fee=fee,
        reason=operation.reason,
        filed_time=now,
        oracle_response_deadline=response_deadline,
        dispute_mode=market.dispute_mode,
        voting_end_time=uint32(response_deadline + median.pm_dispute_vote_period_sec),
        auto_close_time=uint32(now + median.pm_dispute_auto_close_sec),
        proposed_outcome=operation.proposed_outcome,
    )
    ledger.store.create(PM_DISPUTES, dispute)


def _require_outcome(market: PmMarket, outcome: int, field: str) -> None:
    require(
        -1 <= outcome < market.outcome_count,
        f"o.{field} >= -1 && o.{field} < (int16_t)mkt.outcome_count: {field} out of range",
    )


def _dispute_of(ledger: Ledger, market: PmMarket) -> PmDispute | None:
    return ledger.store.lookup(DISPUTE_BY_MARKET, market.id)


def _open_dispute_of(ledger: Ledger, market: PmMarket) -> PmDispute:
    dispute = _dispute_of(ledger, market)
    if dispute is None or dispute.status != OPEN:
        raise RuleViolation("dit != didx.end() && dit->status == 0: No open dispute")
    return dispute


@evaluates(disputes.PmDisputeVote)
def pm_dispute_vote(ledger: Ledger, operation: disputes.PmDisputeVote) -> None:
    """Vote on a dispute from its filing on, or change the vote (spec 08, section 7.4)."""
    require_markets_enabled(ledger)
    market = market_of(ledger, operation.market_id)
    require(market.dispute_mode == BY_COMMITTEE, "mkt.dispute_mode == 0: Vote only for committee-mode disputes")
    dispute = _dispute_of(ledger, market)
    if dispute is None:
        raise RuleViolation("dit != didx.end(): No active dispute")
    require(dispute.status == OPEN, "dit->status == 0: Dispute already resolved")
    require(ledger.now <= dispute.voting_end_time, "now <= dit->voting_end_time: Voting period ended")
    _require_outcome(market, operation.vote_outcome, "vote_outcome")
    require(
        -HUNDRED_PERCENT <= operation.vote_percent <= HUNDRED_PERCENT,
        "o.vote_percent >= -10000 && o.vote_percent <= 10000: vote_percent out of range",
    )
    minimum = ledger.globals.shares_for(ledger.median.pm_dispute_vote_min_vesting.amount)
    require(
        ledger.account(operation.voter).effective_shares >= minimum,
        "db.get_account(o.voter).effective_vesting_shares() >= min_shares: "
        "Insufficient vesting for dispute vote (min 1000.000 VIZ)",
    )
    _vote(ledger, operation, dispute)


def _vote(ledger: Ledger, operation: disputes.PmDisputeVote, dispute: PmDispute) -> None:
    """A changed vote counts for no new one, and so is taken beyond the most that a dispute may have."""
    ballot = ledger.store.lookup(DISPUTE_VOTE_BY_MARKET, dispute.market, operation.voter)
    if ballot is not None:
        with ledger.editing(ballot):
            ballot.vote_outcome = operation.vote_outcome
            ballot.vote_percent = operation.vote_percent
            ballot.time = ledger.now
        return
    require(
        dispute.ballots < ledger.median.pm_dispute_votes_per_market,
        "dit->ballots < mp.pm_dispute_votes_per_market: Dispute ballot cap reached",
    )
    new_ballot = Ballot(
        market=dispute.market,
        voter=operation.voter,
        vote_outcome=operation.vote_outcome,
        vote_percent=operation.vote_percent,
        time=ledger.now,
    )
    ledger.store.create(PM_DISPUTE_VOTES, new_ballot)
    ledger.remember(dispute)
    dispute.ballots = uint32(dispute.ballots + 1)


@evaluates(disputes.PmDisputeResolve)
def pm_dispute_resolve(ledger: Ledger, operation: disputes.PmDisputeResolve) -> None:
    """Spec 08, section 7.5. The window is counted with the median of now, and the oracle's answer is not waited for."""
    require_markets_enabled(ledger)
    market = market_of(ledger, operation.market_id)
    require(market.dispute_mode == BY_ACCOUNT, "mkt.dispute_mode == 1: resolve only for account-mode disputes")
    require(
        market.dispute_resolver == operation.resolver,
        "mkt.dispute_resolver == o.resolver: Not the market dispute resolver",
    )
    _require_outcome(market, operation.correct_outcome, "correct_outcome")
    require(operation.penalty_amount.is_token, "o.penalty_amount.symbol == TOKEN_SYMBOL: penalty_amount must be VIZ")
    dispute = _open_dispute_of(ledger, market)
    require(
        ledger.now <= uint32(dispute.oracle_response_deadline + ledger.median.pm_dispute_vote_period_sec),
        "now <= dit->oracle_response_deadline + fc::seconds(mp.pm_dispute_vote_period_sec): Resolution window passed",
    )
    oracle = oracles.find_oracle(ledger, market.oracle)
    if operation.correct_outcome != market.resolved_outcome:
        _overturn(ledger, operation, market, dispute, oracle)
    else:
        _uphold(ledger, market, dispute, oracle)
    if operation.ban_creator:
        _ban_creator(ledger, operation, market.creator)


def _overturn(
    ledger: Ledger, operation: disputes.PmDisputeResolve, market: PmMarket, dispute: PmDispute, oracle: PmOracle | None
) -> None:
    """The oracle was wrong: its insurance pays the disputer a bonus, and those who bet the rest of the penalty."""
    slash = 0 if oracle is None else _slash(ledger, operation, dispute, oracle)
    fee = max(dispute.dispute_fee, 0)
    target = mul_div(fee, ledger.median.pm_dispute_reward_multiplier, HUNDRED_PERCENT)
    bonus = min(max(target - fee, 0), slash)
    if fee + bonus > 0:
        adjust_balance(ledger, ledger.account(dispute.disputer), fee + bonus)
    with ledger.editing(market, dispute):
        market.forfeit_pool = fits_int64(market.forfeit_pool + slash - bonus)
        market.resolved_outcome = operation.correct_outcome
        market.status = RESOLVED
        market.payout_status = TO_BE_PAID
        dispute.status = ORACLE_WRONG


def _slash(ledger: Ledger, operation: disputes.PmDisputeResolve, dispute: PmDispute, oracle: PmOracle) -> int:
    """Take the penalty, as far as the insurance goes, and ban the oracle if that is asked for."""
    slash = min(operation.penalty_amount.amount, oracle.insurance)
    with ledger.editing(oracle):
        oracles.move_gauge(oracle, oracles.gauge_of(dispute), -1)
        if slash > 0:
            oracles.take_insurance(oracle, slash)
        oracle.disputes_lost = uint32(oracle.disputes_lost + 1)
        if operation.ban_oracle:
            oracle.banned_until = operation.ban_oracle_until
            oracle.banned_by = operation.resolver
    return slash


def _uphold(ledger: Ledger, market: PmMarket, dispute: PmDispute, oracle: PmOracle | None) -> None:
    """The oracle was right, and gets the disputer's fee. A ban of it is not carried out."""
    if oracle is not None:
        with ledger.editing(oracle):
            oracles.move_gauge(oracle, oracles.gauge_of(dispute), -1)
            oracle.disputes_won = uint32(oracle.disputes_won + 1)
    if dispute.dispute_fee > 0:
        adjust_balance(ledger, ledger.account(market.oracle), dispute.dispute_fee)
    with ledger.editing(market, dispute):
        market.payout_status = TO_BE_PAID
        dispute.status = ORACLE_RIGHT


def _ban_creator(ledger: Ledger, operation: disputes.PmDisputeResolve, creator: AccountName) -> None:
    """A further ban never shortens one."""
    ban, until = ledger.store.lookup(CREATOR_BAN_BY_ACCOUNT, creator), operation.ban_creator_until
    if ban is None:
        ledger.store.create(
            PM_CREATOR_BANS,
            PmCreatorBan(creator=creator, banned_until=until, ban_count=1, banned_by=operation.resolver),
        )
        return
    with ledger.editing(ban):
        ban.banned_until = max(ban.banned_until, until)
        ban.ban_count = uint32(ban.ban_count + 1)
        ban.banned_by = operation.resolver


@evaluates(disputes.PmDisputeOracleRespond)
def pm_dispute_oracle_respond(ledger: Ledger, operation: disputes.PmDisputeOracleRespond) -> None:
    """Answer a dispute in time; another answer replaces the one before (spec 08, section 7.6)."""
    require_markets_enabled(ledger)
    market = market_of(ledger, operation.market_id)
    require(market.oracle == operation.oracle, "mkt.oracle == o.oracle: Not the market oracle")
    require(
        byte_length(operation.response) <= MAX_PM_DISPUTE_REASON_LENGTH,
        "o.response.size() <= MAX_PM_DISPUTE_REASON_LEN: response too long",
    )
    dispute = _open_dispute_of(ledger, market)
    require(
        ledger.now <= dispute.oracle_response_deadline,
        "now <= dit->oracle_response_deadline: Oracle response window passed",
    )
    oracle = oracles.find_oracle(ledger, operation.oracle) if dispute.oracle_response_time == 0 else None
    if oracle is not None:
        with ledger.editing(oracle):
            oracles.move_gauge(oracle, oracles.AWAITING_RESPONSE, -1)
            oracles.move_gauge(oracle, oracles.AWAITING_DECISION, 1)
    ledger.remember(dispute)
    dispute.oracle_response = operation.response
    dispute.oracle_response_time = ledger.now


@evaluates(disputes.PmUnban)
def pm_unban(ledger: Ledger, operation: disputes.PmUnban) -> None:
    """Take a ban back that one has laid oneself, while it holds (spec 08, section 7.7)."""
    require_markets_enabled(ledger)
    if operation.unban_oracle:
        oracle = oracles.find_oracle(ledger, operation.target)
        if oracle is None:
            raise RuleViolation("it != oidx.end(): Oracle not found")
        _lift(ledger, operation, oracle, "Oracle")
    if operation.unban_creator:
        ban = ledger.store.lookup(CREATOR_BAN_BY_ACCOUNT, operation.target)
        if ban is None:
            raise RuleViolation("it != cbidx.end(): No creator ban for target")
        _lift(ledger, operation, ban, "Creator")
    require(operation.unban_oracle or operation.unban_creator, "did: Nothing to unban")


def _lift(ledger: Ledger, operation: disputes.PmUnban, banned: PmOracle | PmCreatorBan, title: str) -> None:
    """How often there was a ban stays known."""
    require(banned.banned_until > ledger.now, f"it->banned_until > now: {title} is not currently banned")
    require(
        banned.banned_by == operation.resolver,
        "it->banned_by == o.resolver: Only the resolver that imposed the ban may lift it",
    )
    with ledger.editing(banned):
        banned.banned_until = NOT_BANNED
        banned.banned_by = NO_NAME
