"""Renewal or end of paid subscriptions whose period is over (spec 03, section 15.31)."""

from __future__ import annotations

from ledgerd.basics.durations import DAY
from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.assets import fits_int64, tokens
from ledgerd.protocol.operations.virtual import CancelPaidSubscription, PaidSubscriptionAction
from ledgerd.protocol.times import LATEST
from ledgerd.state.objects.paid_subscriptions import (
    SUBSCRIBE_BY_NEXT_TIME,
    SUBSCRIPTION_BY_CREATOR,
    PaidSubscribe,
    PaidSubscription,
)


def renew_subscriptions(ledger: Ledger, _progress: BlockContext) -> None:
    """One a block: the walk goes on from the subscription's new place, behind all others that are due.

    Those wait for the blocks to come (spec 03, section 15.31, quirk).
    """
    subscribe = ledger.store.first(SUBSCRIBE_BY_NEXT_TIME, upper=(ledger.now,))
    while subscribe is not None and subscribe.next_time <= ledger.now:
        if subscribe.active:
            _renew_or_end(ledger, subscribe)
        subscribe = ledger.store.following(SUBSCRIBE_BY_NEXT_TIME, subscribe)


def _renew_or_end(ledger: Ledger, subscribe: PaidSubscribe) -> None:
    """Renew at the offer's terms of now, unless they are worse for the subscriber, who may also lack the tokens."""
    offer = ledger.store.lookup(SUBSCRIPTION_BY_CREATOR, subscribe.creator)
    if offer is None or not subscribe.auto_renewal or offer.period < subscribe.period:
        _end(ledger, subscribe)
        return
    level = min(subscribe.level, offer.levels)
    price = fits_int64(offer.amount * level)
    is_no_dearer = fits_int64(subscribe.amount * subscribe.level) >= price
    if is_no_dearer and ledger.account(subscribe.subscriber).balance >= price:
        _renew(ledger, subscribe, offer, level, price)
    else:
        _end(ledger, subscribe)


def _renew(ledger: Ledger, subscribe: PaidSubscribe, offer: PaidSubscription, level: int, price: int) -> None:
    """The period that the subscriber agreed to stays on record, whatever it is now (the same quirk)."""
    adjust_balance(ledger, ledger.account(subscribe.subscriber), -price)
    adjust_balance(ledger, ledger.account(subscribe.creator), price)
    with ledger.editing(subscribe):
        subscribe.amount = offer.amount
        subscribe.level = level
        subscribe.start_time = ledger.now
        subscribe.next_time = uint32(ledger.now + offer.period * DAY)
        subscribe.end_time = LATEST
    ledger.emit(
        PaidSubscriptionAction(
            subscribe.subscriber, subscribe.creator, level, tokens(offer.amount), offer.period, tokens(price)
        )
    )


def _end(ledger: Ledger, subscribe: PaidSubscribe) -> None:
    with ledger.editing(subscribe):
        subscribe.end_time = subscribe.next_time
        subscribe.next_time = LATEST
        subscribe.active = subscribe.auto_renewal = False
    ledger.emit(CancelPaidSubscription(subscribe.subscriber, subscribe.creator))
