from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.money.paid_subscriptions import PaidSubscribe, SetPaidSubscription
from ledgerd.protocol.operations.virtual import PaidSubscriptionAction
from ledgerd.protocol.types.assets import Asset, tokens
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.money.paid_subscriptions import (
    PAID_SUBSCRIBES,
    SUBSCRIBE_BY_ACCOUNTS,
    SUBSCRIPTION_BY_CREATOR,
    PaidSubscription,
)
from ledgerd.state.objects.money.paid_subscriptions import PaidSubscribe as Stored
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, change, create_account, pass_time, refuses

LedgerAt = Callable[[int], Ledger]

DAY = 86_400
FEE = 100_000
PRICE = 10_000

OFFER = SetPaidSubscription(BOB, "https://bob.test", 5, tokens(PRICE), 30)
SUBSCRIBE = PaidSubscribe(ALICE, BOB, 3, tokens(PRICE), 30, True)


def offer(ledger: Ledger) -> PaidSubscription:
    return ledger.store.at(SUBSCRIPTION_BY_CREATOR, BOB)


def subscribed(ledger: Ledger) -> Stored:
    return ledger.store.at(SUBSCRIBE_BY_ACCOUNTS, ALICE, BOB)


def terms(stored: Stored) -> tuple[int, int, int, bool]:
    return stored.level, stored.amount, stored.period, stored.auto_renewal


def times(stored: Stored) -> tuple[int, int, int]:
    return stored.start_time, stored.next_time, stored.end_time


@pytest.fixture
def offered(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE, balance=100_000)
    create_account(ledger, BOB, balance=FEE)
    carry_out(ledger, OFFER)
    return ledger


def test_an_offer_is_made_for_the_fee(offered: Ledger) -> None:
    made = offer(offered)
    assert (made.creator, made.url, made.levels, made.amount, made.period) == (BOB, "https://bob.test", 5, PRICE, 30)
    assert made.update_time == NOW
    assert (offered.account(BOB).balance, offered.globals.committee_fund) == (0, FEE)


def test_who_cannot_pay_the_fee_offers_nothing(ledger: Ledger) -> None:
    create_account(ledger, BOB, balance=FEE - 1)

    refuses(
        ledger,
        OFFER,
        "account.balance >= median_props.create_paid_subscription_fee: "
        "Account does not have sufficient funds to create a paid subscription: required 100.000 VIZ.",
    )


def test_an_offer_is_free_before_hardfork_9(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(8)
    create_account(ledger, BOB)

    carry_out(ledger, OFFER)

    assert ledger.globals.committee_fund == 0


def test_an_offer_is_changed_for_nothing(offered: Ledger) -> None:
    pass_time(offered, 4)

    assert carry_out(offered, SetPaidSubscription(BOB, "", 0, Asset(7, 0x58595A03), 1)) == []

    made = offer(offered)
    assert (made.url, made.levels, made.amount, made.period, made.update_time) == ("", 0, 7, 1, NOW + 4)
    assert offered.globals.committee_fund == FEE


def test_subscriptions_begin_with_hardfork_5(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(4)

    refuses(
        ledger,
        OFFER,
        "_db.has_hardfork(CHAIN_HARDFORK_5): set_paid_subscription_evaluator not enabled until HF 5",
    )
    refuses(
        ledger,
        SUBSCRIBE,
        "_db.has_hardfork(CHAIN_HARDFORK_5): paid_subscribe_evaluator not enabled until HF 5",
    )


def test_those_who_take_part_exist(ledger: Ledger) -> None:
    refuses(ledger, OFFER, "unknown key: ")
    refuses(ledger, SUBSCRIBE, "unknown key: ")
    create_account(ledger, ALICE)
    refuses(ledger, SUBSCRIBE, "unknown key: ")


def test_a_new_subscription_is_paid_at_once(offered: Ledger) -> None:
    assert carry_out(offered, SUBSCRIBE) == [
        PaidSubscriptionAction(ALICE, BOB, 3, tokens(PRICE), 30, tokens(3 * PRICE))
    ]

    stored = subscribed(offered)
    assert terms(stored) == (3, PRICE, 30, True)
    assert times(stored) == (NOW, NOW + 30 * DAY, LATEST)
    assert stored.active
    assert (offered.account(ALICE).balance, offered.account(BOB).balance) == (70_000, 30_000)


@pytest.mark.parametrize(
    ("wish", "message"),
    [
        (
            {"level": 0},
            (
                "o.level > 0: Paid subscibe can not be turn off manually, please wait subscribe end time or turn off "
                "auto_renewal."
            ),
        ),
        (
            {"level": 6, "period": 1},
            "itr->levels >= o.level: Paid subscribe level greater that allowed in subscription options.",
        ),
        (
            {"level": 5, "period": 31, "amount": tokens(1)},
            "itr->period == o.period: Paid subscribe period must be equal period in subscription options.",
        ),
        (
            {"amount": tokens(PRICE + 1)},
            (
                "itr->amount == o.amount.amount: "
                "Paid subscribe amount must be equal amount per level in subscription options."
            ),
        ),
    ],
)
def test_the_terms_are_those_of_the_offer(offered: Ledger, wish: dict[str, object], message: str) -> None:
    refuses(offered, msgspec.structs.replace(SUBSCRIBE, **wish), message)


def test_there_is_an_offer_and_it_is_open(offered: Ledger) -> None:
    refuses(
        offered, PaidSubscribe(BOB, ALICE, 1, tokens(1), 1, True), "itr != idx.end(): Paid subscription was not found."
    )
    change(offered, offer(offered), levels=0)
    refuses(offered, SUBSCRIBE, "false: Paid subscription was closed.")


def test_a_new_subscription_takes_all_it_costs(offered: Ledger) -> None:
    change(offered, offered.account(ALICE), balance=3 * PRICE - 1)

    refuses(
        offered,
        SUBSCRIBE,
        "_db.get_balance(subscriber, TOKEN_SYMBOL) >= summary_amount: "
        "Account does not have sufficient TOKEN for paid subscribe.",
    )
    change(offered, offered.account(ALICE), balance=3 * PRICE)
    carry_out(offered, SUBSCRIBE)


def test_one_can_subscribe_to_oneself(offered: Ledger) -> None:
    change(offered, offered.account(BOB), balance=PRICE)

    carry_out(offered, PaidSubscribe(BOB, BOB, 1, tokens(PRICE), 30, False))

    assert offered.account(BOB).balance == PRICE


def test_at_the_same_terms_only_the_renewal_changes(offered: Ledger) -> None:
    carry_out(offered, SUBSCRIBE)
    pass_time(offered, 5)

    refuses(
        offered,
        SUBSCRIBE,
        "itr2->auto_renewal != o.auto_renewal: "
        "Paid subscribe auto_renewal must be change if subscription model not changed.",
    )
    assert carry_out(offered, msgspec.structs.replace(SUBSCRIBE, auto_renewal=False)) == []

    assert not subscribed(offered).auto_renewal
    assert times(subscribed(offered)) == (NOW, NOW + 30 * DAY, LATEST)
    assert offered.account(ALICE).balance == 70_000


def test_what_is_left_of_the_old_terms_buys_time_at_the_new(offered: Ledger) -> None:
    """The vector of spec 02, section 21.6."""
    carry_out(offered, SUBSCRIBE)
    change(offered, subscribed(offered), next_time=NOW + 1_036_805)
    carry_out(offered, SetPaidSubscription(BOB, "", 2, tokens(2_500), 10))

    emitted = carry_out(offered, PaidSubscribe(ALICE, BOB, 2, tokens(2_500), 10, False))

    assert emitted == [PaidSubscriptionAction(ALICE, BOB, 2, tokens(2_500), 10, tokens(0))]
    assert terms(subscribed(offered)) == (2, 2_500, 10, False)
    assert times(subscribed(offered)) == (NOW, NOW + 2_073_600, LATEST)
    assert offered.account(ALICE).balance == 70_000


def test_what_is_left_of_the_old_terms_counts_towards_dearer_ones(offered: Ledger) -> None:
    carry_out(offered, SUBSCRIBE)
    pass_time(offered, 15 * DAY)
    change(offered, offered.account(ALICE), balance=34_999)
    operation = msgspec.structs.replace(SUBSCRIBE, level=5)

    refuses(
        offered,
        operation,
        "_db.get_balance(subscriber, TOKEN_SYMBOL) >= paid_subscription_cost: "
        "Account does not have sufficient TOKEN for paid subscribe.",
    )
    change(offered, offered.account(ALICE), balance=35_000)
    assert carry_out(offered, operation) == [PaidSubscriptionAction(ALICE, BOB, 5, tokens(PRICE), 30, tokens(35_000))]
    assert times(subscribed(offered)) == (NOW + 15 * DAY, NOW + 45 * DAY, LATEST)
    assert (offered.account(ALICE).balance, offered.account(BOB).balance) == (0, 65_000)


def test_an_ended_subscription_begins_anew(offered: Ledger) -> None:
    carry_out(offered, SUBSCRIBE)
    change(offered, subscribed(offered), active=False)

    carry_out(offered, SUBSCRIBE)

    assert subscribed(offered).id == 1
    assert offered.store.find(PAID_SUBSCRIBES, 0) is None
    assert offered.account(ALICE).balance == 40_000


def test_a_time_too_far_wraps_around(offered: Ledger) -> None:
    """Thirty thousand tokens at one for a thousand days: more seconds than 32 bits have."""
    carry_out(offered, SUBSCRIBE)
    carry_out(offered, SetPaidSubscription(BOB, "", 1, tokens(1), 1_000))

    carry_out(offered, PaidSubscribe(ALICE, BOB, 1, tokens(1), 1_000, True))

    assert subscribed(offered).next_time == (NOW + 30_000 * 1_000 * DAY) % 2**32


def test_a_time_beyond_all_microseconds_wraps_around_twice(offered: Ledger) -> None:
    carry_out(offered, SUBSCRIBE)
    change(offered, subscribed(offered), amount=1_000_000)
    carry_out(offered, SetPaidSubscription(BOB, "", 1, tokens(1), 1_000))

    carry_out(offered, PaidSubscribe(ALICE, BOB, 1, tokens(1), 1_000, True))

    microseconds = (3_000_000 * 1_000 * DAY + NOW) * 1_000_000 % 2**64
    assert microseconds < 2**63
    assert subscribed(offered).next_time == microseconds // 1_000_000 % 2**32
