"""Virtual operations: actions of the chain itself, recorded for the history (spec 01, section 7.8)."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from ledgerd.codec.types.numbers import UInt16, UInt32, UInt64
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
    words,
)
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time


class AuthorReward(VirtualOperation, frozen=True, tag=26):
    """What a post earned its author."""

    EN = words("Author reward", "{author} earned {token_payout} and {vesting_payout} for “{permlink}”")
    RU = words("Награда автору", "{author} получает {token_payout} и {vesting_payout} за «{permlink}»")

    author: Recipient
    permlink: str
    token_payout: Asset
    vesting_payout: Asset


class CurationReward(VirtualOperation, frozen=True, tag=27):
    """What a vote for a post earned the voter."""

    EN = words("Curation reward", "{curator} earned {reward} for a vote on a post of {content_author}")
    RU = words("Кураторская награда", "{curator} получает {reward} за голос по записи {content_author}")

    curator: Recipient
    reward: Asset
    content_author: AccountName
    content_permlink: str


class ContentReward(VirtualOperation, frozen=True, tag=28):
    """What a post earned in all."""

    EN = words("Post reward", "A post of {author} earned {payout} in all")
    RU = words("Награда записи", "Запись {author} всего заработала {payout}")

    author: AccountName
    permlink: str
    payout: Asset


class FillVestingWithdraw(VirtualOperation, frozen=True, tag=29):
    """One part of a withdrawal of shares, paid to the account or to one of its routes."""

    EN = words("Withdrawal paid", "{withdrawn} of {from_account} became {deposited} for {to_account}")
    RU = words("Выплата вывода доли", "{withdrawn} аккаунта {from_account} превращены в {deposited} для {to_account}")

    from_account: Annotated[Sender, Role.ACTOR]
    to_account: Annotated[PaidRecipient, Role.TAKER]
    withdrawn: Asset
    deposited: Annotated[Asset, Meaning.AMOUNT]


class ShutdownValidator(VirtualOperation, frozen=True, tag=30):
    """A validator that missed too many blocks lost its signing key."""

    EN = words("Validator shut down", "The validator {owner} missed too many blocks and lost its signing key")
    RU = words("Остановка валидатора", "Валидатор {owner} пропустил слишком много блоков и потерял ключ подписи")

    owner: Touched


class Hardfork(VirtualOperation, frozen=True, tag=31):
    """New rules came into force."""

    EN = words("Hardfork", "Hardfork {hardfork_id} came into force")
    RU = words("Хардфорк", "Вступил в силу хардфорк {hardfork_id}")

    hardfork_id: UInt32


class ContentPayoutUpdate(VirtualOperation, frozen=True, tag=32):
    """A post was paid out."""

    EN = words("Post paid out", "A post of {author} was paid out")
    RU = words("Выплата по записи", "По записи {author} сделана выплата")

    author: AccountName
    permlink: str


class ContentBenefactorReward(VirtualOperation, frozen=True, tag=33):
    """What a post earned one of its beneficiaries."""

    EN = words("Beneficiary reward", "{benefactor} earned {reward} as beneficiary of a post of {author}")
    RU = words("Бенефициару записи", "{benefactor} получает {reward} как бенефициар записи {author}")

    benefactor: Recipient
    author: Annotated[Sender, Role.ACTOR]
    permlink: str
    reward: Asset


class ReturnVestingDelegation(VirtualOperation, frozen=True, tag=34):
    """Shares that were lent came back."""

    EN = words("Delegation returned", "Delegated {vesting_shares} came back to {account}")
    RU = words("Возврат делегирования", "Делегированные {vesting_shares} вернулись к {account}")

    account: Recipient
    vesting_shares: Asset


class CommitteeCancelRequest(VirtualOperation, frozen=True, tag=38):
    """A request to the committee ended without a payment: too few voted, or not for it."""

    EN = words("Request ended", "Committee request {request_id} ended without a payment: too few votes")
    RU = words("Заявка завершена", "Заявка комитета {request_id} завершилась без выплаты: не хватило голосов")

    request_id: RequestId


class CommitteeApproveRequest(VirtualOperation, frozen=True, tag=39):
    """A request to the committee was approved."""

    EN = words("Request approved", "Committee request {request_id} was approved")
    RU = words("Заявка одобрена", "Заявка комитета {request_id} одобрена")

    request_id: RequestId


class CommitteePayoutRequest(VirtualOperation, frozen=True, tag=40):
    """A request to the committee was paid in full."""

    EN = words("Request paid in full", "Committee request {request_id} was paid in full")
    RU = words("Заявка выплачена", "Заявка комитета {request_id} выплачена полностью")

    request_id: RequestId


class CommitteePayRequest(VirtualOperation, frozen=True, tag=41):
    """One payment of the committee to a worker."""

    EN = words("Committee payment", "The committee paid {tokens} to {worker} for request {request_id}")
    RU = words("Выплата комитета", "Комитет выплачивает {tokens} аккаунту {worker} по заявке {request_id}")

    worker: PaidRecipient
    request_id: RequestId
    tokens: Asset


class ValidatorReward(VirtualOperation, frozen=True, tag=42):
    """What a block earned its validator."""

    EN = words("Block reward", "The validator {validator} earned {shares}")
    RU = words("Награда за блок", "Валидатор {validator} получает {shares}")

    validator: PaidRecipient
    shares: Asset


class ReceiveAward(VirtualOperation, frozen=True, tag=48):
    """What an award gave its receiver."""

    EN = words("Award received", "{receiver} received an award of {shares} from {initiator}")
    RU = words("Получение награды", "{receiver} получает награду {shares} от {initiator}")

    initiator: Annotated[Sender, Role.ABSENT]
    receiver: PaidRecipient
    custom_sequence: UInt64
    memo: Memo
    shares: Asset


class BenefactorAward(VirtualOperation, frozen=True, tag=49):
    """What an award gave one of its beneficiaries."""

    EN = words(
        "Beneficiary award", "{benefactor} received {shares} as beneficiary of an award from {initiator} to {receiver}"
    )
    RU = words(
        "Награда бенефициару", "{benefactor} получает {shares} как бенефициар награды от {initiator} для {receiver}"
    )

    initiator: Annotated[Sender, Role.ABSENT]
    benefactor: PaidRecipient
    receiver: AccountName
    custom_sequence: UInt64
    memo: Memo
    shares: Asset


class PaidSubscriptionAction(VirtualOperation, frozen=True, tag=52):
    """A subscription was paid for; how long it lasts in seconds is not told (spec 01, section 7.8)."""

    EN = words("Subscription payment", "{subscriber} paid {summary_amount} to {account} for a subscription")
    RU = words("Оплата подписки", "{subscriber} платит {summary_amount} аккаунту {account} за подписку")

    subscriber: Annotated[Sender, Role.ACTOR, Role.PAYER]
    account: PaidRecipient
    level: UInt16
    amount: Asset
    period: UInt16
    summary_amount: Annotated[Asset, Meaning.PAID]


class CancelPaidSubscription(VirtualOperation, frozen=True, tag=53):
    """A subscription ended."""

    EN = words("Subscription ended", "The subscription of {subscriber} to {account} ended")
    RU = words("Конец подписки", "Подписка {subscriber} на {account} закончилась")

    subscriber: Touched
    account: Touched


class AccountSale(VirtualOperation, frozen=True, tag=57):
    """An account, or a subaccount, was sold."""

    EN = words("Account sold", "{buyer} bought the account {account} from {seller} for {price}")
    RU = words("Продажа аккаунта", "{buyer} покупает аккаунт {account} у {seller} за {price}")

    account: Touched
    price: Asset
    buyer: Annotated[Sender, Role.ACTOR, Role.PAYER]
    seller: PaidRecipient


class ExpireEscrowRatification(VirtualOperation, frozen=True, tag=59):
    """An escrow that was not agreed to in time was returned."""

    EN = words("Escrow expired", "Escrow {escrow_id} was not agreed to in time: {token_amount} returned to {from}")
    RU = words("Эскроу истёк", "Эскроу {escrow_id} не подтверждён вовремя: {token_amount} возвращены {from}")

    sender: Annotated[Sender, Role.PAYEE] = field(name="from")
    recipient: Recipient = field(name="to")
    agent: Touched
    escrow_id: Annotated[UInt32, IdOf.ESCROW]
    token_amount: Asset
    fee: Asset
    ratification_deadline: Time


class Bid(VirtualOperation, frozen=True, tag=62):
    """A bid for an account was placed."""

    EN = words("Bid for an account", "{bidder} bid {bid} for the account {account}")
    RU = words("Ставка за аккаунт", "{bidder} предлагает {bid} за аккаунт {account}")

    account: Touched
    bidder: Annotated[AccountName, Role.ACTOR, Role.PAYER]
    bid: Asset


class Outbid(VirtualOperation, frozen=True, tag=63):
    """A bid for an account was returned, for a higher one came."""

    EN = words("Outbid", "The bid of {bidder} for the account {account}, {bid}, was outbid and returned")
    RU = words("Ставка перебита", "Ставка {bidder} за аккаунт {account}, {bid}, перебита и возвращена")

    account: Touched
    bidder: Payee
    bid: Asset


class StakeholderReward(VirtualOperation, frozen=True, tag=65):
    """What a validator shared with one that voted for it."""

    EN = words("Voter's reward", "{stakeholder} received {shares} as a voter of the validator {validator}")
    RU = words("Награда избирателю", "{stakeholder} получает {shares} как избиратель валидатора {validator}")

    validator: Annotated[Sender, Role.ACTOR]
    stakeholder: PaidRecipient
    shares: Asset
