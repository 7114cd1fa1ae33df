"""Liquidity of prediction markets: whose tokens stand behind the prices (spec 07, section 10.5)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import ShareAmount, UInt8, UInt32
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import OBJECT_ID, OWN_ID
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique

ACTIVE = 0
CLOSED = 3
"""Whether its tokens are still in the market."""


class PmLiquidity(Entity):
    """What a provider has put into a market at one time; the provider without a name is the lazy pool."""

    market: ObjectId = 0
    provider: AccountName = NO_NAME
    amount: ShareAmount = 0
    weight_a: ShareAmount = 0
    weight_b: ShareAmount = 0
    b_share: ShareAmount = 0
    sec_to_expiration: UInt32 = 0
    deposit_time: Time = 0
    earned_fee: ShareAmount = 0
    status: UInt8 = ACTIVE


PM_LIQUIDITY = Table(PmLiquidity, number=36)
LIQUIDITY_BY_MARKET = unique(
    PM_LIQUIDITY, "by_market", lambda liquidity: (liquidity.market, liquidity.id), (OBJECT_ID, OWN_ID)
)
