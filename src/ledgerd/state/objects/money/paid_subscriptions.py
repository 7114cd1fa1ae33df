"""Paid subscriptions: what creators offer, and who subscribed (spec 02, section 3.19)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import ShareAmount, UInt16
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import NAME_TEXT, NAME_WORD, TIME
from ledgerd.state.tables.tables import Entity, Table, ordered, unique


class PaidSubscription(Entity):
    """A creator's offer: so many levels, so much for each, for so many days."""

    creator: AccountName = NO_NAME
    levels: UInt16 = 0
    amount: ShareAmount = 0
    period: UInt16 = 0
    url: str = ""
    update_time: Time = 0


class PaidSubscribe(Entity):
    """An account's subscription, at the terms it agreed to."""

    subscriber: AccountName = NO_NAME
    creator: AccountName = NO_NAME
    level: UInt16 = 0
    amount: ShareAmount = 0
    period: UInt16 = 0
    start_time: Time = 0
    next_time: Time = 0
    end_time: Time = 0
    active: bool = False
    auto_renewal: bool = False


PAID_SUBSCRIPTIONS = Table(PaidSubscription, number=28)
SUBSCRIPTION_BY_CREATOR = unique(PAID_SUBSCRIPTIONS, "by_creator", lambda offer: (offer.creator,), (NAME_WORD,))

PAID_SUBSCRIBES = Table(PaidSubscribe, number=29)
SUBSCRIBE_BY_SUBSCRIBER = ordered(
    PAID_SUBSCRIBES, "by_subscriber", lambda subscribe: (subscribe.subscriber,), (NAME_WORD,)
)
SUBSCRIBE_BY_CREATOR = ordered(PAID_SUBSCRIBES, "by_creator", lambda subscribe: (subscribe.creator,), (NAME_WORD,))
SUBSCRIBE_BY_NEXT_TIME = ordered(PAID_SUBSCRIBES, "by_next_time", lambda subscribe: (subscribe.next_time,), (TIME,))
SUBSCRIBE_BY_ACCOUNTS = unique(
    PAID_SUBSCRIBES,
    "by_subscribe",
    lambda subscribe: (subscribe.subscriber, subscribe.creator),
    (NAME_TEXT, NAME_TEXT),
)
