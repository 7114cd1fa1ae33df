"""Accounts and subaccounts on sale: bytes, JSON, rules, authorities."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_from_text
from ledgerd.protocol.operations.accounts.account_market import (
    BuyAccount,
    SetAccountPrice,
    SetSubaccountPrice,
    TargetAccountSale,
)
from ledgerd.protocol.operations.base import active, master
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset, shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

ALICE, BOB, DAN, VIZ = (AccountName(name) for name in ("alice", "bob", "dan", "viz"))
KEY = "VIZ7wdbsgxaan7fy75A4i5qxbGNmDebWKxqmkhk2SHpUmvfubvbj2"

SALE = SetAccountPrice(AccountName("lot05"), ALICE, tokens(5000), account_on_sale=False)
SUBACCOUNTS = SetSubaccountPrice(VIZ, AccountName("a59401238"), tokens(1000), subaccount_on_sale=True)
PURCHASE = BuyAccount(BOB, AccountName("lot00"), tokens(10_000), public_key_from_text(KEY), tokens(1000))
TARGETED = TargetAccountSale(AccountName("lot02"), ALICE, DAN, tokens(200_000), account_on_sale=True)

NOT_TOKENS = "is_asset_type(account_offer_price, TOKEN_SYMBOL): Account offer price must be TOKEN_SYMBOL"
NO_PRICE = "account_offer_price.amount > 0: Cannot set account offer price with negative or zero amount"


def test_a_recorded_end_of_a_sale() -> None:
    round_trips(
        SALE,
        "36056c6f74303505616c69636588130000000000000356495a0000000000",
        [
            "set_account_price",
            {
                "account": "lot05",
                "account_seller": "alice",
                "account_offer_price": "5.000 VIZ",
                "account_on_sale": False,
            },
        ],
    )


def test_a_recorded_sale_of_subaccounts() -> None:
    round_trips(
        SUBACCOUNTS,
        "370376697a09613539343031323338e8030000000000000356495a0000000001",
        [
            "set_subaccount_price",
            {
                "account": "viz",
                "subaccount_seller": "a59401238",
                "subaccount_offer_price": "1.000 VIZ",
                "subaccount_on_sale": True,
            },
        ],
    )


def test_a_recorded_purchase() -> None:
    round_trips(
        PURCHASE,
        "3803626f62056c6f74303010270000000000000356495a000000000392391b092b77cb009aea0fc70023f3fc"
        "d0d5f4ed031c4bd26d2529a22b378d2be8030000000000000356495a00000000",
        [
            "buy_account",
            {
                "buyer": "bob",
                "account": "lot00",
                "account_offer_price": "10.000 VIZ",
                "account_authorities_key": KEY,
                "tokens_to_shares": "1.000 VIZ",
            },
        ],
    )


def test_a_recorded_sale_to_one_buyer() -> None:
    round_trips(
        TARGETED,
        "3d056c6f74303205616c6963650364616e400d0300000000000356495a0000000001",
        [
            "target_account_sale",
            {
                "account": "lot02",
                "account_seller": "alice",
                "target_buyer": "dan",
                "account_offer_price": "200.000 VIZ",
                "account_on_sale": True,
            },
        ],
    )


def test_missing_keys_are_empty_and_zero() -> None:
    nothing = tokens(0)
    assert codec_of(SetAccountPrice).from_json({}) == SetAccountPrice(NO_NAME, NO_NAME, nothing, False)
    assert codec_of(SetSubaccountPrice).from_json({}) == SetSubaccountPrice(NO_NAME, NO_NAME, nothing, False)
    assert codec_of(BuyAccount).from_json({}) == BuyAccount(NO_NAME, NO_NAME, nothing, NULL_KEY, nothing)
    assert codec_of(TargetAccountSale).from_json({}) == TargetAccountSale(NO_NAME, NO_NAME, NO_NAME, nothing, False)


def test_names_have_to_be_valid() -> None:
    asks_for_names(SALE, "account", "account_seller")
    asks_for_names(SUBACCOUNTS, "account", "subaccount_seller")
    asks_for_names(PURCHASE, "buyer", "account")
    asks_for_names(TARGETED, "account", "account_seller", "target_buyer")


def test_an_account_is_offered_for_tokens() -> None:
    for offer in (SALE, TARGETED):
        accepts(changed(offer, account_offer_price=tokens(1)))
        refuses(changed(offer, account_offer_price=shares(1)), NOT_TOKENS)
        refuses(changed(offer, account_offer_price=Asset(1, TOKEN_SYMBOL + 1)), NOT_TOKENS)
        refuses(changed(offer, account_offer_price=tokens(0)), NO_PRICE)


def test_an_offer_that_ends_a_sale_has_a_price_all_the_same() -> None:
    refuses(changed(SALE, account_offer_price=tokens(0), account_on_sale=False), NO_PRICE)


def test_subaccounts_are_offered_for_tokens() -> None:
    accepts(changed(SUBACCOUNTS, subaccount_offer_price=tokens(1)))
    refuses(
        changed(SUBACCOUNTS, subaccount_offer_price=shares(1)),
        "is_asset_type(subaccount_offer_price, TOKEN_SYMBOL): Subaccount offer price must be TOKEN_SYMBOL",
    )
    refuses(
        changed(SUBACCOUNTS, subaccount_offer_price=tokens(0)),
        "subaccount_offer_price.amount > 0: Cannot set subaccount offer price with negative or zero amount",
    )


def test_a_buyer_offers_tokens() -> None:
    accepts(changed(PURCHASE, account_offer_price=tokens(1)))
    refuses(changed(PURCHASE, account_offer_price=shares(1)), NOT_TOKENS)
    refuses(
        changed(PURCHASE, account_offer_price=tokens(0)),
        "account_offer_price.amount > 0: Offer price cannot be negative or zero amount",
    )


def test_a_buyer_gives_the_account_some_shares_for_tokens() -> None:
    accepts(changed(PURCHASE, tokens_to_shares=tokens(1)))
    refuses(
        changed(PURCHASE, tokens_to_shares=shares(1)),
        "is_asset_type(tokens_to_shares, TOKEN_SYMBOL): Token to shares must be TOKEN_SYMBOL",
    )
    refuses(
        changed(PURCHASE, tokens_to_shares=tokens(0)),
        "tokens_to_shares.amount > 0: Token to shares cannot be negative or zero amount",
    )


def test_a_purchase_looks_at_the_price_before_the_shares() -> None:
    refuses(
        changed(PURCHASE, account_offer_price=tokens(0), tokens_to_shares=shares(1)),
        "account_offer_price.amount > 0: Offer price cannot be negative or zero amount",
    )


def test_the_master_authority_sells_and_the_active_one_buys() -> None:
    assert SALE.authorities() == master(AccountName("lot05"))
    assert SUBACCOUNTS.authorities() == master(VIZ)
    assert TARGETED.authorities() == master(AccountName("lot02"))
    assert PURCHASE.authorities() == active(BOB)
