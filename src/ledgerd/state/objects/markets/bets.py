"""Bets on the outcomes of prediction markets (spec 07, section 10.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ledgerd.codec.partial import fields_reader
from ledgerd.codec.types.numbers import Int8, Int16, ShareAmount, UInt8, UInt32, UInt64
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import NAME_TEXT, OBJECT_ID, OWN_ID, UINT8
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique

ACTIVE = 0
CANCELLED = 1
REFUNDED = 2
RESOLVED = 3
QUEUED = 5
REVEALED = 6
"""What becomes of a bet. Those of a batch wait, queued or shown, until their epoch is over."""


class PmBet(Entity):
    """An account's stake in an outcome."""

    market: ObjectId = 0
    account: AccountName = NO_NAME
    side: Int8 = -1
    outcome_index: Int16 = -1
    amount: ShareAmount = 0
    weight: ShareAmount = 0
    price: UInt64 = 0
    time_penalty: UInt32 = 0
    mode: UInt8 = 0
    epoch: UInt32 = 0
    status: UInt8 = ACTIVE
    min_tokens: ShareAmount = 0
    resolved_amount: ShareAmount = 0
    created_time: Time = 0
    entry_liquidity: ShareAmount = 0


class BetWeight(NamedTuple):
    """What sums of a market's bets are made of."""

    side: int
    outcome_index: int
    amount: int
    weight: int
    status: int


bet_weight: Callable[[bytes], BetWeight] = fields_reader(PmBet, BetWeight._fields, BetWeight._make)
"""The same from the bytes of a bet: a market may have many more bets than one answer shows."""

PM_BETS = Table(PmBet, number=35)
BET_BY_MARKET = unique(PM_BETS, "by_market", lambda bet: (bet.market, bet.id), (OBJECT_ID, OWN_ID))
BET_BY_ACCOUNT = unique(PM_BETS, "by_account", lambda bet: (bet.account, bet.id), (NAME_TEXT, OWN_ID))
BET_BY_MARKET_ACCOUNT = unique(
    PM_BETS,
    "by_market_account",
    lambda bet: (bet.market, bet.account, bet.id),
    (OBJECT_ID, NAME_TEXT, OWN_ID),
)
BET_BY_STATUS_MARKET = unique(
    PM_BETS, "by_status_market", lambda bet: (bet.status, bet.market, bet.id), (UINT8, OBJECT_ID, OWN_ID)
)
