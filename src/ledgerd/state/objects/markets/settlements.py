"""Markets that are being paid out over several blocks, and claims that wait for it (spec 07, 10.15 and 10.16)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import Int64, ShareAmount, UInt8, UInt128
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import OBJECT_ID, OWN_ID
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique

CANCELLED_BET = 0
CLOSED_LEVERAGE = 1
"""What a claim came from."""


class PmDeferredClaim(Entity):
    """What an account that left a market early gets of its end."""

    market: ObjectId = 0
    account: AccountName = NO_NAME
    kind: UInt8 = CANCELLED_BET
    outcome_index: UInt8 = 0
    claim_amount: ShareAmount = 0
    exit_time: Time = 0


class PmSettlement(Entity):
    """Where the settlement, or the refund, of a market stands. It goes when all is done."""

    market: ObjectId = 0
    phase: UInt8 = 1
    cursor: Int64 = 0
    stake_total: ShareAmount = 0
    weight_total: UInt128 = 0
    winners_pool: ShareAmount = 0
    uncovered: ShareAmount = 0
    distributed: ShareAmount = 0
    lp_bonus: ShareAmount = 0
    paid_claims: ShareAmount = 0
    rows_total: Int64 = 0
    rows_done: Int64 = 0
    escrow: ShareAmount = 0


PM_DEFERRED_CLAIMS = Table(PmDeferredClaim, number=46)
DEFERRED_CLAIM_BY_MARKET = unique(
    PM_DEFERRED_CLAIMS, "by_claim_market", lambda claim: (claim.market, claim.id), (OBJECT_ID, OWN_ID)
)

PM_SETTLEMENTS = Table(PmSettlement, number=47)
SETTLEMENT_BY_MARKET = unique(
    PM_SETTLEMENTS, "by_settlement_market", lambda settlement: (settlement.market,), (OBJECT_ID,)
)
