"""Invites: bytes, JSON, rules, authorities."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_from_text
from ledgerd.protocol.operations.base import active
from ledgerd.protocol.operations.money.invites import (
    ClaimInviteBalance,
    CreateInvite,
    InviteRegistration,
    UseInviteBalance,
)
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

VIZ = AccountName("viz")
INVITE = AccountName("invite")
INVITE_KEY = "VIZ5ubeoRXbHK4T5ykkNMZLRLxLYsmvrtHiyiaxMpz3FHZGbLrtAZ"
ACCOUNT_KEY = "VIZ5k7anNGkSWsj9dtnT2fR8e8y2qtEdSo1tz7rHUjt6T44XGN8qZ"

CREATION = CreateInvite(VIZ, tokens(25_000), public_key_from_text(INVITE_KEY))
CLAIM = ClaimInviteBalance(INVITE, VIZ, "5KPw3AzNJDFiBSAk1NQJUZTqanU9R1DbgTfqcmHBXSdjftcd7Yi")
REGISTRATION = InviteRegistration(
    VIZ,
    AccountName("i83607984"),
    "5JEMJ4sGBaYJMKgYdu1zbXXfxwvgDosBVNhxM7JSgy7FsspQgzV",
    public_key_from_text(ACCOUNT_KEY),
)
USE = UseInviteBalance(INVITE, VIZ, "5KSate6NNkiy1RksdfdEoJWVGsHrKTC8H5hWcZqf3ndBmVJMRxa")


def test_a_recorded_invite() -> None:
    round_trips(
        CREATION,
        "2b0376697aa8610000000000000356495a000000000286369b943c6fb05dfdedf6ea71ac5d4b97087054bd3920737d36b5a6f1db12cc",
        ["create_invite", {"creator": "viz", "balance": "25.000 VIZ", "invite_key": INVITE_KEY}],
    )


def test_a_recorded_claim() -> None:
    round_trips(
        CLAIM,
        "2c06696e766974650376697a33354b507733417a4e4a4446694253416b314e514a555a5471616e5539523144626754667163"
        "6d48425853646a66746364375969",
        ["claim_invite_balance", {"initiator": "invite", "receiver": "viz", "invite_secret": CLAIM.invite_secret}],
    )


def test_a_recorded_registration() -> None:
    round_trips(
        REGISTRATION,
        "2d0376697a0969383336303739383433354a454d4a3473474261594a4d4b67596475317a6258586678777667446f7342564e"
        "68784d374a536779374673737051677a560270adc82df24cf30cbcd8e80a31792bd676c8d5fd7972969c66d93a2d0cbea76a",
        [
            "invite_registration",
            {
                "initiator": "viz",
                "new_account_name": "i83607984",
                "invite_secret": REGISTRATION.invite_secret,
                "new_account_key": ACCOUNT_KEY,
            },
        ],
    )


def test_a_recorded_use() -> None:
    round_trips(
        USE,
        "3a06696e766974650376697a33354b53617465364e4e6b697931526b73646664456f4a5756477348724b5443384835685763"
        "5a7166336e64426d564a4d527861",
        ["use_invite_balance", {"initiator": "invite", "receiver": "viz", "invite_secret": USE.invite_secret}],
    )


def test_missing_keys_are_empty_and_zero() -> None:
    assert codec_of(CreateInvite).from_json({}) == CreateInvite(NO_NAME, tokens(0), NULL_KEY)
    assert codec_of(ClaimInviteBalance).from_json({}) == ClaimInviteBalance(NO_NAME, NO_NAME, "")
    assert codec_of(InviteRegistration).from_json({}) == InviteRegistration(NO_NAME, NO_NAME, "", NULL_KEY)
    assert codec_of(UseInviteBalance).from_json({}) == UseInviteBalance(NO_NAME, NO_NAME, "")


def test_names_have_to_be_valid() -> None:
    asks_for_names(CREATION, "creator")
    asks_for_names(CLAIM, "initiator", "receiver")
    asks_for_names(REGISTRATION, "initiator", "new_account_name")
    asks_for_names(USE, "initiator", "receiver")


def test_an_invite_holds_some_tokens() -> None:
    accepts(changed(CREATION, balance=tokens(1)))
    refuses(
        changed(CREATION, balance=shares(1)),
        "is_asset_type(balance, TOKEN_SYMBOL): Invite creation balance must be TOKEN_SYMBOL",
    )
    for amount in (0, -1):
        refuses(
            changed(CREATION, balance=tokens(amount)),
            "balance > asset(0, TOKEN_SYMBOL): Invite creation balance must be nonzero amount",
        )


def test_secrets_and_keys_are_not_looked_at() -> None:
    accepts(changed(CREATION, invite_key=NULL_KEY))
    accepts(changed(CLAIM, invite_secret=""))
    accepts(changed(USE, invite_secret="\udcff"))
    accepts(changed(REGISTRATION, invite_secret="", new_account_key=NULL_KEY))


def test_a_registered_name_may_have_two_bytes() -> None:
    accepts(changed(REGISTRATION, new_account_name=AccountName("ab")))


def test_a_name_with_a_dot_is_registered_by_the_account_behind_it() -> None:
    accepts(changed(REGISTRATION, new_account_name=AccountName("sub.viz")))
    refuses(
        changed(REGISTRATION, new_account_name=AccountName("sub.bob")),
        "is_valid_domain_name( name, creator ): Domain name sub.bob is invalid, creator name viz",
    )


def test_the_active_authority_creates_and_claims() -> None:
    assert CREATION.authorities() == active(VIZ)
    assert CLAIM.authorities() == active(INVITE)
    assert REGISTRATION.authorities() == active(VIZ)
    assert USE.authorities() == active(INVITE)
