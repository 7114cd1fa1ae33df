"""Positions with a loan of the lazy pool, and what one would get, be worth or cost now (spec 11, 4.10, 6.2 and 6.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.types.numbers import Int16, Int32, Int64, ShareAmount, UInt32
from ledgerd.pricing.constant_product import Reserves, buy
from ledgerd.pricing.leverage import LeverageLimits, cancel_value, max_loan, threshold, worst_value
from ledgerd.pricing.widths import int64, mul_div, quotient128, truncated_quotient
from ledgerd.protocol.properties import ChainPropertiesHf14
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.prediction_market.declared import NEWEST, OLDEST, PREDICTION_MARKET_API
from ledgerd.rpc.api.prediction_market.shared.cards import require_market
from ledgerd.rpc.api.prediction_market.shared.id_lists import rows_page
from ledgerd.rpc.api.prediction_market.shared.remembered import head_time
from ledgerd.rpc.api.prediction_market.shared.risk import medians
from ledgerd.rpc.api.shared.kinds import existing
from ledgerd.rpc.call.counts import exactly, from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS
from ledgerd.state.objects.markets.leverage import (
    LEVERAGE_BY_ACCOUNT,
    LEVERAGE_BY_MARKET_STATUS,
    PM_LEVERAGE_POSITIONS,
    PmLeveragePosition,
)
from ledgerd.state.objects.markets.markets import ACTIVE, PM_MARKETS, PmMarket

BINARY = 0
STOPS = 12
LEAST_LEVERAGE = 101
_UINT32 = 0xFFFFFFFF


class LeverageStop(msgspec.Struct, frozen=True):
    """What one of twelve loans would give."""

    leverage_x100: UInt32
    loan: ShareAmount
    total_bet: ShareAmount
    expected_tokens: ShareAmount
    pool_profit: ShareAmount
    liquidation_threshold: ShareAmount
    current_cancel_value: ShareAmount
    worst_case_cancel_value: ShareAmount


class FailedConstraint(msgspec.Struct, frozen=True):
    """Why there is no loan."""

    constraint: str
    reason: str


class LeverageQuote(msgspec.Struct, frozen=True):
    """How much the pool would lend for a bet, and what that bet would be."""

    available: bool
    outcome_index: Int16
    collateral: ShareAmount
    max_loan: ShareAmount
    max_leverage_x100: UInt32
    pool_free_amount: ShareAmount
    fund_available: ShareAmount
    per_position_cap: ShareAmount
    market_position_cap: ShareAmount
    pool_profit_percent: UInt32
    safety_margin_percent: UInt32
    max_slippage_percent: UInt32
    m_factor_percent: UInt32
    expiration_buffer_sec: UInt32
    funding_rate_ppm_per_day: UInt32
    auto_close_time: Time
    stops: tuple[LeverageStop, ...]
    failed_constraints: tuple[FailedConstraint, ...]


class ClosePreview(msgspec.Struct, frozen=True):
    """What closing a position would bring now."""

    position_id: Int64
    outcome_index: Int16
    cancel_value: ShareAmount
    pool_obligation: ShareAmount
    bettor_receives: ShareAmount
    collateral: ShareAmount
    loan: ShareAmount
    pool_profit_charge: ShareAmount
    closeable: bool
    loss_vs_collateral: Int64
    loss_percent_bp: Int32


class ConvertPreview(msgspec.Struct, frozen=True):
    """What turning a position into a plain bet would cost now."""

    position_id: Int64
    outcome_index: Int16
    cancel_value: ShareAmount
    pool_obligation: ShareAmount
    current_profit: ShareAmount
    conversion_profit_cost_percent: UInt32
    conversion_fee: ShareAmount
    total_user_payment: ShareAmount
    convertible: bool


@PREDICTION_MARKET_API.method(args=from_to(3, 4), examples=[["alice", 0, 10]])
def get_account_leverage_positions(
    view: ApiView, account: AccountName, from_: UInt32, limit: UInt32, order: str = NEWEST
) -> tuple[PmLeveragePosition, ...]:
    """The positions of an account, the newest first unless `oldest` is asked for."""
    newest = order != OLDEST
    return rows_page(view, PM_LEVERAGE_POSITIONS, LEVERAGE_BY_ACCOUNT, (account,), from_, limit, newest=newest)


@PREDICTION_MARKET_API.method(args=from_to(3, 3), examples=[[0, 0, 10]])
def get_market_leverage_positions(
    view: ApiView, market: Int64, from_: UInt32, limit: UInt32
) -> tuple[PmLeveragePosition, ...]:
    """The positions of a market, those that stand first."""
    return rows_page(view, PM_LEVERAGE_POSITIONS, LEVERAGE_BY_MARKET_STATUS, (market,), from_, limit)


class _Room(NamedTuple):
    """The most that the pool could lend for a position in a market."""

    free: int
    fund: int
    position: int
    market: int

    @classmethod
    def of(cls, view: ApiView, market: PmMarket, properties: ChainPropertiesHf14) -> _Room:
        pool = view.state.find(PM_LAZY_POOLS, 0)
        balance, used = (0, 0) if pool is None else (pool.free_balance, pool.leverage_fund_used)
        fund = int64(mul_div(max(balance, 0), properties.pm_leverage_fund_percent, 100) - used)
        position = mul_div(fund, properties.pm_leverage_max_per_position_bp, HUNDRED_PERCENT) if fund > 0 else 0
        ratio = properties.pm_leverage_max_position_ratio_percent
        return cls(int64(balance - used), fund, position, mul_div(max(market.liquidity_sum, 0), ratio, 100))


@PREDICTION_MARKET_API.method(args=exactly(3, "_S"), examples=[[0, 0, 1_000_000]])
def get_leverage_quote(view: ApiView, market: Int64, outcome_index: Int16, collateral: Int64) -> LeverageQuote:
    """How much the lazy pool would lend for a bet of so many thousandths of a VIZ, and what that bet would be.

    Twelve loans are shown, also such as are too small to be taken.
    """
    found, properties = require_market(view, market), medians(view)
    room = _Room.of(view, found, properties)
    limits = LeverageLimits(
        properties.pm_leverage_pool_profit_percent,
        properties.pm_leverage_safety_margin_percent,
        properties.pm_leverage_max_slippage_percent,
        properties.pm_leverage_m_factor_percent,
    )
    reserves = Reserves(found.reserve_a, found.reserve_b, found.k)
    failed = [*_obstacles(found, outcome_index, collateral, room, properties, head_time(view))]
    loan = 0
    if not failed and collateral > 0:
        most = max(min(room.free, room.position, int64(room.market - collateral)), 0)
        loan = max_loan(reserves, collateral, outcome_index, most, limits) if most > 0 else 0
        if loan <= 0:
            failed.append(FailedConstraint("solvency", "No loan size passes the worst-case solvency check"))
    end, buffer = found.betting_expiration, properties.pm_leverage_expiration_buffer_sec
    return LeverageQuote(
        loan > 0,
        outcome_index,
        collateral,
        loan,
        _leverage(collateral, loan) if collateral > 0 else 100,
        room.free,
        room.fund,
        room.position,
        room.market,
        *limits,
        buffer,
        properties.pm_leverage_funding_rate_ppm_per_day,
        end - buffer & _UINT32 if end else 0,
        tuple(_stops(reserves, collateral, outcome_index, loan, limits)),
        tuple(failed),
    )


def _leverage(collateral: int, loan: int) -> int:
    return truncated_quotient(int64((collateral + loan) * 100), collateral) & _UINT32


def _obstacles(
    market: PmMarket, outcome: int, collateral: int, room: _Room, properties: ChainPropertiesHf14, now: int
) -> Iterator[FailedConstraint]:
    end = market.betting_expiration
    rules = (
        (not properties.pm_leverage_enabled, "leverage_disabled", "Leverage is disabled by governance"),
        (market.market_type != BINARY, "cpmm_binary_only", "Leverage is CPMM-binary only"),
        (market.status != ACTIVE, "market_inactive", "Market is not active"),
        (outcome not in {0, 1}, "cpmm_binary_only", "outcome_index must be 0/1"),
        (
            bool(end) and now >= end - properties.pm_leverage_expiration_buffer_sec,
            "expiration_buffer",
            "Too close to betting expiration for leverage",
        ),
        (
            market.liquidity_sum < properties.pm_leverage_min_market_liquidity.amount,
            "min_market_liquidity",
            "Market liquidity below leverage minimum",
        ),
        (room.free <= 0 or room.fund <= 0, "fund_availability", "Leverage fund exhausted"),
        (
            int64(room.market - collateral) <= 0,
            "position_size",
            "Collateral already at/above market position cap",
        ),
        (
            room.position < properties.pm_min_liquidity.amount,
            "loan_floor_above_cap",
            "Per-position cap below minimum loan (pool too small for leverage)",
        ),
    )
    return (FailedConstraint(constraint, reason) for fails, constraint, reason in rules if fails)


def _stops(
    reserves: Reserves, collateral: int, outcome: int, most: int, limits: LeverageLimits
) -> Iterator[LeverageStop]:
    last = 0
    for part in range(1, STOPS + 1) if most > 0 else ():
        loan = quotient128(most * part, STOPS)
        leverage = _leverage(collateral, loan) if loan > 0 else 0
        if leverage < LEAST_LEVERAGE or leverage == last:
            continue
        last = leverage
        tokens, a, b = buy(*reserves, int64(collateral + loan), outcome)
        left, owed = Reserves(a, b, reserves.k), threshold(loan, limits.profit)
        yield LeverageStop(
            leverage,
            loan,
            int64(collateral + loan),
            tokens,
            int64(owed - loan),
            owed,
            cancel_value(left, tokens, outcome),
            worst_value(left, tokens, outcome, limits),
        )


def _priced(view: ApiView, position: int) -> tuple[PmLeveragePosition, int]:
    found = existing(view.state.find(PM_LEVERAGE_POSITIONS, position), "p != nullptr: Position not found")
    market = view.state.get(PM_MARKETS, found.market)
    reserves = Reserves(market.reserve_a, market.reserve_b, market.k)
    return found, cancel_value(reserves, found.tokens, found.outcome_index)


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_leverage_close_preview(view: ApiView, position: Int64) -> ClosePreview:
    """What closing a position would bring now."""
    found, value = _priced(view, position)
    owed = found.liquidation_threshold
    received = max(int64(value - owed), 0)
    loss = int64(found.collateral - received)
    return ClosePreview(
        found.id,
        found.outcome_index,
        value,
        owed,
        received,
        found.collateral,
        found.loan,
        found.pool_profit,
        value >= owed,
        loss,
        truncated_quotient(int64(loss * HUNDRED_PERCENT), found.collateral) if found.collateral > 0 else 0,
    )


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_leverage_convert_preview(view: ApiView, position: Int64) -> ConvertPreview:
    """What turning a position into a plain bet would cost now."""
    found, value = _priced(view, position)
    owed = found.liquidation_threshold
    profit = max(int64(value - owed), 0)
    percent = medians(view).pm_conversion_profit_cost_percent
    fee = mul_div(profit, percent, 100)
    return ConvertPreview(
        found.id, found.outcome_index, value, owed, profit, percent, fee, int64(owed + fee), profit > 0
    )
