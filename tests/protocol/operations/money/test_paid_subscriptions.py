"""Paid subscriptions: bytes, JSON, rules, authorities."""

from __future__ import annotations

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.operations.base import active
from ledgerd.protocol.operations.money.paid_subscriptions import PaidSubscribe, SetPaidSubscription
from ledgerd.protocol.types.assets import Asset, shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

VIZ = AccountName("viz")

OFFER = SetPaidSubscription(AccountName("alice"), "u", 3, tokens(1_000), 30)
SUBSCRIPTION = PaidSubscribe(VIZ, AccountName("a46015160"), 1, tokens(1_000), 1, True)

both = pytest.mark.parametrize("operation", [OFFER, SUBSCRIPTION])


def test_an_offer() -> None:
    round_trips(
        OFFER,
        "3205616c69636501750300e8030000000000000356495a000000001e00",
        ["set_paid_subscription", {"account": "alice", "url": "u", "levels": 3, "amount": "1.000 VIZ", "period": 30}],
    )


def test_a_recorded_subscription() -> None:
    round_trips(
        SUBSCRIPTION,
        "330376697a096134363031353136300100e8030000000000000356495a00000000010001",
        [
            "paid_subscribe",
            {
                "subscriber": "viz",
                "account": "a46015160",
                "level": 1,
                "amount": "1.000 VIZ",
                "period": 1,
                "auto_renewal": True,
            },
        ],
    )


def test_a_subscription_is_renewed_unless_json_says_otherwise() -> None:
    assert codec_of(PaidSubscribe).from_json({}) == PaidSubscribe(NO_NAME, NO_NAME, 0, tokens(0), 0, True)
    assert codec_of(SetPaidSubscription).from_json({}) == SetPaidSubscription(NO_NAME, "", 0, tokens(0), 0)


def test_names_have_to_be_valid() -> None:
    asks_for_names(OFFER, "account")
    asks_for_names(SUBSCRIPTION, "subscriber", "account")


def test_a_page_has_less_than_2048_bytes_of_utf8() -> None:
    accepts(changed(OFFER, url=""))
    accepts(changed(OFFER, url="u" * 2_047))
    refuses(changed(OFFER, url="é" * 1_024), "url.size() < CHAIN_MAX_MEMO_LENGTH: URL is too large")
    refuses(changed(OFFER, url="\udcff"), "fc::is_utf8(url): URL is not UTF8")


def test_there_are_a_thousand_levels_at_most() -> None:
    for level in (0, 1_000):
        accepts(changed(OFFER, levels=level))
        accepts(changed(SUBSCRIPTION, level=level))
    refuses(changed(OFFER, levels=1_001), "levels <= PAID_SUBSCRIPTION_MAX_LEVEL: ")
    refuses(changed(SUBSCRIPTION, level=1_001), "level <= PAID_SUBSCRIPTION_MAX_LEVEL: ")


@both
def test_the_price_is_above_zero(operation: SetPaidSubscription | PaidSubscribe) -> None:
    accepts(changed(operation, amount=tokens(1)))
    refuses(
        changed(operation, amount=tokens(0)),
        "amount.amount > 0: Cannot set subscription with negative or zero amount",
    )


@both
def test_the_price_is_of_any_symbol_but_shares(operation: SetPaidSubscription | PaidSubscribe) -> None:
    accepts(changed(operation, amount=Asset(1, tokens(1).symbol + 1)))
    refuses(changed(operation, amount=shares(1)), "amount.symbol != SHARES_SYMBOL: Amount of SHARES is not allowed.")


@both
def test_a_period_has_one_to_a_thousand_days(operation: SetPaidSubscription | PaidSubscribe) -> None:
    accepts(changed(operation, period=1))
    accepts(changed(operation, period=1_000))
    refuses(changed(operation, period=0), "period > 0: Cannot set negative or zero period")
    refuses(changed(operation, period=1_001), "period <= PAID_SUBSCRIPTION_MAX_PERIOD: ")


def test_the_active_authority_offers_and_subscribes() -> None:
    assert OFFER.authorities() == active(AccountName("alice"))
    assert SUBSCRIPTION.authorities() == active(VIZ)
