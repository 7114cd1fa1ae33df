"""Votes, content and its removal: bytes, JSON, rules, authorities."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.protocol.operations.accounts.content import Content, ContentPayoutBeneficiaries, DeleteContent, Vote
from ledgerd.protocol.operations.base import regular
from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

AUTHOR = AccountName("a33281605")
ANOTHER = AccountName("a55325516")

VOTE = Vote(AccountName("viz"), ANOTHER, "post-8870853", -100)
CONTENT = Content(
    NO_NAME,
    "cat",
    AUTHOR,
    "post-50003089",
    "u0442u0435u043cu0430",
    "b",
    2500,
    "",
    (ContentPayoutBeneficiaries((Beneficiary(AUTHOR, 2695),)),),
)
REPLY = Content(
    AccountName("a57433179"),
    "post-92683310",
    AccountName("s54400012.viz"),
    "post-7467558",
    "t",
    "b",
    10_000,
    "",
    (),
)
DELETION = DeleteContent(AccountName("a60267725"), "post-1")


def test_a_recorded_vote_against() -> None:
    round_trips(
        VOTE,
        "000376697a096135353332353531360c706f73742d383837303835339cff",
        ["vote", {"voter": "viz", "author": "a55325516", "permlink": "post-8870853", "weight": -100}],
    )


def test_recorded_content_with_a_beneficiary() -> None:
    round_trips(
        CONTENT,
        "010003636174096133333238313630350d706f73742d3530303033303839"
        "1475303434327530343335753034336375303433300162c4090001000109613333323831363035870a",
        [
            "content",
            {
                "parent_author": "",
                "parent_permlink": "cat",
                "author": "a33281605",
                "permlink": "post-50003089",
                "title": "u0442u0435u043cu0430",
                "body": "b",
                "curation_percent": 2500,
                "json_metadata": "",
                "extensions": [[0, {"beneficiaries": [{"account": "a33281605", "weight": 2695}]}]],
            },
        ],
    )


def test_a_recorded_reply() -> None:
    round_trips(
        REPLY,
        "01096135373433333137390d706f73742d39323638333331300d7335343430303031322e76697a"
        "0c706f73742d373436373535380174016210270000",
        [
            "content",
            {
                "parent_author": "a57433179",
                "parent_permlink": "post-92683310",
                "author": "s54400012.viz",
                "permlink": "post-7467558",
                "title": "t",
                "body": "b",
                "curation_percent": 10000,
                "json_metadata": "",
                "extensions": [],
            },
        ],
    )


def test_a_recorded_removal() -> None:
    round_trips(
        DELETION,
        "090961363032363737323506706f73742d31",
        ["delete_content", {"author": "a60267725", "permlink": "post-1"}],
    )


def test_missing_keys_are_empty_and_zero() -> None:
    assert codec_of(Vote).from_json({}) == Vote(NO_NAME, NO_NAME, "", 0)
    assert codec_of(Content).from_json({}) == Content(NO_NAME, "", NO_NAME, "", "", "", 0, "", ())
    assert codec_of(DeleteContent).from_json({}) == DeleteContent(NO_NAME, "")


def test_of_two_extensions_of_one_kind_the_first_stays() -> None:
    alice, bob = (ContentPayoutBeneficiaries((Beneficiary(AccountName(name), 1),)) for name in ("alice", "bob"))
    codec = codec_of(Content)
    raw = codec.encode(REPLY)[:-1] + bytes.fromhex("02000105616c6963650100000103626f620100")
    assert codec.decode_exactly(raw) == changed(REPLY, extensions=(alice,))
    assert codec.encode(changed(REPLY, extensions=(bob, alice))) == codec.encode(changed(REPLY, extensions=(bob,)))


def test_names_have_to_be_valid() -> None:
    asks_for_names(VOTE, "voter", "author")
    asks_for_names(REPLY, "parent_author", "author")
    asks_for_names(DELETION, "author")


def test_a_vote_weighs_all_of_a_percentage_at_most() -> None:
    accepts(changed(VOTE, weight=10_000))
    accepts(changed(VOTE, weight=-10_000))
    message = "abs(weight) <= CHAIN_100_PERCENT: Weight is not a percentage"
    refuses(changed(VOTE, weight=10_001), message)
    refuses(changed(VOTE, weight=-10_001), message)


def test_a_permlink_is_shorter_than_256_bytes() -> None:
    too_long = "permlink.size() < CHAIN_MAX_URL_LENGTH: permlink is too long"
    accepts(changed(VOTE, permlink="p" * 255))
    refuses(changed(VOTE, permlink="p" * 256), too_long)
    refuses(changed(REPLY, permlink="p" * 256), too_long)
    refuses(changed(REPLY, parent_permlink="p" * 256), too_long)
    refuses(changed(DELETION, permlink="p" * 256), too_long)


def test_a_permlink_is_utf8_and_may_be_empty() -> None:
    accepts(changed(VOTE, permlink=""))
    refuses(changed(VOTE, permlink="\udcff"), "fc::is_utf8(permlink): permlink not formatted in UTF8")


def test_the_removal_looks_at_the_permlink_before_the_name() -> None:
    refuses(
        changed(DELETION, author=AccountName("a"), permlink="p" * 256),
        "permlink.size() < CHAIN_MAX_URL_LENGTH: permlink is too long",
    )


def test_a_title_is_shorter_than_256_bytes_and_utf8() -> None:
    accepts(changed(REPLY, title=""))
    accepts(changed(REPLY, title="t" * 255))
    refuses(changed(REPLY, title="t" * 256), "title.size() < 256: Title larger than size limit")
    refuses(changed(REPLY, title="é" * 128), "title.size() < 256: Title larger than size limit")
    refuses(changed(REPLY, title="\udcff"), "fc::is_utf8(title): Title not formatted in UTF8")


def test_a_body_says_something_in_utf8() -> None:
    refuses(changed(REPLY, body=""), "body.size() > 0: Body is empty")
    refuses(changed(REPLY, body="\udcff"), "fc::is_utf8(body): Body not formatted in UTF8")


def test_content_looks_at_its_texts_before_its_names() -> None:
    refuses(changed(REPLY, author=AccountName("a"), body=""), "body.size() > 0: Body is empty")


def test_the_part_of_curators_is_a_percentage() -> None:
    accepts(changed(REPLY, curation_percent=0))
    accepts(changed(REPLY, curation_percent=10_000))
    refuses(changed(REPLY, curation_percent=-1), "curation_percent >= 0: ")
    refuses(changed(REPLY, curation_percent=10_001), "curation_percent <= CHAIN_100_PERCENT: ")


def test_metadata_is_json_or_nothing() -> None:
    accepts(changed(REPLY, json_metadata='{"a":1}'))
    refuses(
        changed(REPLY, json_metadata='{"a":'),
        "fc::json::is_valid(json_metadata): JSON Metadata not valid JSON",
    )


def test_metadata_of_content_need_not_be_utf8() -> None:
    accepts(changed(REPLY, json_metadata='"\udcff"'))


def test_an_extension_that_names_no_beneficiary_is_refused() -> None:
    refuses(
        changed(REPLY, extensions=(ContentPayoutBeneficiaries(()),)),
        "beneficiaries.size(): Must specify at least one beneficiary",
    )


def test_the_regular_authority_votes_and_writes() -> None:
    assert VOTE.authorities() == regular(AccountName("viz"))
    assert CONTENT.authorities() == regular(AUTHOR)
    assert DELETION.authorities() == regular(AccountName("a60267725"))
