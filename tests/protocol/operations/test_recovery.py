"""The recovery of stolen accounts: bytes, JSON, rules, authorities."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import public_key_from_text
from ledgerd.protocol.operations.accounts.accounts import (
    ChangeRecoveryAccount,
    RecoverAccount,
    RequestAccountRecovery,
)
from ledgerd.protocol.operations.base import Authorities, active, master
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

ALICE, BOB, VIZ = (AccountName(name) for name in ("alice", "bob", "viz"))
REQUESTED = "VIZ6gXSGFnvPRW3siGM5NQ3dvXn1jbdNF17hS3fFVpZBbuho17LpQ"
NEW = "VIZ8aULh4BeUGj3HMLmRueiT28756ntWEDWrRCeVhNM7vNcuP9H8h"
RECENT = "VIZ6TYdbPyqSpcEPe3iwfohZFDEFeui58CyVXhpUFSUHa4wE6hxdF"

REQUEST = RequestAccountRecovery(VIZ, AccountName("a91406523"), authority_of(public_key_from_text(REQUESTED)), ())
RECOVERY = RecoverAccount(
    AccountName("a3667623"),
    authority_of(public_key_from_text(NEW)),
    authority_of(public_key_from_text(RECENT)),
    (),
)
CHANGE = ChangeRecoveryAccount(AccountName("a59401238"), VIZ, ())

OF_ALICE_AND_BOB = Authority(2, {ALICE: 1, BOB: 1}, {})
IMPOSSIBLE = Authority(3, {ALICE: 1, BOB: 1}, {})
OPEN = Authority(0, {}, {})
OF_NOBODY = Authority(1, {AccountName("a"): 1}, {})
BAD_MEMBER = "is_valid_account_name(item.first): "


def test_a_recorded_request() -> None:
    round_trips(
        REQUEST,
        "0c0376697a0961393134303635323301000000000102ec39ec22013866a91892b06c7e635f2f513ec10c77df4f1c"
        "9cf8a4137d0913b1010000",
        [
            "request_account_recovery",
            {
                "recovery_account": "viz",
                "account_to_recover": "a91406523",
                "new_master_authority": {
                    "weight_threshold": 1,
                    "account_auths": [],
                    "key_auths": [[REQUESTED, 1]],
                },
                "extensions": [],
            },
        ],
    )


def test_a_recorded_recovery() -> None:
    round_trips(
        RECOVERY,
        "0d08613336363736323301000000000103e5df9e44fb755624b7b902b89ddc09962d755d50e2931c3e76b194bcde"
        "70de1d010001000000000102cec14565f9515bdfee09df3e1e5a235450d6c062ae6e306d4346376b10a51440"
        "010000",
        [
            "recover_account",
            {
                "account_to_recover": "a3667623",
                "new_master_authority": {
                    "weight_threshold": 1,
                    "account_auths": [],
                    "key_auths": [[NEW, 1]],
                },
                "recent_master_authority": {
                    "weight_threshold": 1,
                    "account_auths": [],
                    "key_auths": [[RECENT, 1]],
                },
                "extensions": [],
            },
        ],
    )


def test_a_recorded_change_of_the_recovery_account() -> None:
    round_trips(
        CHANGE,
        "0e096135393430313233380376697a00",
        [
            "change_recovery_account",
            {"account_to_recover": "a59401238", "new_recovery_account": "viz", "extensions": []},
        ],
    )


def test_missing_keys_are_empty_and_open() -> None:
    assert codec_of(RequestAccountRecovery).from_json({}) == RequestAccountRecovery(NO_NAME, NO_NAME, OPEN, ())
    assert codec_of(RecoverAccount).from_json({}) == RecoverAccount(NO_NAME, OPEN, OPEN, ())
    assert codec_of(ChangeRecoveryAccount).from_json({}) == ChangeRecoveryAccount(NO_NAME, NO_NAME, ())


def test_names_have_to_be_valid() -> None:
    asks_for_names(REQUEST, "recovery_account", "account_to_recover")
    asks_for_names(RECOVERY, "account_to_recover")
    asks_for_names(CHANGE, "account_to_recover", "new_recovery_account")


def test_a_request_may_name_any_authority_of_valid_names() -> None:
    accepts(changed(REQUEST, new_master_authority=OPEN))
    accepts(changed(REQUEST, new_master_authority=IMPOSSIBLE))
    refuses(changed(REQUEST, new_master_authority=OF_NOBODY), BAD_MEMBER)


def test_the_new_authority_differs_from_the_recent_one() -> None:
    message = (
        "!(new_master_authority == recent_master_authority): "
        "Cannot set new master authority to the recent master authority"
    )
    refuses(changed(RECOVERY, new_master_authority=RECOVERY.recent_master_authority), message)
    refuses(changed(RECOVERY, new_master_authority=OPEN, recent_master_authority=OPEN), message)
    other_threshold = changed(
        RECOVERY,
        new_master_authority=OF_ALICE_AND_BOB,
        recent_master_authority=Authority(1, {ALICE: 1, BOB: 1}, {}),
    )
    accepts(other_threshold)


def test_an_authority_that_no_one_can_reach_is_refused() -> None:
    accepts(changed(RECOVERY, new_master_authority=OF_ALICE_AND_BOB))
    refuses(
        changed(RECOVERY, new_master_authority=IMPOSSIBLE, recent_master_authority=OF_NOBODY),
        "!new_master_authority.is_impossible(): new master authority cannot be impossible",
    )
    refuses(
        changed(RECOVERY, new_master_authority=OPEN, recent_master_authority=IMPOSSIBLE),
        "!recent_master_authority.is_impossible(): recent master authority cannot be impossible",
    )


def test_an_authority_that_everyone_has_may_be_recent_but_not_new() -> None:
    accepts(changed(RECOVERY, recent_master_authority=OPEN))
    refuses(
        changed(RECOVERY, new_master_authority=OPEN),
        "new_master_authority.weight_threshold: new master authority cannot be trivial",
    )


def test_members_of_both_authorities_have_valid_names() -> None:
    refuses(changed(RECOVERY, new_master_authority=OF_NOBODY), BAD_MEMBER)
    refuses(changed(RECOVERY, recent_master_authority=OF_NOBODY), BAD_MEMBER)


def test_a_request_needs_the_active_authority_of_the_recovery_account() -> None:
    assert REQUEST.authorities() == active(VIZ)


def test_a_recovery_needs_the_new_and_the_recent_authority_in_that_order() -> None:
    assert RECOVERY.authorities() == Authorities(
        other=(RECOVERY.new_master_authority, RECOVERY.recent_master_authority)
    )


def test_a_change_needs_the_master_authority() -> None:
    assert CHANGE.authorities() == master(AccountName("a59401238"))
