"""Proposals, approvals and vetoes: bytes, JSON, rules, authorities."""

from __future__ import annotations

import pytest

from ledgerd.codec import DecodeError, Void, codec_of
from ledgerd.protocol.crypto.keys import PublicKey, public_key_from_text
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.accounts.proposals import (
    OperationWrapper,
    ProposalCreate,
    ProposalDelete,
    ProposalUpdate,
)
from ledgerd.protocol.operations.base import Authorities, active
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.virtual import ShutdownValidator
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

ALICE = AccountName("alice")
BOB = AccountName("bob")
VIZ = AccountName("viz")
KEY = public_key_from_text("VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T")
ANOTHER_KEY = PublicKey(bytes([2]) + bytes(32))

TRANSFER = Transfer(VIZ, AccountName("committee"), tokens(1_500), "hi")
CREATION = ProposalCreate(ALICE, "t", "", 1_538_352_000, (OperationWrapper(TRANSFER),), None, ())
UPDATE = ProposalUpdate(VIZ, "p7193467", (AccountName("a97271030"),), (), (), (), (), (), (), (), ())
DELETION = ProposalDelete(VIZ, "p7193467", BOB, ())

SIDES = ("active", "master", "regular")

NO_APPROVALS = (
    "!(active_approvals_to_add.empty() && active_approvals_to_remove.empty() && "
    "master_approvals_to_add.empty() && master_approvals_to_remove.empty() && "
    "regular_approvals_to_add.empty() && regular_approvals_to_remove.empty() && "
    "key_approvals_to_add.empty() && key_approvals_to_remove.empty()): "
)


def test_a_proposal_without_a_review() -> None:
    transfer = {"from": "viz", "to": "committee", "amount": "1.500 VIZ", "memo": "hi"}
    round_trips(
        CREATION,
        "1605616c6963650174008063b15b01020376697a09636f6d6d6974746565dc050000000000000356495a000000000268690000",
        [
            "proposal_create",
            {
                "author": "alice",
                "title": "t",
                "memo": "",
                "expiration_time": "2018-10-01T00:00:00",
                "proposed_operations": [{"op": ["transfer", transfer]}],
                "extensions": [],
            },
        ],
    )


def test_a_recorded_proposal_with_a_review() -> None:
    raw = (
        "160961363830373835313009703234343632363635016d5481016b01150376697a117b226279223a2270726f706f73616c"
        "227d011030006b00"
    )
    metadata = {"account": "viz", "json_metadata": '{"by":"proposal"}'}
    body = {
        "author": "a68078510",
        "title": "p24462665",
        "memo": "m",
        "expiration_time": "2026-11-21T11:32:36",
        "proposed_operations": [{"op": ["account_metadata", metadata]}],
        "review_period_time": "2026-11-20T11:33:36",
        "extensions": [],
    }
    round_trips(codec_of(ProposalCreate).from_json(body), raw, ["proposal_create", body])


def test_a_recorded_approval() -> None:
    round_trips(
        UPDATE,
        "170376697a08703731393334363701096139373237313033300000000000000000",
        [
            "proposal_update",
            {
                "author": "viz",
                "title": "p7193467",
                "active_approvals_to_add": ["a97271030"],
                "active_approvals_to_remove": [],
                "master_approvals_to_add": [],
                "master_approvals_to_remove": [],
                "regular_approvals_to_add": [],
                "regular_approvals_to_remove": [],
                "key_approvals_to_add": [],
                "key_approvals_to_remove": [],
                "extensions": [],
            },
        ],
    )


def test_a_recorded_veto() -> None:
    round_trips(
        changed(DELETION, requester=VIZ),
        "180376697a0870373139333436370376697a00",
        ["proposal_delete", {"author": "viz", "title": "p7193467", "requester": "viz", "extensions": []}],
    )


def test_a_proposal_may_hold_a_proposal() -> None:
    outer = changed(CREATION, proposed_operations=(OperationWrapper(CREATION), OperationWrapper(DELETION)))
    codec = codec_of(ProposalCreate)
    assert codec.decode_exactly(codec.encode(outer)) == outer
    accepts(outer)


def test_nesting_without_end_is_refused_while_it_is_read() -> None:
    # An author, a title, a memo (all empty), a time, one operation: again a proposal, and so on.
    layer = bytes.fromhex("000000" + "00000000" + "01" + "16")
    with pytest.raises(DecodeError):
        codec_of(ProposalCreate).decode(layer * 100_000)


def test_an_extension_of_nothing_may_be_sent() -> None:
    raw = codec_of(ProposalDelete).encode(DELETION)[:-1] + bytes.fromhex("0100")
    assert codec_of(ProposalDelete).decode_exactly(raw) == changed(DELETION, extensions=(Void(),))


def test_names_of_approvals_are_kept_in_the_order_of_words() -> None:
    names = (BOB, ALICE)
    operation = changed(UPDATE, master_approvals_to_remove=names)
    codec = codec_of(ProposalUpdate)
    assert codec.decode_exactly(codec.encode(operation)).master_approvals_to_remove == names
    assert codec.encode(changed(operation, master_approvals_to_remove=(ALICE, BOB))) == codec.encode(operation)


def test_keys_of_approvals_are_kept_in_the_order_of_bytes() -> None:
    codec = codec_of(ProposalUpdate)
    operation = changed(UPDATE, key_approvals_to_add=(KEY, ANOTHER_KEY, KEY))
    assert codec.decode_exactly(codec.encode(operation)).key_approvals_to_add == (ANOTHER_KEY, KEY)


def test_missing_keys_are_empty() -> None:
    assert codec_of(ProposalCreate).from_json({}) == ProposalCreate(NO_NAME, "", "", 0, (), None, ())
    assert codec_of(ProposalUpdate).from_json({}) == ProposalUpdate(NO_NAME, "", (), (), (), (), (), (), (), (), ())
    assert codec_of(ProposalDelete).from_json({}) == ProposalDelete(NO_NAME, "", NO_NAME, ())


def test_a_review_that_is_null_is_none() -> None:
    assert codec_of(ProposalCreate).from_json({"review_period_time": None}).review_period_time is None


def test_the_author_is_a_valid_name_and_the_requester_any() -> None:
    asks_for_names(CREATION, "author")
    asks_for_names(UPDATE, "author")
    asks_for_names(DELETION, "author")
    accepts(changed(DELETION, requester=NO_NAME))


def test_a_title_is_needed_in_utf8() -> None:
    for operation in (CREATION, UPDATE, DELETION):
        refuses(changed(operation, title=""), "!title.empty(): Title is empty")
        refuses(changed(operation, title="\udcff"), "fc::is_utf8(title): Title not formatted in UTF8")


def test_only_a_new_title_has_to_be_short() -> None:
    accepts(changed(CREATION, title="t" * 255))
    refuses(changed(CREATION, title="é" * 128), "title.size() < 256: Title larger than size limit")
    accepts(changed(UPDATE, title="t" * 1_000))
    accepts(changed(DELETION, title="t" * 1_000))


def test_something_has_to_be_proposed() -> None:
    refuses(changed(CREATION, proposed_operations=()), "!proposed_operations.empty(): ")


def test_every_proposed_operation_is_checked_however_deep() -> None:
    message = "amount.amount > 0: Cannot transfer a negative amount (aka: stealing)"
    theft = changed(
        CREATION,
        proposed_operations=(OperationWrapper(TRANSFER), OperationWrapper(changed(TRANSFER, amount=tokens(0)))),
    )
    refuses(theft, message)
    refuses(changed(CREATION, proposed_operations=(OperationWrapper(theft),)), message)


def test_what_the_chain_does_by_itself_cannot_be_proposed() -> None:
    virtual = OperationWrapper(ShutdownValidator(VIZ))
    refuses(changed(CREATION, proposed_operations=(virtual,)), "false: This is a virtual operation")


def test_a_memo_has_less_than_4096_bytes_of_utf8() -> None:
    accepts(changed(CREATION, memo="m" * 4_095))
    refuses(changed(CREATION, memo="é" * 2_048), "memo.size() < 4096: Memo larger than size limit")
    refuses(changed(CREATION, memo="\udcff"), "fc::is_utf8(memo): Memo not formatted in UTF8")


def test_proposed_operations_are_looked_at_before_the_memo() -> None:
    refuses(changed(CREATION, memo="\udcff", proposed_operations=()), "!proposed_operations.empty(): ")


def test_an_update_has_to_change_something() -> None:
    empty = changed(UPDATE, active_approvals_to_add=())
    refuses(empty, NO_APPROVALS)
    for side in SIDES:
        accepts(changed(empty, **{f"{side}_approvals_to_add": (BOB,)}))
        accepts(changed(empty, **{f"{side}_approvals_to_remove": (BOB,)}))
    accepts(changed(empty, key_approvals_to_add=(KEY,)))
    accepts(changed(empty, key_approvals_to_remove=(KEY,)))


def test_nothing_is_both_added_and_taken_back() -> None:
    message = "to_remove.find(a) == to_remove.end(): Cannot add and remove approval at the same time."
    for side in SIDES:
        added, removed = f"{side}_approvals_to_add", f"{side}_approvals_to_remove"
        accepts(changed(UPDATE, **{added: (ALICE,), removed: (BOB,)}))
        refuses(changed(UPDATE, **{added: (ALICE, BOB), removed: (BOB,)}), message)
    accepts(changed(UPDATE, key_approvals_to_add=(KEY,), key_approvals_to_remove=(ANOTHER_KEY,)))
    refuses(changed(UPDATE, key_approvals_to_add=(KEY,), key_approvals_to_remove=(KEY, ANOTHER_KEY)), message)
    accepts(changed(UPDATE, active_approvals_to_add=(BOB,), master_approvals_to_remove=(BOB,)))


def test_the_author_alone_proposes() -> None:
    proposal = changed(CREATION, proposed_operations=(OperationWrapper(Custom((), (BOB,), "", "{}")),))
    assert proposal.authorities() == active(ALICE)


def test_an_update_asks_for_all_that_it_names_but_not_for_the_author() -> None:
    names = [AccountName(f"a{number}") for number in range(6)]
    one, two, three, four, five, six = ((name,) for name in names)
    operation = ProposalUpdate(VIZ, "t", one, two, three, four, five, six, (), (), ())
    assert operation.authorities() == Authorities(
        active=(names[0], names[1]), master=(names[2], names[3]), regular=(names[4], names[5])
    )


def test_an_update_asks_for_every_key_that_it_names() -> None:
    operation = ProposalUpdate(VIZ, "t", (), (), (), (), (), (), (KEY,), (ANOTHER_KEY,), ())
    assert operation.authorities() == Authorities(other=(Authority(2, {}, {ANOTHER_KEY: 1, KEY: 1}),))
    assert list(operation.authorities().other[0].key_auths) == [ANOTHER_KEY, KEY]


def test_the_requester_vetoes() -> None:
    assert DELETION.authorities() == active(BOB)
