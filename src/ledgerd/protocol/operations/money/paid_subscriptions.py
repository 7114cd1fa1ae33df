"""Operations of paid subscriptions: an offer, and those who take it (spec 01, section 7.7)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import missing
from ledgerd.codec.types.numbers import UInt16
from ledgerd.protocol.constants import PAID_SUBSCRIPTION_MAX_LEVEL, PAID_SUBSCRIPTION_MAX_PERIOD_DAYS
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Fee, Operation
from ledgerd.protocol.operations.roles import ActiveSigner, Recipient, Role, Url, words
from ledgerd.protocol.types.assets import SHARES_SYMBOL, Asset
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.texts import MAX_MEMO_LENGTH, byte_length, is_utf8


class SetPaidSubscription(Operation, frozen=True, tag=50):
    """Offers a subscription of some levels at a price per level and period."""

    EN = words(
        "Subscription offer",
        "{account} offers a subscription of {levels} levels, {amount} each for {period} days",
        no_levels="{account} ended its subscription offer",
    )
    RU = words(
        "Предложение подписки",
        "{account} предлагает подписку: уровней {levels}, {amount} за уровень на {period} дн.",
        no_levels="{account} закрывает свою подписку",
    )
    FEE = Fee("create_paid_subscription_fee", is_once=True)

    account: ActiveSigner
    url: Url
    levels: UInt16
    amount: Asset
    period: UInt16

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require(byte_length(self.url) < MAX_MEMO_LENGTH, "url.size() < CHAIN_MAX_MEMO_LENGTH: URL is too large")
        require(is_utf8(self.url), "fc::is_utf8(url): URL is not UTF8")
        require(self.levels <= PAID_SUBSCRIPTION_MAX_LEVEL, "levels <= PAID_SUBSCRIPTION_MAX_LEVEL: ")
        _require_price(self.amount, self.period)


class PaidSubscribe(Operation, frozen=True, tag=51):
    """Takes an offer at some level."""

    EN = words("Subscription", "{subscriber} subscribed to {account} at level {level} for {amount}")
    RU = words("Подписка", "{subscriber} подписывается на {account}: уровень {level}, {amount}")

    subscriber: Annotated[ActiveSigner, Role.SENDER]
    account: Annotated[Recipient, Role.ABSENT]
    level: UInt16
    amount: Asset
    period: UInt16
    auto_renewal: Annotated[bool, missing(True)]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.subscriber, self.account)
        require(self.level <= PAID_SUBSCRIPTION_MAX_LEVEL, "level <= PAID_SUBSCRIPTION_MAX_LEVEL: ")
        _require_price(self.amount, self.period)


def _require_price(amount: Asset, period: int) -> None:
    """Some amount a period, of any symbol but SHARES."""
    require(amount.symbol != SHARES_SYMBOL, "amount.symbol != SHARES_SYMBOL: Amount of SHARES is not allowed.")
    require(amount.amount > 0, "amount.amount > 0: Cannot set subscription with negative or zero amount")
    require(period > 0, "period > 0: Cannot set negative or zero period")
    require(period <= PAID_SUBSCRIPTION_MAX_PERIOD_DAYS, "period <= PAID_SUBSCRIPTION_MAX_PERIOD: ")
