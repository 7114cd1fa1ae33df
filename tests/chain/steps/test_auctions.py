from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.payments import end_auctions
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations.virtual import AccountSale, Outbid
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.accounts.recovery import (
    ACCOUNT_RECOVERY_REQUESTS,
    MASTER_AUTHORITY_HISTORY,
    AccountRecoveryRequest,
)
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    authority_for,
    change,
    create_account,
    key_of,
    run,
)

KEY = key_of("new")
SOLD = [AccountSale(ALICE, tokens(50), CAROL, BOB)]
RETURNED = [Outbid(ALICE, CAROL, tokens(50))]


@pytest.fixture(autouse=True)
def people(ledger: Ledger) -> None:
    create_account(ledger, BOB)
    create_account(ledger, CAROL, reserved_balance=50)


def auctioned(ledger: Ledger, name: AccountName = ALICE, **fields: Any) -> Account:
    """An auction that ends now, at which Carol has bid what was asked."""
    auction: dict[str, Any] = {
        "account_seller": BOB,
        "account_offer_price": 50,
        "account_on_sale": True,
        "account_on_sale_start_time": NOW,
        "account_on_auction": True,
        "current_bid": 50,
        "current_bidder": CAROL,
        "current_bidder_key": KEY,
        "last_bid": 40,
        "subaccount_seller": BOB,
        "subaccount_offer_price": 7,
        "subaccount_on_sale": True,
    }
    return create_account(ledger, name, **(auction | fields))


def is_cleared(account: Account) -> bool:
    return not account.account_on_auction and (
        account.current_bid,
        account.current_bidder,
        account.current_bidder_key,
        account.last_bid,
    ) == (0, NO_NAME, NULL_KEY, 0)


def money(ledger: Ledger) -> tuple[int, int, int]:
    """What Bob has got, what Carol has, and what of hers is set aside."""
    carol = ledger.account(CAROL)
    return ledger.account(BOB).balance, carol.balance, carol.reserved_balance


@pytest.mark.parametrize("target", [NO_NAME, CAROL])
def test_the_bidder_gets_the_account(ledger: Ledger, target: AccountName) -> None:
    alice = auctioned(ledger, target_buyer=target)

    assert run(ledger, end_auctions) == SOLD

    assert money(ledger) == (50, 0, 0)
    assert is_cleared(alice)
    assert (alice.account_seller, alice.account_on_sale, alice.account_offer_price) == (NO_NAME, False, 0)
    assert (alice.account_on_sale_start_time, alice.target_buyer) == (0, NO_NAME)
    assert (alice.subaccount_seller, alice.subaccount_on_sale, alice.subaccount_offer_price) == (NO_NAME, False, 0)
    assert (alice.memo_key, alice.recovery_account, alice.last_account_update) == (KEY, CAROL, NOW)
    authority = authority_for(ledger, ALICE)
    assert authority.master == authority.active == authority.regular == authority_of(KEY)
    assert authority.last_master_update == NOW
    assert ledger.store.first(MASTER_AUTHORITY_HISTORY) is None


def test_an_auction_goes_on_until_its_end(ledger: Ledger) -> None:
    alice = auctioned(ledger, account_on_sale_start_time=NOW + 1)

    assert run(ledger, end_auctions) == []

    assert alice.account_on_auction


def test_an_auction_without_a_bidder_just_ends(ledger: Ledger) -> None:
    alice = auctioned(ledger, current_bidder=NO_NAME)

    assert run(ledger, end_auctions) == []

    assert is_cleared(alice)
    assert (alice.account_on_sale, alice.account_offer_price) == (True, 50)


@pytest.mark.parametrize(
    "fields",
    [
        {"target_buyer": BOB},
        {"account_on_sale": False},
        {"current_bid": 50, "account_offer_price": 51},
        {"target_buyer": CAROL, "account_on_sale": False},
        {"target_buyer": CAROL, "account_offer_price": 51},
    ],
)
def test_a_bid_that_cannot_win_goes_back(ledger: Ledger, fields: dict[str, Any]) -> None:
    alice = auctioned(ledger, **fields)
    kept = (alice.account_seller, alice.account_on_sale, alice.account_offer_price, alice.target_buyer)

    assert run(ledger, end_auctions) == RETURNED

    assert money(ledger) == (0, 50, 0)
    assert is_cleared(alice)
    assert (alice.account_seller, alice.account_on_sale, alice.account_offer_price, alice.target_buyer) == kept
    assert alice.account_on_sale_start_time == NOW
    assert authority_for(ledger, ALICE).master == authority_of(key_of(ALICE))


@pytest.mark.parametrize("target", [NO_NAME, CAROL])
def test_an_account_under_recovery_is_taken_off_sale(ledger: Ledger, target: AccountName) -> None:
    alice = auctioned(ledger, target_buyer=target)
    ledger.store.create(ACCOUNT_RECOVERY_REQUESTS, AccountRecoveryRequest(account_to_recover=ALICE))

    assert run(ledger, end_auctions) == RETURNED

    assert money(ledger) == (0, 50, 0)
    assert is_cleared(alice)
    assert (alice.account_seller, alice.account_on_sale, alice.account_offer_price) == (BOB, False, 0)
    assert (alice.account_on_sale_start_time, alice.target_buyer) == (0, NO_NAME)
    assert alice.subaccount_on_sale


def test_a_seller_who_bids_pays_itself(ledger: Ledger) -> None:
    auctioned(ledger, account_seller=CAROL)

    assert run(ledger, end_auctions) == [AccountSale(ALICE, tokens(50), CAROL, CAROL)]

    assert money(ledger) == (0, 50, 0)


def test_auctions_that_end_together_end_in_the_order_of_their_index(ledger: Ledger) -> None:
    """The last of those without an auction stays where it stands when its own begins (spec 02, section 2.3, rule 2)."""
    names = [AccountName(f"sold{number}") for number in range(4)]
    change(ledger, ledger.account(CAROL), reserved_balance=200)
    accounts = [auctioned(ledger, name, account_on_auction=False) for name in names]
    for number, end in ((2, NOW), (0, NOW), (3, NOW + 1), (1, NOW - 1)):
        change(ledger, accounts[number], account_on_auction=True, account_on_sale_start_time=end)

    sales = run(ledger, end_auctions)

    assert [each.account for each in sales if isinstance(each, AccountSale)] == [names[1], names[2], names[0]]
    assert money(ledger) == (150, 0, 50)


def test_an_account_that_was_recovered_comes_first(ledger: Ledger) -> None:
    """Recovery sets the start to zero and leaves the bid (spec 02, section 6.5, quirk; spec 10, section 7.4)."""
    change(ledger, ledger.account(CAROL), reserved_balance=100)
    auctioned(ledger, AccountName("earlier"), account_on_sale_start_time=NOW - 9)
    auctioned(ledger, AccountName("recovered"), account_on_sale=False, account_on_sale_start_time=0)

    told = run(ledger, end_auctions)

    assert told == [
        Outbid(AccountName("recovered"), CAROL, tokens(50)),
        AccountSale(AccountName("earlier"), tokens(50), CAROL, BOB),
    ]
