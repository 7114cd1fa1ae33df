"""Virtual operations of prediction markets: actions of the chain on bets, pools and oracles (spec 07, 6)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import missing
from ledgerd.codec.numbers import Int8, Int16, UInt8, UInt16, UInt32
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import VirtualOperation
from ledgerd.protocol.operations.roles import (
    BetId,
    CommitId,
    MarketId,
    Meaning,
    PaidRecipient,
    Payee,
    Percent,
    PositionId,
    Recipient,
    Role,
    Touched,
)


class PmBatchSettle(VirtualOperation, frozen=True, tag=84):
    """The bets that a market had gathered in an epoch were carried out."""

    market_id: MarketId
    epoch: UInt32
    settled_bets: UInt32


class PmCommitForfeit(VirtualOperation, frozen=True, tag=85):
    """A hidden bet was not shown in time: a part of its tokens is gone."""

    account: Payee
    commit_id: CommitId
    market_id: MarketId
    penalty: Asset
    refund: Annotated[Asset, Meaning.PAID]


class PmAutoPayout(VirtualOperation, frozen=True, tag=86):
    """A market is settled. The account is the oracle, the payout all that was bet; nothing is paid by it."""

    account: Recipient
    market_id: MarketId
    bet_id: BetId
    payout: Asset


class PmDisputeFinalize(VirtualOperation, frozen=True, tag=87):
    """The votes on a dispute were counted."""

    oracle: Touched
    market_id: MarketId
    winning_outcome: Annotated[Int16, missing(-1)]
    oracle_penalty: Asset


class PmDisputeAutoClose(VirtualOperation, frozen=True, tag=88):
    """A dispute that nobody decided in time was closed."""

    oracle: Touched
    market_id: MarketId
    oracle_penalty: Asset


class PmOracleMissedPenalty(VirtualOperation, frozen=True, tag=89):
    """An oracle that did not say in time how a market ended lost a part of its insurance."""

    oracle: Touched
    market_id: MarketId
    slashed: Asset


class PmLazyRecall(VirtualOperation, frozen=True, tag=90):
    """The lazy pool took tokens out of a market."""

    market_id: MarketId
    recalled: Asset


class PmLeverageLiquidate(VirtualOperation, frozen=True, tag=94):
    """A position with a loan was closed before its market ended; the reason is a number (spec 07, section 6)."""

    account: Payee
    position_id: PositionId
    market_id: MarketId
    cancel_value: Asset
    pool_received: Asset
    bettor_received: Annotated[Asset, Meaning.PAID]
    reason: UInt8


class PmLeverageResolve(VirtualOperation, frozen=True, tag=95):
    """A position with a loan was closed as its market was settled."""

    account: Payee
    position_id: PositionId
    market_id: MarketId
    won: bool
    pool_received: Asset
    bettor_received: Annotated[Asset, Meaning.PAID]
    outcome_index: Int16
    leverage: UInt16


class PmMarketAccepted(VirtualOperation, frozen=True, tag=96):
    """An oracle took a market on, so that it is open for bets."""

    oracle: Annotated[AccountName, Role.ACTOR]
    creator: Touched
    market_id: MarketId
    oracle_fee_percent: Percent
    oracle_fixed_fee: Asset
    self_oracle: bool


class PmPayout(VirtualOperation, frozen=True, tag=97):
    """What a bet brought when its market was settled: nothing, if it lost."""

    account: PaidRecipient
    market_id: MarketId
    bet_id: BetId
    side: Annotated[Int8, missing(-1)]
    outcome_index: Annotated[Int16, missing(-1)]
    amount: Asset
    payout: Annotated[Asset, Meaning.AMOUNT]


class PmBanExpired(VirtualOperation, frozen=True, tag=100):
    """A ban of an oracle, or of a creator, is over."""

    account: Touched
    oracle: bool
    creator: bool


class PmMarketExpired(VirtualOperation, frozen=True, tag=101):
    """A market that its oracle did not take on in time was closed."""

    oracle: Touched
    creator: Touched
    market_id: MarketId
    refunded_liquidity: Asset


class PmDisputeOpened(VirtualOperation, frozen=True, tag=102):
    """A dispute began."""

    oracle: Touched
    disputer: Annotated[AccountName, Role.ACTOR]
    market_id: MarketId
    proposed_outcome: Annotated[Int16, missing(-1)]


class PmEarlyExitClaimPaid(VirtualOperation, frozen=True, tag=103):
    """Who left a market early got more of what that was worth, once the market was settled."""

    account: PaidRecipient
    market_id: MarketId
    kind: UInt8
    outcome_index: UInt8
    claimed: Asset
    paid: Annotated[Asset, Meaning.AMOUNT]


class PmLpPayout(VirtualOperation, frozen=True, tag=104):
    """What liquidity brought its provider."""

    account: Annotated[AccountName, Role.TOUCHED_IF_NAMED]
    market_id: MarketId
    principal: Asset
    income: Asset
    charge: Asset
