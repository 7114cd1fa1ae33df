"""Virtual operations: actions of the chain itself, recorded for the history (spec 01, section 7.8)."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from ledgerd.codec.numbers import UInt16, UInt32, UInt64
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import VirtualOperation
from ledgerd.protocol.operations.roles import (
    IdOf,
    Meaning,
    Memo,
    PaidRecipient,
    Payee,
    Recipient,
    RequestId,
    Role,
    Sender,
    Touched,
)
from ledgerd.protocol.times import Time


class AuthorReward(VirtualOperation, frozen=True, tag=26):
    """What a post earned its author."""

    author: Recipient
    permlink: str
    token_payout: Asset
    vesting_payout: Asset


class CurationReward(VirtualOperation, frozen=True, tag=27):
    """What a vote for a post earned the voter."""

    curator: Recipient
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

    from_account: Annotated[Sender, Role.ACTOR]
    to_account: Annotated[PaidRecipient, Role.TAKER]
    withdrawn: Asset
    deposited: Annotated[Asset, Meaning.AMOUNT]


class ShutdownValidator(VirtualOperation, frozen=True, tag=30):
    """A validator that missed too many blocks lost its signing key."""

    owner: Touched


class Hardfork(VirtualOperation, frozen=True, tag=31):
    """New rules came into force."""

    hardfork_id: UInt32


class ContentPayoutUpdate(VirtualOperation, frozen=True, tag=32):
    """A post was paid out."""

    author: AccountName
    permlink: str


class ContentBenefactorReward(VirtualOperation, frozen=True, tag=33):
    """What a post earned one of its beneficiaries."""

    benefactor: Recipient
    author: Annotated[Sender, Role.ACTOR]
    permlink: str
    reward: Asset


class ReturnVestingDelegation(VirtualOperation, frozen=True, tag=34):
    """Shares that were lent came back."""

    account: Recipient
    vesting_shares: Asset


class CommitteeCancelRequest(VirtualOperation, frozen=True, tag=38):
    """A request to the committee ended without a payment: too few voted, or not for it."""

    request_id: RequestId


class CommitteeApproveRequest(VirtualOperation, frozen=True, tag=39):
    """A request to the committee was approved."""

    request_id: RequestId


class CommitteePayoutRequest(VirtualOperation, frozen=True, tag=40):
    """A request to the committee was paid in full."""

    request_id: RequestId


class CommitteePayRequest(VirtualOperation, frozen=True, tag=41):
    """One payment of the committee to a worker."""

    worker: PaidRecipient
    request_id: RequestId
    tokens: Asset


class ValidatorReward(VirtualOperation, frozen=True, tag=42):
    """What a block earned its validator."""

    validator: PaidRecipient
    shares: Asset


class ReceiveAward(VirtualOperation, frozen=True, tag=48):
    """What an award gave its receiver."""

    initiator: Annotated[Sender, Role.ABSENT]
    receiver: PaidRecipient
    custom_sequence: UInt64
    memo: Memo
    shares: Asset


class BenefactorAward(VirtualOperation, frozen=True, tag=49):
    """What an award gave one of its beneficiaries."""

    initiator: Annotated[Sender, Role.ABSENT]
    benefactor: PaidRecipient
    receiver: AccountName
    custom_sequence: UInt64
    memo: Memo
    shares: Asset


class PaidSubscriptionAction(VirtualOperation, frozen=True, tag=52):
    """A subscription was paid for; how long it lasts in seconds is not told (spec 01, section 7.8)."""

    subscriber: Annotated[Sender, Role.ACTOR, Role.PAYER]
    account: PaidRecipient
    level: UInt16
    amount: Asset
    period: UInt16
    summary_amount: Annotated[Asset, Meaning.PAID]


class CancelPaidSubscription(VirtualOperation, frozen=True, tag=53):
    """A subscription ended."""

    subscriber: Touched
    account: Touched


class AccountSale(VirtualOperation, frozen=True, tag=57):
    """An account, or a subaccount, was sold."""

    account: Touched
    price: Asset
    buyer: Annotated[Sender, Role.ACTOR, Role.PAYER]
    seller: PaidRecipient


class ExpireEscrowRatification(VirtualOperation, frozen=True, tag=59):
    """An escrow that was not agreed to in time was returned."""

    sender: Annotated[Sender, Role.PAYEE] = field(name="from")
    recipient: Recipient = field(name="to")
    agent: Touched
    escrow_id: Annotated[UInt32, IdOf.ESCROW]
    token_amount: Asset
    fee: Asset
    ratification_deadline: Time


class Bid(VirtualOperation, frozen=True, tag=62):
    """A bid for an account was placed."""

    account: Touched
    bidder: Annotated[AccountName, Role.ACTOR, Role.PAYER]
    bid: Asset


class Outbid(VirtualOperation, frozen=True, tag=63):
    """A bid for an account was returned, for a higher one came."""

    account: Touched
    bidder: Payee
    bid: Asset


class StakeholderReward(VirtualOperation, frozen=True, tag=65):
    """What a validator shared with one that voted for it."""

    validator: Annotated[Sender, Role.ACTOR]
    stakeholder: PaidRecipient
    shares: Asset
