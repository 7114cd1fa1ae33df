from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.payments import renew_subscriptions
from ledgerd.protocol.operations.virtual import CancelPaidSubscription, PaidSubscriptionAction
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.money.paid_subscriptions import (
    PAID_SUBSCRIBES,
    PAID_SUBSCRIPTIONS,
    PaidSubscribe,
    PaidSubscription,
)
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, create_account, run

DAY = 86_400
ENDED = CancelPaidSubscription(ALICE, BOB)


def offer(ledger: Ledger, levels: int = 5, amount: int = 10, period: int = 30) -> None:
    terms = PaidSubscription(creator=BOB, levels=levels, amount=amount, period=period)
    ledger.store.create(PAID_SUBSCRIPTIONS, terms)


def subscribe(ledger: Ledger, subscriber: AccountName = ALICE, next_time: int = NOW) -> PaidSubscribe:
    return ledger.store.create(
        PAID_SUBSCRIBES,
        PaidSubscribe(
            subscriber=subscriber,
            creator=BOB,
            level=3,
            amount=10,
            period=30,
            next_time=next_time,
            end_time=LATEST,
            active=True,
            auto_renewal=True,
        ),
    )


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    for name in (ALICE, BOB, CAROL):
        create_account(ledger, name, balance=30)
    return ledger


def test_a_subscription_is_renewed_and_paid_at_its_time(ledger: Ledger) -> None:
    offer(ledger)
    subscribed = subscribe(ledger)

    assert run(ledger, renew_subscriptions) == [PaidSubscriptionAction(ALICE, BOB, 3, tokens(10), 30, tokens(30))]

    assert (subscribed.start_time, subscribed.next_time, subscribed.end_time) == (NOW, NOW + 30 * DAY, LATEST)
    assert (subscribed.active, subscribed.auto_renewal) == (True, True)
    assert (ledger.account(ALICE).balance, ledger.account(BOB).balance) == (0, 60)


def test_a_subscription_that_is_not_due_stays(ledger: Ledger) -> None:
    offer(ledger)
    subscribe(ledger, next_time=NOW + 1)

    assert run(ledger, renew_subscriptions) == []


def test_one_subscription_is_renewed_a_block(ledger: Ledger) -> None:
    offer(ledger)
    second, first = subscribe(ledger, CAROL, NOW), subscribe(ledger, ALICE, NOW - 5)

    assert len(run(ledger, renew_subscriptions)) == 1
    assert (first.next_time, second.next_time) == (NOW + 30 * DAY, NOW)
    assert len(run(ledger, renew_subscriptions)) == 1
    assert second.next_time == NOW + 30 * DAY
    assert run(ledger, renew_subscriptions) == []


def test_one_subscription_ends_a_block(ledger: Ledger) -> None:
    subscribe(ledger, CAROL)
    subscribe(ledger, ALICE)

    assert run(ledger, renew_subscriptions) == [CancelPaidSubscription(CAROL, BOB)]
    assert run(ledger, renew_subscriptions) == [ENDED]


def assert_ended(ledger: Ledger, subscribed: PaidSubscribe) -> None:
    assert run(ledger, renew_subscriptions) == [ENDED]
    assert (subscribed.end_time, subscribed.next_time) == (NOW, LATEST)
    assert (subscribed.active, subscribed.auto_renewal) == (False, False)
    assert ledger.account(ALICE).balance <= 30


def test_a_subscription_ends_with_its_offer(ledger: Ledger) -> None:
    assert_ended(ledger, subscribe(ledger))


def test_a_subscription_ends_where_no_renewal_is_wanted(ledger: Ledger) -> None:
    offer(ledger)
    subscribed = subscribe(ledger)
    change(ledger, subscribed, auto_renewal=False)

    assert_ended(ledger, subscribed)


def test_a_subscription_ends_when_its_period_gets_shorter(ledger: Ledger) -> None:
    offer(ledger, period=29)

    assert_ended(ledger, subscribe(ledger))


def test_a_subscription_ends_when_it_gets_dearer(ledger: Ledger) -> None:
    offer(ledger, amount=11)

    assert_ended(ledger, subscribe(ledger))


def test_a_subscription_ends_when_it_cannot_be_paid(ledger: Ledger) -> None:
    offer(ledger)
    change(ledger, ledger.account(ALICE), balance=29)

    assert_ended(ledger, subscribe(ledger))


def test_better_terms_are_taken_over_but_not_the_period(ledger: Ledger) -> None:
    offer(ledger, levels=2, amount=14, period=31)
    subscribed = subscribe(ledger)

    assert run(ledger, renew_subscriptions) == [PaidSubscriptionAction(ALICE, BOB, 2, tokens(14), 31, tokens(28))]
    assert (subscribed.level, subscribed.amount, subscribed.period) == (2, 14, 30)
    assert subscribed.next_time == NOW + 31 * DAY


def test_an_offer_without_levels_is_renewed_for_nothing(ledger: Ledger) -> None:
    offer(ledger, levels=0)
    subscribed = subscribe(ledger)

    assert run(ledger, renew_subscriptions) == [PaidSubscriptionAction(ALICE, BOB, 0, tokens(10), 30, tokens(0))]
    assert subscribed.level == 0
