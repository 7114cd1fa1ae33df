"""Prediction markets and their outcomes (spec 07, sections 10.2 and 10.3). Who bet on them is in `bets`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ledgerd.codec.partial import fields_reader
from ledgerd.codec.types.numbers import Int8, Int16, ShareAmount, UInt8, UInt16, UInt32, UInt128
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import BOOL, INT8, NAME_TEXT, OBJECT_ID, OWN_ID, TIME, UINT8
from ledgerd.state.tables.tables import Entity, ObjectId, Table, ordered, unique

DELETED = -1
WAITING = 0
ACTIVE = 1
CLOSED = 2
RESOLVED = 3
"""How far a market is: its oracle has to take it on, bets are taken, they are not any more, its end is known."""

NOTHING_TO_PAY = 0
TO_BE_PAID = 1
DISPUTED = 2
PAID = 3
BEING_PAID = 4
"""How far its payout is."""


class PmMarket(Entity):
    """A question with outcomes, and what was bet on each."""

    creator: AccountName = NO_NAME
    oracle: AccountName = NO_NAME
    market_type: UInt8 = 0
    outcome_count: UInt8 = 2
    url: str = ""
    status: Int8 = WAITING
    payout_status: UInt8 = NOTHING_TO_PAY
    created_time: Time = 0
    accept_deadline: Time = 0
    betting_expiration: Time = 0
    result_expiration: Time = 0
    finalized_time: Time = 0
    resolved_outcome: Int16 = -1
    reserve_a: ShareAmount = 0
    reserve_b: ShareAmount = 0
    k: UInt128 = 0
    a_bets_sum: ShareAmount = 0
    b_bets_sum: ShareAmount = 0
    lmsr_b: ShareAmount = 0
    lmsr_subsidy: ShareAmount = 0
    bets_sum: ShareAmount = 0
    liquidity_sum: ShareAmount = 0
    oracle_fee_percent: UInt16 = 0
    creator_fee_percent: UInt16 = 0
    liquidity_fee_percent: UInt16 = 0
    oracle_fixed_fee: ShareAmount = 0
    liquidity_fee_earned: ShareAmount = 0
    forfeit_pool: ShareAmount = 0
    time_penalty_type: UInt8 = 0
    time_penalty_value: UInt32 = 0
    penalty_curve_type: UInt8 = 0
    allow_early_resolution: bool = False
    allow_cancellation: bool = False
    allow_batch: bool = False
    allow_instant_bet: bool = True
    endogeneity_tier: UInt8 = 2
    current_epoch: UInt32 = 0
    dispute_mode: UInt8 = 0
    dispute_resolver: AccountName = NO_NAME
    dispute_penalty_percent: Int16 = 0
    decision_url: str = ""
    decision_reason: str = ""
    deferred_claim_count: UInt32 = 0
    open_commits: UInt32 = 0

    @property
    def awaits_payment(self) -> bool:
        """Whether it is resolved, not disputed, and not paid out in full (spec 09, section 5.8)."""
        return self.status == RESOLVED and self.finalized_time == 0 and self.payout_status in (TO_BE_PAID, BEING_PAID)


class PmOutcome(Entity):
    """One of the outcomes of a market."""

    market: ObjectId = 0
    outcome_index: UInt8 = 0
    label: str = ""
    q: ShareAmount = 0
    bets_sum: ShareAmount = 0
    weight_sum: ShareAmount = 0
    bets_count: UInt32 = 0


PM_MARKETS = Table(PmMarket, number=33)
MARKET_BY_CREATOR = ordered(PM_MARKETS, "by_creator", lambda market: (market.creator,), (NAME_TEXT,))
MARKET_BY_ORACLE = ordered(PM_MARKETS, "by_oracle", lambda market: (market.oracle,), (NAME_TEXT,))
"""The places of an oracle's markets among each other are consensus (spec 07, section 10)."""
MARKET_BY_STATUS = unique(PM_MARKETS, "by_status", lambda market: (market.status, market.id), (INT8, OWN_ID))
MARKET_BY_ORACLE_STATUS = unique(
    PM_MARKETS,
    "by_oracle_status",
    lambda market: (market.oracle, market.status, market.id),
    (NAME_TEXT, INT8, OWN_ID),
)
MARKET_BY_ACCEPT_DEADLINE = unique(
    PM_MARKETS,
    "by_accept_deadline",
    lambda market: (market.status, market.accept_deadline, market.id),
    (INT8, TIME, OWN_ID),
)
MARKET_BY_BETTING_EXPIRATION = unique(
    PM_MARKETS,
    "by_betting_expiration",
    lambda market: (market.status, market.betting_expiration, market.id),
    (INT8, TIME, OWN_ID),
)
MARKET_BY_RESULT_EXPIRATION = unique(
    PM_MARKETS,
    "by_result_expiration",
    lambda market: (market.status, market.finalized_time, market.result_expiration, market.id),
    (INT8, TIME, TIME, OWN_ID),
)
MARKET_BY_FINALIZED = unique(
    PM_MARKETS, "by_finalized", lambda market: (market.finalized_time, market.id), (TIME, OWN_ID)
)
MARKET_BY_PAYMENT = unique(
    PM_MARKETS,
    "by_payment",
    lambda market: (market.awaits_payment, market.result_expiration, market.id),
    (BOOL, TIME, OWN_ID),
)
"""Ours: what the settlement visits of those that `by_result_expiration` has as resolved. Disputes may take long."""
MARKET_BY_ORACLE_FINALIZED = unique(
    PM_MARKETS,
    "by_oracle_finalized",
    lambda market: (market.oracle, market.finalized_time, market.id),
    (NAME_TEXT, TIME, OWN_ID),
)


class MarketSums(NamedTuple):
    """What lists of markets are chosen and sorted by."""

    status: int = WAITING
    payout_status: int = NOTHING_TO_PAY
    betting_expiration: int = 0
    bets_sum: int = 0


market_sums: Callable[[bytes], MarketSums] = fields_reader(PmMarket, MarketSums._fields, MarketSums._make)
"""The same from the bytes of a market: most lists look at many more markets than they show."""

market_oracle: Callable[[bytes], bytes] = fields_reader(PmMarket, ("oracle",))
"""The name of the oracle, from the bytes of a market."""

PM_OUTCOMES = Table(PmOutcome, number=34)
OUTCOME_BY_MARKET = unique(
    PM_OUTCOMES,
    "by_market_outcome",
    lambda outcome: (outcome.market, outcome.outcome_index),
    (OBJECT_ID, UINT8),
)
