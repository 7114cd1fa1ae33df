from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations.accounts.account_market import SetAccountPrice, SetSubaccountPrice, TargetAccountSale
from ledgerd.protocol.operations.virtual import Outbid
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import Account
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    carry_out,
    change,
    create_account,
    key_of,
    refuses,
    set_median,
)

LedgerAt = Callable[[int], Ledger]

FEE = 10
WEEK = 604_800
NOBODY = AccountName("nobody")
NO_BID = {
    "account_on_auction": False,
    "current_bid": 0,
    "current_bidder": NO_NAME,
    "current_bidder_key": NULL_KEY,
    "last_bid": 0,
}
BID = {
    "account_on_auction": True,
    "current_bid": 50,
    "current_bidder": CAROL,
    "current_bidder_key": key_of("carol"),
    "last_bid": 40,
}
BID_RETURNED = [Outbid(ALICE, CAROL, tokens(50))]


@pytest.fixture
def alice(ledger: Ledger) -> Account:
    return sellable(ledger)


def sellable(ledger: Ledger) -> Account:
    set_median(ledger, account_on_sale_fee=tokens(FEE), subaccount_on_sale_fee=tokens(FEE))
    create_account(ledger, BOB)
    create_account(ledger, CAROL, reserved_balance=50)
    return create_account(ledger, ALICE, balance=FEE)


def offer(price: int, *, on_sale: bool = True) -> SetAccountPrice:
    return SetAccountPrice(ALICE, BOB, tokens(price), on_sale)


def target(price: int, buyer: AccountName = CAROL, *, on_sale: bool = True) -> TargetAccountSale:
    return TargetAccountSale(ALICE, BOB, buyer, tokens(price), on_sale)


def fields_of(account: Account, names: dict[str, Any]) -> dict[str, Any]:
    return {name: getattr(account, name) for name in names}


def on_auction(ledger: Ledger, account: Account, price: int = 45) -> None:
    """The account is on sale at a price, and Carol has bid 50."""
    change(
        ledger,
        account,
        account_seller=BOB,
        account_offer_price=price,
        account_on_sale=True,
        account_on_sale_start_time=NOW + 5,
        **BID,
    )


# -- set_account_price


def test_an_account_goes_on_sale_in_a_week(ledger: Ledger, alice: Account) -> None:
    assert carry_out(ledger, offer(45)) == []

    assert (alice.account_seller, alice.account_offer_price, alice.account_on_sale) == (BOB, 45, True)
    assert alice.account_on_sale_start_time == NOW + WEEK
    assert (alice.balance, ledger.globals.committee_fund) == (0, FEE)


def test_the_fee_is_there(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, balance=FEE - 1)
    message = (
        "account.balance >= median_props.account_on_sale_fee: "
        "Account does not have sufficient funds to place account for sale: required 0.010 VIZ."
    )

    refuses(ledger, offer(45), message)
    refuses(ledger, target(45), message)


def test_the_fee_is_paid_once(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, offer(45, on_sale=False))
    carry_out(ledger, offer(45))

    assert ledger.globals.committee_fund == FEE
    assert alice.account_on_sale


@pytest.mark.parametrize(("hardfork", "fee", "start"), [(8, 0, 0), (9, FEE, NOW + WEEK)])
def test_before_hardfork_9_a_sale_is_free_and_starts_at_once(
    ledger_at: LedgerAt, hardfork: int, fee: int, start: int
) -> None:
    ledger = ledger_at(hardfork)
    alice = sellable(ledger)

    carry_out(ledger, offer(45))

    assert (alice.account_on_sale, alice.account_on_sale_start_time) == (True, start)
    assert ledger.globals.committee_fund == fee


@pytest.mark.parametrize("hardfork", [9, 10, 11])
def test_an_account_is_taken_off_sale_but_keeps_the_price(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    alice = sellable(ledger)
    carry_out(ledger, offer(45))

    carry_out(ledger, offer(46, on_sale=False))

    assert (alice.account_on_sale, alice.account_on_sale_start_time) == (False, 0)
    assert (alice.account_seller, alice.account_offer_price) == (BOB, 46)


def test_a_new_price_does_not_move_the_start(ledger: Ledger, alice: Account) -> None:
    on_auction(ledger, alice)

    assert carry_out(ledger, offer(44)) == []

    assert (alice.account_offer_price, alice.account_on_sale_start_time) == (44, NOW + 5)


@pytest.mark.parametrize(("price", "stays"), [(44, True), (45, True), (46, True), (50, True), (51, False)])
def test_a_bid_below_a_raised_price_goes_back(ledger: Ledger, alice: Account, price: int, stays: bool) -> None:
    on_auction(ledger, alice)

    assert carry_out(ledger, offer(price)) == ([] if stays else BID_RETURNED)

    carol = ledger.account(CAROL)
    assert fields_of(alice, BID) == (BID if stays else NO_BID)
    assert (carol.balance, carol.reserved_balance) == ((0, 50) if stays else (50, 0))


def test_a_bid_below_a_price_that_falls_stays(ledger: Ledger, alice: Account) -> None:
    on_auction(ledger, alice, price=70)

    assert carry_out(ledger, offer(60)) == []

    assert fields_of(alice, BID) == BID


def test_a_bid_goes_back_when_the_account_is_taken_off_sale(ledger: Ledger, alice: Account) -> None:
    on_auction(ledger, alice)

    assert carry_out(ledger, offer(45, on_sale=False)) == BID_RETURNED

    assert fields_of(alice, BID) == NO_BID
    assert ledger.account(CAROL).balance == 50


def test_a_bid_on_no_auction_is_lost_when_the_account_is_taken_off_sale(ledger: Ledger, alice: Account) -> None:
    on_auction(ledger, alice)
    change(ledger, alice, account_on_auction=False)

    assert carry_out(ledger, offer(45, on_sale=False)) == []

    assert fields_of(alice, BID) == NO_BID


def test_hardfork_10_knows_no_auctions(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(10)
    alice = sellable(ledger)
    on_auction(ledger, alice)

    assert carry_out(ledger, offer(51)) == []
    assert carry_out(ledger, offer(51, on_sale=False)) == []

    assert fields_of(alice, BID) == BID


def test_who_bid_for_itself_gets_it_back_too(ledger: Ledger, alice: Account) -> None:
    on_auction(ledger, alice)
    change(ledger, alice, current_bidder=ALICE, reserved_balance=50)

    carry_out(ledger, offer(45, on_sale=False))

    assert (alice.balance, alice.reserved_balance, alice.current_bid) == (FEE + 50, 0, 0)


def test_the_target_of_an_earlier_sale_stays(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, target(45))
    carry_out(ledger, offer(45))

    assert alice.target_buyer == CAROL


def test_account_and_seller_exist(ledger: Ledger) -> None:
    for name in (ALICE, BOB):
        refuses(ledger, offer(45), "unknown key: ")
        refuses(ledger, SetSubaccountPrice(ALICE, BOB, tokens(1), True), "unknown key: ")
        create_account(ledger, name)
    refuses(ledger, target(45, NOBODY), "unknown key: ")


# -- target_account_sale


@pytest.mark.parametrize("hardfork", [8, 13])
def test_a_sale_to_one_buyer_is_bound_to_no_hardfork(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    alice = sellable(ledger)

    assert carry_out(ledger, target(45)) == []

    assert (alice.account_seller, alice.target_buyer) == (BOB, CAROL)
    assert (alice.account_offer_price, alice.account_on_sale) == (45, True)
    assert alice.account_on_sale_start_time == NOW + WEEK
    assert (alice.balance, ledger.globals.committee_fund) == (0, FEE)


def test_a_sale_to_one_buyer_is_taken_back(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, target(45))
    change(ledger, alice, **BID)

    assert carry_out(ledger, target(46, on_sale=False)) == BID_RETURNED

    assert (alice.account_seller, alice.target_buyer) == (BOB, NO_NAME)
    assert (alice.account_offer_price, alice.account_on_sale, alice.account_on_sale_start_time) == (46, False, 0)
    assert fields_of(alice, BID) == NO_BID


@pytest.mark.parametrize(
    ("price", "buyer", "stays"),
    [
        (45, CAROL, True),
        (45, BOB, False),
        (50, CAROL, True),
        (50, BOB, False),
        (51, CAROL, False),
        (51, BOB, False),
    ],
)
def test_a_bid_stays_that_is_the_buyer_s_and_enough(
    ledger: Ledger, alice: Account, price: int, buyer: AccountName, stays: bool
) -> None:
    on_auction(ledger, alice)

    assert carry_out(ledger, target(price, buyer)) == ([] if stays else BID_RETURNED)

    assert fields_of(alice, BID) == (BID if stays else NO_BID)
    assert (alice.target_buyer, alice.account_offer_price, alice.account_on_sale) == (buyer, price, True)
    assert alice.account_on_sale_start_time == NOW + 5


# -- set_subaccount_price


def test_subaccounts_go_on_sale_for_a_fee(ledger: Ledger, alice: Account) -> None:
    assert carry_out(ledger, SetSubaccountPrice(ALICE, BOB, tokens(7), True)) == []

    assert (alice.subaccount_seller, alice.subaccount_offer_price, alice.subaccount_on_sale) == (BOB, 7, True)
    assert (alice.balance, ledger.globals.committee_fund) == (0, FEE)

    carry_out(ledger, SetSubaccountPrice(ALICE, CAROL, tokens(8), False))

    assert (alice.subaccount_seller, alice.subaccount_offer_price, alice.subaccount_on_sale) == (CAROL, 8, False)
    assert ledger.globals.committee_fund == FEE


def test_the_fee_for_subaccounts_is_there(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, balance=FEE - 1)

    refuses(
        ledger,
        SetSubaccountPrice(ALICE, BOB, tokens(7), False),
        "account.balance >= median_props.subaccount_on_sale_fee: "
        "Account does not have sufficient funds to place subaccount for sale: required 0.010 VIZ.",
    )


def test_before_hardfork_9_subaccounts_go_on_sale_for_free(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(8)
    alice = sellable(ledger)

    carry_out(ledger, SetSubaccountPrice(ALICE, BOB, tokens(7), True))

    assert (alice.balance, alice.subaccount_on_sale) == (FEE, True)
