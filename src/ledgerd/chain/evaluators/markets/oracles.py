"""The rules of oracles: registering, changing one's terms, taking a market on or not (spec 08, section 4)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import allocate
from ledgerd.chain.rules.markets.liquidity_return import return_liquidity
from ledgerd.chain.rules.markets.market import market_of, require_markets_enabled
from ledgerd.chain.rules.markets.oracles import find_oracle
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.constants import MAX_PM_PROFILE_URL_LENGTH
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.markets.oracles import PmOracleAcceptMarket, PmOracleRegister, PmOracleUpdate
from ledgerd.protocol.operations.markets.virtual_markets import PmMarketAccepted
from ledgerd.protocol.types.assets import Asset, fits_int64, tokens
from ledgerd.protocol.types.texts import byte_length
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.markets.markets import ACTIVE, DELETED, MARKET_BY_ORACLE_FINALIZED, WAITING, PmMarket
from ledgerd.state.objects.markets.oracles import PM_ORACLES, PmOracle


@evaluates(PmOracleRegister)
def pm_oracle_register(ledger: Ledger, operation: PmOracleRegister) -> None:
    """Become an oracle for a fee, with an insurance (spec 08, section 4.1). Whom it accepts is not looked up."""
    require_markets_enabled(ledger)
    owner = ledger.account(operation.owner)
    median, insurance = ledger.median, operation.insurance
    require(insurance.is_token, "o.insurance.symbol == TOKEN_SYMBOL: Insurance must be VIZ")
    require(
        insurance.amount >= median.pm_min_oracle_insurance.amount,
        "o.insurance.amount >= mp.pm_min_oracle_insurance.amount: Insurance below minimum",
    )
    _require_fee_percent(ledger, operation.fee_percent, "o.fee_percent")
    _require_fixed_fee(operation.fixed_fee, "o.fixed_fee.")
    _require_rules_url(operation.rules_url, "o.rules_url.")
    require(find_oracle(ledger, owner.name) is None, "oidx.find(o.owner) == oidx.end(): Oracle already registered")
    _pay_for_registration(ledger, owner, insurance.amount)
    oracle = PmOracle(
        owner=owner.name,
        insurance=insurance.amount,
        fee_percent=operation.fee_percent,
        fixed_fee=operation.fixed_fee.amount,
        rules_url=operation.rules_url,
        active_since=ledger.now,
        last_active_time=ledger.now,
        auto_accept_creator=operation.auto_accept_creator,
        auto_accept_resolver=operation.auto_accept_resolver,
        auto_accept=operation.auto_accept,
    )
    ledger.store.create(PM_ORACLES, oracle)


def _pay_for_registration(ledger: Ledger, owner: Account, insurance: int) -> None:
    fee = max(0, ledger.median.pm_oracle_registration_fee.amount)
    require(
        not fee or owner.balance >= fee,
        "owner.balance >= mp.pm_oracle_registration_fee: Insufficient balance for registration fee",
    )
    require(owner.balance - fee >= insurance, "owner.balance >= o.insurance: Insufficient balance for insurance")
    globals_ = ledger.globals
    with ledger.editing(owner, globals_):
        owner.balance = fits_int64(owner.balance - fee - insurance)
        globals_.committee_fund = fits_int64(globals_.committee_fund + fee)


@evaluates(PmOracleUpdate)
def pm_oracle_update(ledger: Ledger, operation: PmOracleUpdate) -> None:
    """Change what is given; a ban does not forbid it (spec 08, section 4.2)."""
    require_markets_enabled(ledger)
    owner = ledger.account(operation.owner)
    oracle = find_oracle(ledger, owner.name)
    if oracle is None:
        raise RuleViolation("it != oidx.end(): Oracle not found")
    if operation.fee_percent is not None:
        _require_fee_percent(ledger, operation.fee_percent, "*o.fee_percent")
    if operation.fixed_fee is not None:
        _require_fixed_fee(operation.fixed_fee, "o.fixed_fee->")
    if operation.rules_url is not None:
        _require_rules_url(operation.rules_url, "o.rules_url->")
    if operation.insurance_delta is not None:
        _move_insurance(ledger, owner, oracle, operation.insurance_delta)
    with ledger.editing(oracle):
        if operation.insurance_delta is not None:
            oracle.insurance = fits_int64(oracle.insurance + operation.insurance_delta.amount)
        if operation.fixed_fee is not None:
            oracle.fixed_fee = operation.fixed_fee.amount
        for field in ("fee_percent", "rules_url", "auto_accept_creator", "auto_accept_resolver", "auto_accept"):
            value = getattr(operation, field)
            if value is not None:
                setattr(oracle, field, value)
        oracle.last_active_time = ledger.now


def _move_insurance(ledger: Ledger, owner: Account, oracle: PmOracle, delta: Asset) -> None:
    """More is always welcome; less only while nobody could have to be paid out of it."""
    require(delta.is_token, "delta.symbol == TOKEN_SYMBOL: insurance_delta must be VIZ")
    if delta.amount > 0:
        require(owner.balance >= delta.amount, "owner.balance >= delta: Insufficient balance for insurance top-up")
    elif delta.amount < 0:
        withdraw = fits_int64(-delta.amount)
        _require_all_settled(ledger, oracle)
        require(
            oracle.insurance - withdraw >= ledger.median.pm_min_oracle_insurance.amount,
            "oracle.insurance.value - withdraw.value >= mp.pm_min_oracle_insurance.amount.value: "
            "Withdrawal would push insurance below minimum",
        )
    if delta.amount:
        adjust_balance(ledger, owner, -delta.amount)


def _require_all_settled(ledger: Ledger, oracle: PmOracle) -> None:
    """No market of the oracle is between its acceptance and its end. Markets that wait for it are no obstacle."""
    open_markets = (oracle.owner, 0)
    for market in ledger.store.scan(MARKET_BY_ORACLE_FINALIZED, lower=open_markets, upper=open_markets):
        require(
            market.status < ACTIVE,
            "mit->status < 1: Cannot withdraw insurance while this oracle has unsettled markets (awaiting resolution "
            "or still in the dispute window); settle them first (top-ups are always allowed)",
        )


def _require_fee_percent(ledger: Ledger, percent: int, field: str) -> None:
    require(
        percent <= ledger.median.pm_max_oracle_fee_percent,
        f"{field} <= mp.pm_max_oracle_fee_percent: fee_percent exceeds maximum",
    )


def _require_fixed_fee(fee: Asset, field: str) -> None:
    require(fee.is_token, f"{field}symbol == TOKEN_SYMBOL: fixed_fee must be VIZ")
    require(fee.amount >= 0, f"{field}amount >= 0: fixed_fee cannot be negative")


def _require_rules_url(url: str, field: str) -> None:
    require(
        byte_length(url) <= MAX_PM_PROFILE_URL_LENGTH,
        f"{field}size() <= MAX_PM_PROFILE_URL_LEN: rules_url too long",
    )


@evaluates(PmOracleAcceptMarket)
def pm_oracle_accept_market(ledger: Ledger, operation: PmOracleAcceptMarket) -> None:
    """Spec 08, section 4.4. Neither the deadline nor a ban nor the insurance is asked for."""
    require_markets_enabled(ledger)
    market = market_of(ledger, operation.market_id)
    require(market.oracle == operation.oracle, "mkt.oracle == o.oracle: Not the market oracle")
    require(market.status == WAITING, "mkt.status == 0: Market not pending acceptance")
    if operation.accept:
        _accept(ledger, operation, market)
        return
    return_liquidity(ledger, market)
    with ledger.editing(market):
        market.status = DELETED
        market.finalized_time = ledger.now


def _accept(ledger: Ledger, operation: PmOracleAcceptMarket, market: PmMarket) -> None:
    percent, fixed = operation.oracle_fee_percent, operation.oracle_fixed_fee.amount
    require(
        percent <= market.oracle_fee_percent,
        "o.oracle_fee_percent <= mkt.oracle_fee_percent: oracle_fee_percent exceeds the creator's offer",
    )
    require(
        fixed <= market.oracle_fixed_fee,
        "o.oracle_fixed_fee.amount <= mkt.oracle_fixed_fee: oracle_fixed_fee exceeds the creator's offer",
    )
    require(
        percent <= ledger.median.pm_max_oracle_fee_percent,
        "o.oracle_fee_percent <= mp.pm_max_oracle_fee_percent: oracle_fee_percent exceeds cap",
    )
    with ledger.editing(market):
        market.status = ACTIVE
        market.oracle_fee_percent = percent
        market.oracle_fixed_fee = fixed
    oracle = find_oracle(ledger, operation.oracle)
    if oracle is not None:
        count_accepted(ledger, oracle)
    allocate(ledger, market)
    ledger.emit(
        PmMarketAccepted(operation.oracle, market.creator, market.id, percent, tokens(fixed), self_oracle=False)
    )


def count_accepted(ledger: Ledger, oracle: PmOracle) -> None:
    ledger.remember(oracle)
    oracle.markets_accepted = uint32(oracle.markets_accepted + 1)
    oracle.active_markets = uint32(oracle.active_markets + 1)
    oracle.last_active_time = ledger.now
