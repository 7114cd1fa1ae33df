from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations.accounts.account_market import BuyAccount
from ledgerd.protocol.operations.virtual import AccountSale, Bid, Outbid
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
    carry_out,
    change,
    create_account,
    key_of,
    metadata_of,
    pass_time,
    refuses,
    set_median,
)

LedgerAt = Callable[[int], Ledger]

KEY = key_of("new")
FEE = 10
PRICE = 50
DAVE = AccountName("dave")
CHILD = AccountName("kid.alice")
WEEK_TEXT = "2027-01-15T08:00:01"


def buy(price: int = PRICE, buyer: AccountName = CAROL, account: AccountName = ALICE) -> BuyAccount:
    return BuyAccount(buyer, account, tokens(price), KEY, tokens(FEE))


@pytest.fixture
def alice(ledger: Ledger) -> Account:
    return offered(ledger)


def offered(ledger: Ledger, **fields: Any) -> Account:
    """Alice's account is on sale by Bob; Carol has just enough for it."""
    set_median(ledger, account_creation_fee=tokens(FEE))
    create_account(ledger, BOB)
    for name in (CAROL, DAVE):
        create_account(ledger, name, balance=PRICE + FEE)
    offer: dict[str, Any] = {"account_seller": BOB, "account_offer_price": PRICE, "account_on_sale": True} | fields
    subaccounts: dict[str, Any] = {"subaccount_seller": BOB, "subaccount_offer_price": 7, "subaccount_on_sale": True}
    return create_account(ledger, ALICE, **offer, **subaccounts)


# -- at once


@pytest.mark.parametrize("hardfork", [8, 9, 11, 13])
def test_an_account_is_bought(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    alice = offered(ledger, account_on_sale_start_time=NOW, target_buyer=CAROL)

    assert carry_out(ledger, buy()) == [AccountSale(ALICE, tokens(PRICE), CAROL, BOB)]

    assert (ledger.account(CAROL).balance, ledger.account(BOB).balance) == (0, PRICE)
    assert alice.vesting_shares == FEE * 1_000
    assert (alice.account_seller, alice.account_offer_price, alice.account_on_sale) == (NO_NAME, 0, False)
    assert alice.account_on_sale_start_time == (0 if hardfork >= 9 else NOW)
    assert (alice.subaccount_seller, alice.subaccount_offer_price, alice.subaccount_on_sale) == (NO_NAME, 0, False)
    assert (alice.memo_key, alice.recovery_account, alice.last_account_update) == (KEY, CAROL, NOW)
    assert alice.target_buyer == CAROL
    authority = authority_for(ledger, ALICE)
    assert authority.master == authority.active == authority.regular == authority_of(KEY)
    assert authority.last_master_update == NOW
    assert ledger.store.first(MASTER_AUTHORITY_HISTORY) is None


def test_a_blank_key_is_refused(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        msgspec.structs.replace(buy(), account_authorities_key=NULL_KEY),
        "op.account_authorities_key != public_key_type(): Account authorities key cannot be blank.",
    )
    assert alice.account_on_sale


def test_as_much_becomes_shares_as_an_account_costs(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        msgspec.structs.replace(buy(), tokens_to_shares=tokens(FEE - 1)),
        "op.tokens_to_shares >= median_props.account_creation_fee: "
        "Inssufficient amount tokens_to_shares: required 0.010 VIZ, 0.009 VIZ provided.",
    )
    assert alice.account_on_sale


@pytest.mark.parametrize("price", [PRICE - 1, PRICE + 1])
def test_the_price_is_the_one_that_is_asked(ledger: Ledger, alice: Account, price: int) -> None:
    refuses(
        ledger,
        buy(price),
        "account.account_offer_price == op.account_offer_price: "
        "Account offer price must be equal account_offer_price in target account: "
        f"required 0.050 VIZ, 0.0{price} VIZ provided.",
    )
    assert alice.account_on_sale


def test_the_buyer_has_price_and_shares(ledger: Ledger, alice: Account) -> None:
    change(ledger, ledger.account(CAROL), balance=PRICE + FEE - 1)

    refuses(
        ledger,
        buy(),
        "buyer.balance >= (account.account_offer_price + op.tokens_to_shares): "
        "Inssufficient balance for account_offer_price and tokens_to_shares: "
        "required 0.060 VIZ, 0.059 VIZ available,",
    )
    assert alice.account_on_sale


def test_what_is_not_on_sale_cannot_be_bought(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, account_on_sale=False)

    refuses(ledger, buy(), "false: Account not on sale.")


@pytest.mark.parametrize("hardfork", [8, 9, 11])
def test_an_account_under_recovery_cannot_be_bought_since_hardfork_9(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    offered(ledger)
    ledger.store.create(ACCOUNT_RECOVERY_REQUESTS, AccountRecoveryRequest(account_to_recover=ALICE))

    if hardfork >= 9:
        refuses(ledger, buy(), "false: Account have recovery request.")
    else:
        carry_out(ledger, buy())


@pytest.mark.parametrize("hardfork", [8, 9, 10])
def test_a_sale_that_has_not_started_waits_between_hardforks_9_and_11(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    offered(ledger, account_on_sale_start_time=NOW + 1)

    if hardfork >= 9:
        refuses(
            ledger,
            buy(),
            f"account.account_on_sale_start_time <= _db.head_block_time(): Account selling will start on {WEEK_TEXT}.",
        )
        pass_time(ledger, 1)
    carry_out(ledger, buy())


@pytest.mark.parametrize("hardfork", [10, 11])
def test_a_target_keeps_others_away_since_hardfork_11(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    offered(ledger, target_buyer=BOB)

    if hardfork >= 11:
        refuses(ledger, buy(), "false: Account have target buyer: bob.")
    else:
        carry_out(ledger, buy())


def test_what_waits_to_go_to_a_bidder_cannot_be_bought(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, current_bidder=DAVE)

    refuses(ledger, buy(), "false: Account already have bid and waiting release.")


# -- bids


def auctioned(ledger: Ledger, **fields: Any) -> Account:
    return offered(ledger, account_on_sale_start_time=NOW + 1_000, **fields)


def test_the_first_bid_is_the_price_at_least(ledger: Ledger) -> None:
    alice = auctioned(ledger)

    refuses(
        ledger,
        buy(PRICE - 1),
        "false: Account offer price must be equal or greater minimal bid price: 0.050 VIZ.",
    )
    assert carry_out(ledger, buy(PRICE)) == [Bid(ALICE, CAROL, tokens(PRICE))]

    carol = ledger.account(CAROL)
    assert (carol.balance, carol.reserved_balance) == (FEE, PRICE)
    assert (alice.current_bid, alice.current_bidder, alice.current_bidder_key) == (PRICE, CAROL, KEY)
    assert (alice.account_on_auction, alice.last_bid, alice.vesting_shares) == (True, 0, 0)
    assert alice.account_on_sale_start_time == NOW + 1_000


def test_a_higher_bid_returns_the_one_before(ledger: Ledger) -> None:
    alice = auctioned(ledger)
    carry_out(ledger, buy(PRICE))

    refuses(
        ledger,
        buy(54, DAVE),
        "false: Account offer price must be equal or greater minimal bid price: 0.055 VIZ.",
    )
    assert carry_out(ledger, buy(55, DAVE)) == [
        Outbid(ALICE, CAROL, tokens(PRICE)),
        Bid(ALICE, DAVE, tokens(55)),
    ]

    carol, dave = ledger.account(CAROL), ledger.account(DAVE)
    assert (carol.balance, carol.reserved_balance) == (PRICE + FEE, 0)
    assert (dave.balance, dave.reserved_balance) == (PRICE + FEE - 55, 55)
    assert (alice.current_bid, alice.current_bidder, alice.last_bid) == (55, DAVE, PRICE)


def test_a_bid_is_raised_by_as_much_as_the_last_one_was(ledger: Ledger) -> None:
    auctioned(ledger)
    carry_out(ledger, buy(PRICE))
    carry_out(ledger, buy(70, DAVE))

    refuses(ledger, buy(89), "false: Account offer price must be equal or greater minimal bid price: 0.090 VIZ.")
    carry_out(ledger, buy(90))


def test_one_s_own_bid_can_be_raised(ledger: Ledger) -> None:
    alice = auctioned(ledger)
    carry_out(ledger, buy(PRICE))

    assert carry_out(ledger, buy(55)) == [Outbid(ALICE, CAROL, tokens(PRICE)), Bid(ALICE, CAROL, tokens(55))]

    carol = ledger.account(CAROL)
    assert (carol.balance, carol.reserved_balance, alice.last_bid) == (PRICE + FEE - 55, 55, 0)


def test_a_bid_may_be_more_than_the_bidder_has(ledger: Ledger) -> None:
    auctioned(ledger)

    carry_out(ledger, buy(1_000))

    carol = ledger.account(CAROL)
    assert (carol.balance, carol.reserved_balance) == (PRICE + FEE - 1_000, 1_000)


def test_an_account_may_bid_for_itself(ledger: Ledger) -> None:
    alice = auctioned(ledger)
    change(ledger, alice, balance=PRICE)

    carry_out(ledger, buy(PRICE, ALICE))

    assert (alice.balance, alice.reserved_balance) == (0, PRICE)
    assert (alice.current_bidder, alice.account_on_auction) == (ALICE, True)


@pytest.mark.parametrize(("ahead", "end"), [(303, 303), (304, 304), (1, 303)])
def test_a_late_bid_makes_the_auction_longer(ledger: Ledger, ahead: int, end: int) -> None:
    alice = offered(ledger, account_on_sale_start_time=NOW + ahead)
    ledger.cursor.time = NOW + 3

    carry_out(ledger, buy(PRICE))

    assert alice.account_on_sale_start_time == NOW + end


@pytest.mark.parametrize(("ahead", "end"), [(300, 300), (301, 301), (1, 300)])
def test_since_hardfork_15_a_late_bid_counts_from_the_head(ledger_at: LedgerAt, ahead: int, end: int) -> None:
    ledger = ledger_at(15)
    alice = offered(ledger, account_on_sale_start_time=NOW + ahead)
    ledger.cursor.time = NOW + 3

    carry_out(ledger, buy(PRICE))

    assert alice.account_on_sale_start_time == NOW + end


# -- subaccounts


def test_a_subaccount_is_made(ledger: Ledger, alice: Account) -> None:
    assert carry_out(ledger, buy(7, account=CHILD)) == [AccountSale(CHILD, tokens(7), CAROL, BOB)]

    child = ledger.account(CHILD)
    assert (child.memo_key, child.created, child.last_vote_time, child.energy) == (KEY, NOW, NOW, 10_000)
    assert (child.recovery_account, child.vesting_shares, child.balance) == (CAROL, FEE * 1_000, 0)
    assert (ledger.account(CAROL).balance, ledger.account(BOB).balance) == (PRICE - 7, 7)
    authority = authority_for(ledger, CHILD)
    assert authority.master == authority.active == authority.regular == authority_of(KEY)
    assert authority.last_master_update == 0
    assert metadata_of(ledger, CHILD) == ""
    assert alice.subaccount_on_sale


@pytest.mark.parametrize(
    ("account", "message"),
    [
        ("nobody", 'false: Account "nobody" not found.'),
        ("kid.nobody", 'acc != nullptr: Account "nobody" not found.'),
        ("kid.kid.alice", 'acc != nullptr: Account "kid.alice" not found.'),
        ("k.alice", "is_valid_account_name( subaccount_part ): Subaccount part name k is invalid"),
        ("kid.Bad", "is_valid_account_name( account_part ): Account part Bad is invalid"),
        ("kid.bob", "false: Subccount not on sale."),
    ],
)
def test_a_subaccount_that_cannot_be_is_refused(ledger: Ledger, alice: Account, account: str, message: str) -> None:
    create_account(ledger, "Bad")

    refuses(ledger, buy(7, account=AccountName(account)), message)
    assert alice.subaccount_on_sale


def test_the_price_of_a_subaccount_is_the_one_that_is_asked(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        buy(8, account=CHILD),
        "account.subaccount_offer_price == op.account_offer_price: "
        "Account offer price must be equal subaccount_offer_price in target account: "
        "required 0.007 VIZ, 0.008 VIZ provided.",
    )
    assert alice.subaccount_on_sale


def test_the_buyer_of_a_subaccount_has_price_and_shares(ledger: Ledger, alice: Account) -> None:
    change(ledger, ledger.account(CAROL), balance=7 + FEE - 1)

    refuses(
        ledger,
        buy(7, account=CHILD),
        "buyer.balance >= (account.subaccount_offer_price + op.tokens_to_shares): "
        "Inssufficient balance for subaccount_offer_price and tokens_to_shares: "
        "required 0.017 VIZ, 0.016 VIZ available,",
    )
    assert alice.subaccount_on_sale


def test_the_buyer_exists(ledger: Ledger) -> None:
    refuses(ledger, buy(), "unknown key: ")
