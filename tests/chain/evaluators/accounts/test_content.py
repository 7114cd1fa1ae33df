from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.accounts.content import Content, ContentPayoutBeneficiaries, DeleteContent
from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.content import (
    CONTENT_BY_PERMLINK,
    CONTENT_TYPE_BY_CONTENT,
    CONTENT_TYPES,
    CONTENT_VOTES,
    CONTENTS,
    ContentType,
    ContentVote,
)
from ledgerd.state.objects.accounts.content import Content as Stored
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, change, create_account, pass_time, refuses

LedgerAt = Callable[[int], Ledger]

POST = Content(NO_NAME, "topic", ALICE, "post", "Title", "Body", 1_500, '{"a":1}', ())
REPLY = Content(ALICE, "post", BOB, "reply", "", "Body", 0, "", ())
BENEFICIARIES = ContentPayoutBeneficiaries((Beneficiary(BOB, 100),))


def altered(operation: Content, **fields: Any) -> Content:
    return msgspec.structs.replace(operation, **fields)


def stored(ledger: Ledger, operation: Content) -> Stored:
    return ledger.store.at(CONTENT_BY_PERMLINK, operation.author, operation.permlink)


def text_of(ledger: Ledger, operation: Content) -> ContentType:
    return ledger.store.at(CONTENT_TYPE_BY_CONTENT, stored(ledger, operation).id)


@pytest.fixture
def ledger(ledger_at: LedgerAt) -> Ledger:
    """In the first era."""
    ledger = ledger_at(3)
    create_account(ledger, ALICE)
    create_account(ledger, BOB)
    return ledger


def test_a_post_stands_for_itself(ledger: Ledger) -> None:
    ledger.store.create(CONTENTS, Stored(author=BOB, permlink="before"))

    assert carry_out(ledger, POST) == []

    post, text, alice = stored(ledger, POST), text_of(ledger, POST), ledger.account(ALICE)
    assert (post.parent_author, post.parent_permlink, post.depth) == ("", "topic", 0)
    assert post.root_content == post.id == 1
    assert (post.last_update, post.created, post.active, post.last_payout) == (NOW, NOW, NOW, 0)
    assert (post.cashout_time, post.curation_percent) == (NOW + 86_400, 1_500)
    assert (text.title, text.body, text.json_metadata) == ("Title", "Body", '{"a":1}')
    assert (alice.last_post, alice.last_root_post) == (NOW, NOW)
    assert (alice.content_count, alice.subcontent_count) == (1, 0)


def test_a_reply_hangs_below_and_is_counted_above(ledger: Ledger) -> None:
    carry_out(ledger, POST)
    carry_out(ledger, REPLY)
    pass_time(ledger, 7)
    deeper = altered(REPLY, parent_author=BOB, parent_permlink="reply", author=ALICE, permlink="deeper")

    carry_out(ledger, deeper)

    post, reply, deep, alice = (
        stored(ledger, POST),
        stored(ledger, REPLY),
        stored(ledger, deeper),
        ledger.account(ALICE),
    )
    assert (deep.parent_author, deep.parent_permlink, deep.depth, deep.root_content) == (BOB, "reply", 2, post.id)
    assert (post.children, reply.children, deep.children) == (2, 1, 0)
    assert (post.active, reply.active, post.last_update) == (NOW + 7, NOW + 7, NOW)
    assert (alice.last_post, alice.last_root_post) == (NOW + 7, NOW)
    assert (alice.content_count, alice.subcontent_count) == (1, 1)


def test_content_ends_with_hardfork_4(ledger_at: LedgerAt) -> None:
    after = ledger_at(4)

    refuses(after, POST, "!_db.has_hardfork(CHAIN_HARDFORK_4): content is deprecated as of HF 4")
    refuses(
        after,
        DeleteContent(ALICE, "post"),
        "!_db.has_hardfork(CHAIN_HARDFORK_4): delete_content is deprecated as of HF 4",
    )


def test_there_is_some_text(ledger: Ledger) -> None:
    refuses(
        ledger,
        altered(POST, title="", body="", json_metadata=""),
        "o.title.size() + o.body.size() + o.json_metadata.size(): "
        "Cannot update content because nothing appears to be changing.",
    )


def test_author_and_parent_exist(ledger: Ledger) -> None:
    refuses(ledger, altered(POST, author=AccountName("nobody")), "unknown key: ")
    refuses(ledger, REPLY, "unknown key: ")


def test_replies_are_not_too_deep(ledger: Ledger) -> None:
    carry_out(ledger, POST)
    change(ledger, stored(ledger, POST), depth=65_520)

    refuses(
        ledger,
        REPLY,
        "parent->depth < max_depth: Content is nested 65520 posts deep, maximum depth is 65520.",
    )
    change(ledger, stored(ledger, POST), depth=65_519)
    carry_out(ledger, REPLY)
    assert stored(ledger, REPLY).depth == 65_520


@pytest.mark.parametrize("field", ["parent_permlink", "permlink"])
def test_permlinks_are_short_and_text(ledger: Ledger, field: str) -> None:
    refuses(ledger, altered(POST, **{field: "x" * 256}), "permlink.size() < CHAIN_MAX_URL_LENGTH: permlink is too long")
    refuses(ledger, altered(POST, **{field: "\udcff"}), "fc::is_utf8(permlink): permlink not formatted in UTF8")
    carry_out(ledger, altered(POST, **{field: "x" * 255}))


def test_metadata_that_is_no_text_is_left_out(ledger: Ledger) -> None:
    carry_out(ledger, altered(POST, json_metadata='"\udcff"'))

    assert text_of(ledger, POST).json_metadata == ""


def test_an_edit_replaces_what_is_given(ledger: Ledger) -> None:
    carry_out(ledger, POST)
    pass_time(ledger, 5)

    carry_out(ledger, altered(POST, title="", body="New", json_metadata="", curation_percent=1))

    post, text = stored(ledger, POST), text_of(ledger, POST)
    assert (text.title, text.body, text.json_metadata) == ("Title", "New", '{"a":1}')
    assert (post.created, post.last_update, post.active, post.curation_percent) == (NOW, NOW + 5, NOW + 5, 1_500)
    assert ledger.account(ALICE).content_count == 1
    assert ledger.account(ALICE).last_post == NOW


def test_an_edit_leaves_content_in_its_place(ledger: Ledger) -> None:
    carry_out(ledger, POST)
    carry_out(ledger, REPLY)
    other = altered(POST, author=BOB)
    carry_out(ledger, other)

    refuses(
        ledger,
        altered(REPLY, parent_author=NO_NAME),
        "com.parent_author == account_name_type(): The parent of a content cannot change.",
    )
    refuses(
        ledger,
        altered(REPLY, parent_author=BOB),
        "com.parent_author == o.parent_author: The parent of a content cannot change.",
    )
    refuses(
        ledger,
        altered(POST, parent_permlink="other"[:4]),
        "equal(com.parent_permlink, o.parent_permlink): The permlink of a content cannot change.",
    )


def test_another_parent_permlink_of_the_same_length_passes_and_is_ignored(ledger: Ledger) -> None:
    carry_out(ledger, POST)

    carry_out(ledger, altered(POST, parent_permlink="other"))
    carry_out(ledger, altered(POST, parent_permlink="topic\0 and more"))

    assert stored(ledger, POST).parent_permlink == "topic"


def test_beneficiaries_are_named_once_and_before_any_vote(ledger: Ledger) -> None:
    named = altered(POST, extensions=(BENEFICIARIES,))
    carry_out(ledger, POST)
    change(ledger, stored(ledger, POST), abs_rshares=1)
    refuses(
        ledger,
        named,
        "_c.abs_rshares == 0: Comment must not have been voted on before specifying beneficiaries.",
    )
    change(ledger, stored(ledger, POST), abs_rshares=0)

    carry_out(ledger, named)

    assert stored(ledger, POST).beneficiaries == BENEFICIARIES.beneficiaries
    refuses(
        ledger,
        named,
        "_c.beneficiaries.size() == 0: Comment already has beneficiaries specified.",
    )


def test_beneficiaries_exist(ledger: Ledger) -> None:
    nobody = ContentPayoutBeneficiaries((Beneficiary(AccountName("nobody"), 1),))

    refuses(ledger, altered(POST, extensions=(nobody,)), 'acc != nullptr: Beneficiary "nobody" must exist.')


def test_only_new_transactions_are_refused_for_many_beneficiaries(ledger: Ledger) -> None:
    many = altered(POST, extensions=(ContentPayoutBeneficiaries((Beneficiary(BOB, 1),) * 65),))
    ledger.is_producing = True
    refuses(
        ledger,
        many,
        "cpb.beneficiaries.size() <= CHAIN_MAX_COMMENT_BENEFICIARIES: Cannot specify more than 64 beneficiaries.",
    )

    ledger.is_producing = False
    carry_out(ledger, many)
    assert len(stored(ledger, POST).beneficiaries) == 65


def test_content_goes_with_its_text_and_votes(ledger: Ledger) -> None:
    carry_out(ledger, POST)
    carry_out(ledger, REPLY)
    reply = stored(ledger, REPLY)
    for content in (reply.id, stored(ledger, POST).id):
        for voter in (3, 1):
            ledger.store.create(CONTENT_VOTES, ContentVote(voter=voter, content=content))
    pass_time(ledger, 9)

    assert carry_out(ledger, DeleteContent(BOB, "reply")) == []

    post = stored(ledger, POST)
    assert [each.id for each in ledger.store.scan(CONTENTS)] == [post.id]
    assert [each.content for each in ledger.store.scan(CONTENT_TYPES)] == [post.id]
    assert [each.content for each in ledger.store.scan(CONTENT_VOTES)] == [post.id, post.id]
    assert (post.children, post.active) == (0, NOW + 9)
    assert ledger.account(BOB).subcontent_count == 0

    carry_out(ledger, DeleteContent(ALICE, "post"))
    assert ledger.account(ALICE).content_count == 0


def test_content_with_replies_stays(ledger: Ledger) -> None:
    carry_out(ledger, POST)
    carry_out(ledger, REPLY)

    refuses(ledger, DeleteContent(ALICE, "post"), "content.children == 0: Cannot delete a content with replies.")


def test_unknown_content_cannot_be_deleted(ledger: Ledger) -> None:
    refuses(ledger, DeleteContent(ALICE, "post"), "unknown key: ")


def test_in_blocks_deleting_content_with_votes_does_nothing_and_is_valid(ledger: Ledger) -> None:
    carry_out(ledger, POST)
    change(ledger, stored(ledger, POST), net_rshares=1)
    ledger.is_producing = True
    refuses(
        ledger,
        DeleteContent(ALICE, "post"),
        "content.net_rshares <= 0: Cannot delete a content with network positive votes.",
    )

    ledger.is_producing = False
    carry_out(ledger, DeleteContent(ALICE, "post"))

    assert stored(ledger, POST).net_rshares == 1
    assert ledger.account(ALICE).content_count == 1
