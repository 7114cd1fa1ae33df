"""The rules of paid subscriptions: offers, and subscribing to them (spec 02, section 13)."""

from __future__ import annotations

from ledgerd.basics.durations import DAY
from ledgerd.chain.ledger.arithmetic import fits_uint64, int64, truncated, uint32, uint128
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance, pay_fee
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.money.paid_subscriptions import PaidSubscribe, SetPaidSubscription
from ledgerd.protocol.operations.virtual import PaidSubscriptionAction
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.money import paid_subscriptions
from ledgerd.state.objects.money.paid_subscriptions import PaidSubscribe as Subscribe

MICROSECONDS = 1_000_000


@evaluates(SetPaidSubscription)
def set_paid_subscription(ledger: Ledger, operation: SetPaidSubscription) -> None:
    """Change an offer; the first time, make it for a fee. Without levels nobody new can subscribe."""
    require(
        ledger.hardfork(5),
        "_db.has_hardfork(CHAIN_HARDFORK_5): set_paid_subscription_evaluator not enabled until HF 5",
    )
    account = ledger.account(operation.account)
    offer = ledger.store.lookup(paid_subscriptions.SUBSCRIPTION_BY_CREATOR, operation.account)
    if offer is not None:
        with ledger.editing(offer):
            _set_terms(ledger, offer, operation)
        return
    if ledger.hardfork(9):
        pay_fee(ledger, account, "create_paid_subscription_fee", "create a paid subscription")
    offer = paid_subscriptions.PaidSubscription(creator=operation.account)
    _set_terms(ledger, offer, operation)
    ledger.store.create(paid_subscriptions.PAID_SUBSCRIPTIONS, offer)


def _set_terms(ledger: Ledger, offer: paid_subscriptions.PaidSubscription, operation: SetPaidSubscription) -> None:
    """The symbol of the amount is not looked at (spec 02, section 13.1)."""
    offer.url = operation.url
    offer.levels = operation.levels
    offer.amount = operation.amount.amount
    offer.period = operation.period
    offer.update_time = ledger.now


@evaluates(PaidSubscribe)
def paid_subscribe(ledger: Ledger, operation: PaidSubscribe) -> None:
    """Subscribe at the terms of the offer, or change what one has to them."""
    require(ledger.hardfork(5), "_db.has_hardfork(CHAIN_HARDFORK_5): paid_subscribe_evaluator not enabled until HF 5")
    require(
        operation.level > 0,
        "o.level > 0: Paid subscibe can not be turn off manually, please wait subscribe end time or turn off "
        "auto_renewal.",
    )
    ledger.account(operation.subscriber)
    ledger.account(operation.account)
    _require_terms(ledger, operation)
    cost = fits_int64(operation.amount.amount * operation.level)
    subscribe = ledger.store.lookup(paid_subscriptions.SUBSCRIBE_BY_ACCOUNTS, operation.subscriber, operation.account)
    if subscribe is None or not subscribe.active:
        if subscribe is not None:
            ledger.store.remove(subscribe)
        _subscribe_anew(ledger, operation, cost)
    elif (subscribe.amount, subscribe.level, subscribe.period) == (
        operation.amount.amount,
        operation.level,
        operation.period,
    ):
        require(
            subscribe.auto_renewal != operation.auto_renewal,
            "itr2->auto_renewal != o.auto_renewal: "
            "Paid subscribe auto_renewal must be change if subscription model not changed.",
        )
        ledger.remember(subscribe)
        subscribe.auto_renewal = operation.auto_renewal
    else:
        _change_terms(ledger, subscribe, operation, cost)


def _require_terms(ledger: Ledger, operation: PaidSubscribe) -> None:
    offer = ledger.store.lookup(paid_subscriptions.SUBSCRIPTION_BY_CREATOR, operation.account)
    if offer is None:
        raise RuleViolation("itr != idx.end(): Paid subscription was not found.")
    require(offer.levels, "false: Paid subscription was closed.")
    require(
        offer.levels >= operation.level,
        "itr->levels >= o.level: Paid subscribe level greater that allowed in subscription options.",
    )
    require(
        offer.period == operation.period,
        "itr->period == o.period: Paid subscribe period must be equal period in subscription options.",
    )
    require(
        offer.amount == operation.amount.amount,
        "itr->amount == o.amount.amount: Paid subscribe amount must be equal amount per level in subscription options.",
    )


def _subscribe_anew(ledger: Ledger, operation: PaidSubscribe, cost: int) -> None:
    _pay(ledger, operation, cost, "summary_amount")
    subscribe = Subscribe(subscriber=operation.subscriber, creator=operation.account)
    _start(ledger, subscribe, operation, operation.period * DAY)
    ledger.store.create(paid_subscriptions.PAID_SUBSCRIBES, subscribe)
    _report(ledger, operation, cost)


def _change_terms(ledger: Ledger, subscribe: Subscribe, operation: PaidSubscribe, cost: int) -> None:
    """What is left of the old payment counts: as time when it covers a new period, else as a part of the price."""
    remaining, period = _remaining(ledger, subscribe), operation.period * DAY
    if remaining >= cost:
        period, due = fits_uint64(uint128(remaining * period) // cost), 0
    else:
        due = cost - remaining
        _pay(ledger, operation, due, "paid_subscription_cost")
    with ledger.editing(subscribe):
        _start(ledger, subscribe, operation, period)
    _report(ledger, operation, due)


def _remaining(ledger: Ledger, subscribe: Subscribe) -> int:
    """The part of the last payment that is for the time to come."""
    paid = fits_int64(subscribe.amount * subscribe.level)
    to_come = subscribe.next_time - ledger.now
    return int64(fits_uint64(uint128(paid * to_come) // (subscribe.period * DAY)))


def _pay(ledger: Ledger, operation: PaidSubscribe, tokens_due: int, amount: str) -> None:
    subscriber, creator = ledger.account(operation.subscriber), ledger.account(operation.account)
    require(
        subscriber.balance >= tokens_due,
        f"_db.get_balance(subscriber, TOKEN_SYMBOL) >= {amount}: "
        "Account does not have sufficient TOKEN for paid subscribe.",
    )
    adjust_balance(ledger, subscriber, -tokens_due)
    adjust_balance(ledger, creator, tokens_due)


def _start(ledger: Ledger, subscribe: Subscribe, operation: PaidSubscribe, seconds: int) -> None:
    subscribe.level = operation.level
    subscribe.amount = operation.amount.amount
    subscribe.period = operation.period
    subscribe.start_time = ledger.now
    subscribe.next_time = _later(ledger.now, seconds)
    subscribe.end_time = LATEST
    subscribe.active = True
    subscribe.auto_renewal = operation.auto_renewal


def _later(time: int, seconds: int) -> int:
    """Add to a time in 64 bits of microseconds, which a long period may overflow (spec 02, section 1.3)."""
    microseconds = int64(int64(seconds * MICROSECONDS) + time * MICROSECONDS)
    return uint32(truncated(microseconds, MICROSECONDS))


def _report(ledger: Ledger, operation: PaidSubscribe, paid: int) -> None:
    ledger.emit(
        PaidSubscriptionAction(
            operation.subscriber,
            operation.account,
            operation.level,
            operation.amount,
            operation.period,
            tokens(paid),
        )
    )
