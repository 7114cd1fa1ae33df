"""The rules of markets as a whole: how one begins, and how its oracle ends it (spec 08, sections 4.3, 7.1 and 7.2)."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.chain.evaluators.markets.oracles import count_accepted
from ledgerd.chain.ledger.arithmetic import int64, uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.curve import priced
from ledgerd.chain.rules.markets.lazy_pool import allocate
from ledgerd.chain.rules.markets.liquidation import bring_end
from ledgerd.chain.rules.markets.market import (
    LIQUIDITY,
    change_frozen,
    market_of,
    require_active,
    require_markets_enabled,
    require_not_being_refunded,
)
from ledgerd.chain.rules.markets.oracles import IN_DISPUTE_WINDOW, begin_market, find_oracle, move_gauge, time_class
from ledgerd.pricing.constant_product import opening_reserves
from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.protocol import constants
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.markets.markets import (
    BINARY,
    BY_ACCOUNT,
    BY_COMMITTEE,
    MULTI,
    PmCreateMarket,
    PmNoContest,
    PmResolveMarket,
)
from ledgerd.protocol.operations.markets.virtual_markets import PmMarketAccepted
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.protocol.types.texts import byte_length
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.markets import markets
from ledgerd.state.objects.markets.disputes import CREATOR_BAN_BY_ACCOUNT
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.oracles import PmOracle


class _Acceptance(NamedTuple):
    """Whether the market is open for bets at once, and for which fees of the oracle."""

    is_own: bool
    """Its creator is its oracle, registered or not."""
    by: PmOracle | None
    """The oracle that accepts it without being asked."""
    fee_percent: int
    fixed_fee: int

    @property
    def is_live(self) -> bool:
        return self.is_own or self.by is not None


@evaluates(PmCreateMarket)
def pm_create_market(ledger: Ledger, operation: PmCreateMarket) -> None:
    """Open a market (spec 08, section 4.3). Its oracle is asked, unless that is the creator or has said yes before."""
    require_markets_enabled(ledger)
    _check_size(ledger, operation)
    _check_times(ledger, operation)
    _check_outcomes(ledger, operation)
    _check_resolver(ledger, operation)
    oracle = _oracle_for(ledger, operation)
    creator = ledger.account(operation.creator)
    _require_may_create(ledger, creator)
    _pay(ledger, creator, operation.liquidity.amount)
    depth = _depth(operation)
    acceptance = _acceptance(ledger, operation, oracle)
    market = _create(ledger, operation, acceptance, depth)
    _begin(ledger, operation, market, acceptance, oracle)


def _check_size(ledger: Ledger, operation: PmCreateMarket) -> None:
    require(operation.liquidity.is_token, "o.liquidity.symbol == TOKEN_SYMBOL: Liquidity must be VIZ")
    require(
        operation.liquidity.amount >= ledger.median.pm_min_liquidity.amount,
        "o.liquidity.amount >= mp.pm_min_liquidity.amount: Liquidity below minimum",
    )
    require(
        byte_length(operation.url) <= constants.MAX_PM_MARKET_TITLE_LENGTH,
        "o.url.size() <= MAX_PM_MARKET_TITLE_LEN: Market url too long",
    )


def _check_times(ledger: Ledger, operation: PmCreateMarket) -> None:
    """Betting may have no end; then the oracle must be allowed to resolve the market at any time."""
    if operation.betting_expiration == 0:
        require(
            operation.allow_early_resolution,
            "o.allow_early_resolution: open-ended market (betting_expiration=0) requires allow_early_resolution",
        )
        require(
            operation.result_expiration > ledger.now,
            "o.result_expiration > now: result_expiration must be in the future",
        )
    else:
        require(
            operation.betting_expiration > ledger.now,
            "o.betting_expiration > now: betting_expiration must be in the future",
        )
        require(
            operation.result_expiration > operation.betting_expiration,
            "o.result_expiration > o.betting_expiration: result_expiration must be after betting_expiration",
        )
    require(
        operation.result_expiration <= uint32(ledger.now + ledger.median.pm_max_market_duration),
        "o.result_expiration <= now + fc::seconds(mp.pm_max_market_duration): Market duration exceeds maximum",
    )


def _check_outcomes(ledger: Ledger, operation: PmCreateMarket) -> None:
    count = len(operation.outcomes)
    if operation.market_type == BINARY:
        require(count == 2, "o.outcomes.size() == 2: Binary market must have exactly 2 outcomes")
    else:
        require(operation.market_type == MULTI, "o.market_type == 1: Invalid market_type")
        require(
            3 <= count <= ledger.median.pm_max_outcomes,
            "o.outcomes.size() >= 3 && (int)o.outcomes.size() <= mp.pm_max_outcomes: Multi-outcome count out of range",
        )
    for label in operation.outcomes:
        require(
            byte_length(label) <= constants.MAX_PM_OUTCOME_LABEL_LENGTH,
            "label.size() <= MAX_PM_OUTCOME_LABEL_LEN: Outcome label too long",
        )


def _check_resolver(ledger: Ledger, operation: PmCreateMarket) -> None:
    if operation.dispute_mode != BY_ACCOUNT:
        return
    resolver = operation.dispute_resolver
    require(resolver, "o.dispute_resolver.size() > 0: dispute_resolver required")
    require(resolver != operation.oracle, "o.dispute_resolver != o.oracle: dispute_resolver must differ from oracle")
    require(resolver != operation.creator, "o.dispute_resolver != o.creator: dispute_resolver must differ from creator")
    ledger.account(resolver)


def _oracle_for(ledger: Ledger, operation: PmCreateMarket) -> PmOracle | None:
    """The oracle that is asked; one for oneself needs no registration, and its ban is not looked at."""
    oracle = find_oracle(ledger, operation.oracle)
    if operation.oracle == operation.creator:
        return oracle
    if oracle is None:
        raise RuleViolation("oracle_it != oidx.end(): Oracle not registered")
    require(oracle.banned_until < ledger.now, "oracle_it->banned_until < now: Oracle is banned")
    return oracle


def _require_may_create(ledger: Ledger, creator: Account) -> None:
    ban = ledger.store.lookup(CREATOR_BAN_BY_ACCOUNT, creator.name)
    require(
        ban is None or ban.banned_until < ledger.now,
        "cb == cbidx.end() || cb->banned_until < now: Creator is banned from creating markets",
    )


def _pay(ledger: Ledger, creator: Account, liquidity: int) -> None:
    fee = ledger.median.pm_market_creation_fee.amount
    require(creator.balance >= int64(fee + liquidity), "creator.balance.amount >= total_need: Insufficient balance")
    fee = max(0, fee)
    globals_ = ledger.globals
    with ledger.editing(creator, globals_):
        creator.balance = fits_int64(fits_int64(creator.balance - fee) - liquidity)
        globals_.committee_fund = fits_int64(globals_.committee_fund + fee)
        change_frozen(creator, LIQUIDITY, liquidity)


def _depth(operation: PmCreateMarket) -> int:
    if operation.market_type != MULTI:
        return 0
    depth = priced(depth_of_liquidity, operation.liquidity.amount, len(operation.outcomes))
    require(operation.lmsr_b == depth, "o.lmsr_b == expected_b: lmsr_b mismatch")
    return depth


def _acceptance(ledger: Ledger, operation: PmCreateMarket, oracle: PmOracle | None) -> _Acceptance:
    percent, fixed = operation.oracle_fee_percent, operation.oracle_fixed_fee.amount
    if operation.oracle == operation.creator:
        require(
            percent <= ledger.median.pm_max_oracle_fee_percent,
            "o.oracle_fee_percent <= mp.pm_max_oracle_fee_percent: oracle_fee_percent exceeds cap",
        )
        return _Acceptance(is_own=True, by=None, fee_percent=percent, fixed_fee=fixed)
    if oracle is not None and _is_accepted_unasked(ledger, operation, oracle):
        return _Acceptance(is_own=False, by=oracle, fee_percent=oracle.fee_percent, fixed_fee=oracle.fixed_fee)
    return _Acceptance(is_own=False, by=None, fee_percent=percent, fixed_fee=fixed)


def _is_accepted_unasked(ledger: Ledger, operation: PmCreateMarket, oracle: PmOracle) -> bool:
    """Whether an oracle has said that it takes on such markets; its own terms then hold, not those offered."""
    median = ledger.median
    if oracle.auto_accept_resolver:
        is_settled_well = (
            operation.dispute_mode == BY_ACCOUNT and operation.dispute_resolver == oracle.auto_accept_resolver
        )
    else:
        is_settled_well = operation.dispute_mode == BY_COMMITTEE
    return (
        oracle.auto_accept
        and (not oracle.auto_accept_creator or oracle.auto_accept_creator == operation.creator)
        and is_settled_well
        and oracle.fee_percent <= operation.oracle_fee_percent
        and oracle.fixed_fee <= operation.oracle_fixed_fee.amount
        and oracle.fee_percent <= median.pm_max_oracle_fee_percent
        and oracle.insurance >= median.pm_min_oracle_insurance.amount
        and oracle.banned_until < ledger.now
    )


def _create(ledger: Ledger, operation: PmCreateMarket, acceptance: _Acceptance, depth: int) -> markets.PmMarket:
    """The market with its outcomes and its first liquidity; the metadata is stored nowhere."""
    now, median, liquidity = ledger.now, ledger.median, operation.liquidity.amount
    is_multi = operation.market_type == MULTI
    market = markets.PmMarket(
        creator=operation.creator,
        oracle=operation.oracle,
        market_type=operation.market_type,
        outcome_count=len(operation.outcomes) & 0xFF,
        url=operation.url,
        status=markets.ACTIVE if acceptance.is_live else markets.WAITING,
        created_time=now,
        accept_deadline=0 if acceptance.is_live else uint32(now + median.pm_oracle_accept_window_sec),
        betting_expiration=operation.betting_expiration,
        result_expiration=operation.result_expiration,
        lmsr_b=depth,
        lmsr_subsidy=liquidity,
        liquidity_sum=liquidity,
        oracle_fee_percent=acceptance.fee_percent,
        oracle_fixed_fee=acceptance.fixed_fee,
        creator_fee_percent=operation.creator_fee_percent,
        liquidity_fee_percent=operation.liquidity_fee_percent,
        time_penalty_type=operation.time_penalty_type,
        time_penalty_value=operation.time_penalty_value,
        penalty_curve_type=operation.penalty_curve_type,
        allow_early_resolution=operation.allow_early_resolution,
        allow_cancellation=operation.allow_cancellation,
        allow_batch=operation.allow_batch and median.pm_commit_reveal_enabled,
        allow_instant_bet=is_multi or operation.allow_instant_bet,
        endogeneity_tier=operation.endogeneity_tier,
        dispute_mode=operation.dispute_mode,
        dispute_resolver=operation.dispute_resolver,
        dispute_penalty_percent=operation.dispute_penalty_percent,
    )
    if not is_multi:
        market.reserve_a, market.reserve_b, market.k = opening_reserves(liquidity)
    ledger.store.create(markets.PM_MARKETS, market)
    for place, label in enumerate(operation.outcomes):
        ledger.store.create(markets.PM_OUTCOMES, markets.PmOutcome(market=market.id, outcome_index=place, label=label))
    row = PmLiquidity(
        market=market.id, provider=operation.creator, amount=liquidity, deposit_time=now, b_share=market.lmsr_b
    )
    ledger.store.create(PM_LIQUIDITY, row)
    return market


def _begin(
    ledger: Ledger,
    operation: PmCreateMarket,
    market: markets.PmMarket,
    acceptance: _Acceptance,
    oracle: PmOracle | None,
) -> None:
    if not acceptance.is_live:
        if oracle is not None:
            ledger.remember(oracle)
            oracle.last_active_time = ledger.now
        return
    if acceptance.by is not None:
        count_accepted(ledger, acceptance.by)
    else:
        begin_market(ledger, operation.oracle)
    allocate(ledger, market)
    ledger.emit(
        PmMarketAccepted(
            operation.oracle,
            operation.creator,
            market.id,
            acceptance.fee_percent,
            tokens(acceptance.fixed_fee),
            self_oracle=acceptance.is_own,
        )
    )


@evaluates(PmResolveMarket)
def pm_resolve_market(ledger: Ledger, operation: PmResolveMarket) -> None:
    """Say which outcome came true; nothing is paid before the time for disputes is over (spec 08, section 7.1)."""
    require_markets_enabled(ledger)
    market = market_of(ledger, operation.market_id)
    _require_resolvable(market, operation)
    require(
        0 <= operation.winning_outcome < market.outcome_count,
        "o.winning_outcome >= 0 && o.winning_outcome < (int16_t)mkt.outcome_count: Invalid winning_outcome",
    )
    require(
        byte_length(operation.decision_url) <= constants.MAX_PM_DECISION_URL_LENGTH,
        "o.decision_url.size() <= MAX_PM_DECISION_URL_LEN: decision_url too long",
    )
    now, betting_end = ledger.now, market.betting_expiration
    require(
        (market.allow_early_resolution and now >= betting_end) or now >= market.result_expiration,
        "can_resolve_early || now >= mkt.result_expiration: Cannot resolve yet",
    )
    is_late = now > market.result_expiration
    taken = now - betting_end if betting_end != 0 and now > betting_end else 0
    with ledger.editing(market):
        market.status = markets.RESOLVED
        market.payout_status = markets.TO_BE_PAID
        market.resolved_outcome = operation.winning_outcome
        market.result_expiration = now
        market.decision_url = operation.decision_url
        market.decision_reason = operation.decision_reason
    bring_end(ledger, market)
    oracle = find_oracle(ledger, operation.oracle)
    if oracle is not None:
        with ledger.editing(oracle):
            _leave_active(ledger, oracle)
            _record_resolution(oracle, market.bets_sum, taken, is_late=is_late)


def _require_resolvable(market: markets.PmMarket, operation: PmResolveMarket | PmNoContest) -> None:
    require(market.oracle == operation.oracle, "mkt.oracle == o.oracle: Not the market oracle")
    require_active(market)
    require_not_being_refunded(market)


def _leave_active(ledger: Ledger, oracle: PmOracle) -> None:
    """A market of an oracle that is being edited may be disputed from now on."""
    oracle.active_markets = max(0, oracle.active_markets - 1)
    move_gauge(oracle, IN_DISPUTE_WINDOW, 1)
    oracle.last_active_time = ledger.now


def _record_resolution(oracle: PmOracle, volume: int, taken: int, *, is_late: bool) -> None:
    """What an oracle that is being edited has resolved, and how long after the end of betting."""
    count = oracle.markets_resolved = uint32(oracle.markets_resolved + 1)
    oracle.total_volume_resolved = fits_int64(oracle.total_volume_resolved + volume)
    oracle.resolved_late_count = uint32(oracle.resolved_late_count + is_late)
    oracle.avg_resolution_time = uint32((oracle.avg_resolution_time * (count - 1) + taken) // count)
    classes = list(oracle.resolution_time_hist)
    classes[time_class(taken)] = fits_int64(classes[time_class(taken)] + 1)
    oracle.resolution_time_hist = tuple(classes)


@evaluates(PmNoContest)
def pm_no_contest(ledger: Ledger, operation: PmNoContest) -> None:
    """Say that a market cannot be decided: at any time, also while bets are taken (spec 08, section 7.2)."""
    require_markets_enabled(ledger)
    market = market_of(ledger, operation.market_id)
    _require_resolvable(market, operation)
    require(
        byte_length(operation.reason) <= constants.MAX_PM_DISPUTE_REASON_LENGTH,
        "o.reason.size() <= MAX_PM_DISPUTE_REASON_LEN: Reason too long",
    )
    oracle = find_oracle(ledger, operation.oracle)
    if oracle is not None:
        with ledger.editing(oracle):
            oracle.no_contest_count = uint32(oracle.no_contest_count + 1)
            _leave_active(ledger, oracle)
    with ledger.editing(market):
        market.status = markets.RESOLVED
        market.payout_status = markets.TO_BE_PAID
        market.resolved_outcome = -1
        market.result_expiration = ledger.now
        market.decision_reason = operation.reason
    bring_end(ledger, market)
