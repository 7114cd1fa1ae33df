"""Bets with tokens that the lazy pool has lent (spec 07, section 10.12); and when the positions of a market are
closed at the latest, which is ours, not consensus: the reference looks at every position.
"""

from __future__ import annotations

from ledgerd.codec.types.numbers import Int16, ShareAmount, UInt8
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import LATEST, Time
from ledgerd.state.tables.keys import NAME_TEXT, OBJECT_ID, OWN_ID, TIME, UINT8
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique

ACTIVE = 0
LIQUIDATED = 1
WON = 2
LOST = 3
CLOSED = 4
CONVERTED = 5
"""What becomes of a position."""


class PmLeveragePosition(Entity):
    """Own tokens and borrowed ones on an outcome of a binary market. No rule ever sets its bet."""

    market: ObjectId = 0
    account: AccountName = NO_NAME
    outcome_index: Int16 = 0
    collateral: ShareAmount = 0
    loan: ShareAmount = 0
    total_bet: ShareAmount = 0
    tokens: ShareAmount = 0
    bet: ObjectId = 0
    pool_profit: ShareAmount = 0
    liquidation_threshold: ShareAmount = 0
    status: UInt8 = ACTIVE
    liquidated_at: Time = 0
    liquidated_by_bet: ObjectId = 0
    cancel_value_at_liquidation: ShareAmount = 0
    pool_received: ShareAmount = 0
    bettor_received: ShareAmount = 0
    created_time: Time = 0
    last_update: Time = 0
    funding_paid: ShareAmount = 0
    funding_due_time: Time = 0


PM_LEVERAGE_POSITIONS = Table(PmLeveragePosition, number=43)
LEVERAGE_BY_MARKET_STATUS = unique(
    PM_LEVERAGE_POSITIONS,
    "by_lev_market_status",
    lambda position: (position.market, position.status, position.id),
    (OBJECT_ID, UINT8, OWN_ID),
)
LEVERAGE_BY_ACCOUNT = unique(
    PM_LEVERAGE_POSITIONS,
    "by_lev_account",
    lambda position: (position.account, position.id),
    (NAME_TEXT, OWN_ID),
)
LEVERAGE_BY_FUNDING_DUE = unique(
    PM_LEVERAGE_POSITIONS,
    "by_lev_funding_due",
    lambda position: (position.status, position.funding_due_time, position.id),
    (UINT8, TIME, OWN_ID),
)


AT_ONCE = 0
NEVER = LATEST
"""Beside the end of betting: the market is resolved already, or takes bets until it is."""


class LeverageEnd(Entity):
    """A market that has, or had, positions which stand: from this time on they do not."""

    market: ObjectId = 0
    time: Time = NEVER


LEVERAGE_ENDS = Table(LeverageEnd, number=104)
LEVERAGE_END_BY_MARKET = unique(LEVERAGE_ENDS, "by_market", lambda end: (end.market,), (OBJECT_ID,))
LEVERAGE_END_BY_TIME = unique(LEVERAGE_ENDS, "by_time", lambda end: (end.time, end.market), (TIME, OBJECT_ID))
