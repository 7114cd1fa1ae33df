"""Virtual operations: actions of the chain itself, recorded for the history (spec 01, section 7.8)."""

from __future__ import annotations

from msgspec import field

from ledgerd.codec.numbers import UInt16, UInt32, UInt64
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import Operation, VirtualOperation
from ledgerd.protocol.times import Time


class AuthorReward(VirtualOperation, frozen=True, tag=26):
    """What a post earned its author."""

    author: AccountName
    permlink: str
    token_payout: Asset
    vesting_payout: Asset


class CurationReward(VirtualOperation, frozen=True, tag=27):
    """What a vote for a post earned the voter."""

    curator: AccountName
    reward: Asset
    content_author: AccountName
    content_permlink: str


class ContentReward(VirtualOperation, frozen=True, tag=28):
    """What a post earned in all."""

    author: AccountName
    permlink: str
    payout: Asset


class FillVestingWithdraw(VirtualOperation, frozen=True, tag=29):
    """One part of a withdrawal of shares, paid to the account or to one of its routes."""

    from_account: AccountName
    to_account: AccountName
    withdrawn: Asset
    deposited: Asset


class ShutdownValidator(VirtualOperation, frozen=True, tag=30):
    """A validator that missed too many blocks lost its signing key."""

    owner: AccountName


class Hardfork(VirtualOperation, frozen=True, tag=31):
    """New rules came into force."""

    hardfork_id: UInt32


class ContentPayoutUpdate(VirtualOperation, frozen=True, tag=32):
    """A post was paid out."""

    author: AccountName
    permlink: str


class ContentBenefactorReward(VirtualOperation, frozen=True, tag=33):
    """What a post earned one of its beneficiaries."""

    benefactor: AccountName
    author: AccountName
    permlink: str
    reward: Asset


class ReturnVestingDelegation(VirtualOperation, frozen=True, tag=34):
    """Shares that were lent came back."""

    account: AccountName
    vesting_shares: Asset


class CommitteeCancelRequest(VirtualOperation, frozen=True, tag=38):
    """A request to the committee ended without a payment: too few voted, or not for it."""

    request_id: UInt32


class CommitteeApproveRequest(VirtualOperation, frozen=True, tag=39):
    """A request to the committee was approved."""

    request_id: UInt32


class CommitteePayoutRequest(VirtualOperation, frozen=True, tag=40):
    """A request to the committee was paid in full."""

    request_id: UInt32


class CommitteePayRequest(VirtualOperation, frozen=True, tag=41):
    """One payment of the committee to a worker."""

    worker: AccountName
    request_id: UInt32
    tokens: Asset


class ValidatorReward(VirtualOperation, frozen=True, tag=42):
    """What a block earned its validator."""

    validator: AccountName
    shares: Asset


class ReceiveAward(VirtualOperation, frozen=True, tag=48):
    """What an award gave its receiver."""

    initiator: AccountName
    receiver: AccountName
    custom_sequence: UInt64
    memo: str
    shares: Asset


class BenefactorAward(VirtualOperation, frozen=True, tag=49):
    """What an award gave one of its beneficiaries."""

    initiator: AccountName
    benefactor: AccountName
    receiver: AccountName
    custom_sequence: UInt64
    memo: str
    shares: Asset


class PaidSubscriptionAction(VirtualOperation, frozen=True, tag=52):
    """A subscription was paid for; how long it lasts in seconds is not told (spec 01, section 7.8)."""

    subscriber: AccountName
    account: AccountName
    level: UInt16
    amount: Asset
    period: UInt16
    summary_amount: Asset


class CancelPaidSubscription(VirtualOperation, frozen=True, tag=53):
    """A subscription ended."""

    subscriber: AccountName
    account: AccountName


class AccountSale(VirtualOperation, frozen=True, tag=57):
    """An account, or a subaccount, was sold."""

    account: AccountName
    price: Asset
    buyer: AccountName
    seller: AccountName


class ExpireEscrowRatification(VirtualOperation, frozen=True, tag=59):
    """An escrow that was not agreed to in time was returned."""

    sender: AccountName = field(name="from")
    recipient: AccountName = field(name="to")
    agent: AccountName
    escrow_id: UInt32
    token_amount: Asset
    fee: Asset
    ratification_deadline: Time


class Bid(VirtualOperation, frozen=True, tag=62):
    """A bid for an account was placed."""

    account: AccountName
    bidder: AccountName
    bid: Asset


class Outbid(VirtualOperation, frozen=True, tag=63):
    """A bid for an account was returned, for a higher one came."""

    account: AccountName
    bidder: AccountName
    bid: Asset


class StakeholderReward(VirtualOperation, frozen=True, tag=65):
    """What a validator shared with one that voted for it."""

    validator: AccountName
    stakeholder: AccountName
    shares: Asset


OPERATIONS: tuple[type[Operation], ...] = (
    AuthorReward,
    CurationReward,
    ContentReward,
    FillVestingWithdraw,
    ShutdownValidator,
    Hardfork,
    ContentPayoutUpdate,
    ContentBenefactorReward,
    ReturnVestingDelegation,
    CommitteeCancelRequest,
    CommitteeApproveRequest,
    CommitteePayoutRequest,
    CommitteePayRequest,
    ValidatorReward,
    ReceiveAward,
    BenefactorAward,
    PaidSubscriptionAction,
    CancelPaidSubscription,
    AccountSale,
    ExpireEscrowRatification,
    Bid,
    Outbid,
    StakeholderReward,
)
