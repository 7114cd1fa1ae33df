"""`paid_subscription_api`: offers of creators, and their subscribers (spec 05, section 17)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import msgspec

from ledgerd.codec.types.numbers import ShareAmount, UInt16, UInt32
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.shared.kinds import Names, existing, record_of, require_limit
from ledgerd.rpc.call.counts import exactly, from_to
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.money import paid_subscriptions

PAID_SUBSCRIPTION_API = Api("paid_subscription_api", "Subscriptions that creators offer, and those who pay for them.")

MOST_OFFERS = 1000
"""Offers of one answer."""


class PaidSubscriptionOptions(msgspec.Struct, frozen=True):
    """An offer with its subscribers, and the sum that they pay."""

    creator: AccountName
    url: str
    levels: UInt16
    amount: ShareAmount
    period: UInt16
    update_time: Time
    active_subscribers: Names
    active_subscribers_count: UInt32
    active_subscribers_summary_amount: ShareAmount
    active_subscribers_with_auto_renewal: Names
    active_subscribers_with_auto_renewal_count: UInt32
    active_subscribers_with_auto_renewal_summary_amount: ShareAmount


class PaidSubscriptionStatus(msgspec.Struct, frozen=True):
    """An account's subscription, with the terms that it agreed to."""

    subscriber: AccountName
    creator: AccountName
    level: UInt16
    amount: ShareAmount
    period: UInt16
    start_time: Time
    next_time: Time
    end_time: Time
    active: bool
    auto_renewal: bool


@PAID_SUBSCRIPTION_API.method(args=exactly(2, "_S"), examples=[[0, 10]])
def get_paid_subscriptions(
    view: ApiView, offset: UInt32, limit: UInt32
) -> tuple[paid_subscriptions.PaidSubscription, ...]:
    """Offers, in the word order of their creators' names."""
    require_limit(limit, MOST_OFFERS)
    return tuple(islice(view.state.scan(paid_subscriptions.SUBSCRIPTION_BY_CREATOR), offset, offset + limit))


@PAID_SUBSCRIPTION_API.method(args=from_to(1, 1), examples=[["alice"]])
def get_paid_subscription_options(view: ApiView, creator: AccountName) -> PaidSubscriptionOptions:
    """A creator's offer with its subscribers."""
    found = view.state.lookup(paid_subscriptions.SUBSCRIPTION_BY_CREATOR, creator)
    offer = existing(found, "itr != idx.end(): Paid subscription not found.")
    subscribes = view.state.under(paid_subscriptions.SUBSCRIBE_BY_CREATOR, creator)
    active = [subscribe for subscribe in subscribes if subscribe.active]
    renewed = [subscribe for subscribe in active if subscribe.auto_renewal]
    return PaidSubscriptionOptions(
        offer.creator,
        offer.url,
        offer.levels,
        offer.amount,
        offer.period,
        offer.update_time,
        *_summary(active),
        *_summary(renewed),
    )


def _summary(subscribes: Sequence[paid_subscriptions.PaidSubscribe]) -> tuple[Names, int, int]:
    paid = sum(subscribe.amount * subscribe.level for subscribe in subscribes)
    return tuple(subscribe.subscriber for subscribe in subscribes), len(subscribes), paid


@PAID_SUBSCRIPTION_API.method(args=from_to(1, 2), examples=[["bob", "alice"]])
def get_paid_subscription_status(
    view: ApiView, subscriber: AccountName, creator: AccountName
) -> PaidSubscriptionStatus:
    """An account's subscription to a creator. Both are required, though the check of the count accepts one argument."""
    subscribe = view.state.lookup(paid_subscriptions.SUBSCRIBE_BY_ACCOUNTS, subscriber, creator)
    return record_of(PaidSubscriptionStatus, existing(subscribe, "itr != idx.end(): Paid subscribe not found."))


@PAID_SUBSCRIPTION_API.method(args=from_to(1, 1), examples=[["bob"]])
def get_active_paid_subscriptions(view: ApiView, subscriber: AccountName) -> Names:
    """The creators that an account subscribes to now."""
    return _creators(view, subscriber, is_active=True)


@PAID_SUBSCRIPTION_API.method(args=from_to(1, 1), examples=[["bob"]])
def get_inactive_paid_subscriptions(view: ApiView, subscriber: AccountName) -> Names:
    """The creators that an account subscribed to before."""
    return _creators(view, subscriber, is_active=False)


def _creators(view: ApiView, subscriber: AccountName, *, is_active: bool) -> Names:
    subscribes = view.state.under(paid_subscriptions.SUBSCRIBE_BY_SUBSCRIBER, subscriber)
    return tuple(subscribe.creator for subscribe in subscribes if subscribe.active == is_active)
