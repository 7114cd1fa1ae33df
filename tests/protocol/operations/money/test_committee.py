"""Requests to the committee's fund and votes on them: bytes, JSON, rules, authorities."""

from __future__ import annotations

from ledgerd.codec import codec_of
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.base import regular
from ledgerd.protocol.operations.money.committee import (
    CommitteeVoteRequest,
    CommitteeWorkerCancelRequest,
    CommitteeWorkerCreateRequest,
)
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, changed, refuses, round_trips

VIZ = AccountName("viz")
CREATOR = AccountName("a1219882")

REQUEST = CommitteeWorkerCreateRequest(
    CREATOR, "https://example.test/work", VIZ, tokens(14_404), tokens(43_212), 432_000
)
CANCEL = CommitteeWorkerCancelRequest(VIZ, 15)
VOTE = CommitteeVoteRequest(VIZ, 3, 100)


def test_a_recorded_request() -> None:
    round_trips(
        REQUEST,
        "230861313231393838321968747470733a2f2f6578616d706c652e746573742f776f726b0376697a"
        "44380000000000000356495a00000000cca80000000000000356495a0000000080970600",
        [
            "committee_worker_create_request",
            {
                "creator": "a1219882",
                "url": "https://example.test/work",
                "worker": "viz",
                "required_amount_min": "14.404 VIZ",
                "required_amount_max": "43.212 VIZ",
                "duration": 432000,
            },
        ],
    )


def test_a_recorded_cancellation() -> None:
    round_trips(CANCEL, "240376697a0f000000", ["committee_worker_cancel_request", {"creator": "viz", "request_id": 15}])


def test_a_recorded_vote() -> None:
    round_trips(
        VOTE,
        "250376697a030000006400",
        ["committee_vote_request", {"voter": "viz", "request_id": 3, "vote_percent": 100}],
    )


def test_missing_keys_are_empty_and_zero() -> None:
    nothing = tokens(0)
    assert codec_of(CommitteeWorkerCreateRequest).from_json({}) == CommitteeWorkerCreateRequest(
        NO_NAME, "", NO_NAME, nothing, nothing, 0
    )
    assert codec_of(CommitteeWorkerCancelRequest).from_json({}) == CommitteeWorkerCancelRequest(NO_NAME, 0)
    assert codec_of(CommitteeVoteRequest).from_json({}) == CommitteeVoteRequest(NO_NAME, 0, 0)


def test_names_are_not_looked_at() -> None:
    accepts(changed(REQUEST, creator=NO_NAME, worker=NO_NAME))
    accepts(changed(CANCEL, creator=NO_NAME))
    accepts(changed(VOTE, voter=NO_NAME))


def test_a_page_has_less_than_256_bytes_of_any_kind() -> None:
    accepts(changed(REQUEST, url="\udcff" * 255))
    refuses(changed(REQUEST, url=""), "url.size() > 0: URL size must be greater than 0")
    message = "url.size() < CHAIN_MAX_URL_LENGTH: URL size must be lesser than 256"
    refuses(changed(REQUEST, url="u" * 256), message)
    refuses(changed(REQUEST, url="é" * 128), message)


def test_amounts_are_tokens_of_which_the_largest_is_more_than_the_smallest() -> None:
    accepts(changed(REQUEST, required_amount_min=tokens(0), required_amount_max=tokens(1)))
    refuses(changed(REQUEST, required_amount_min=tokens(-1)), "required_amount_min.amount >= 0: ")
    refuses(changed(REQUEST, required_amount_min=shares(0)), "required_amount_min.symbol == TOKEN_SYMBOL: ")
    refuses(
        changed(REQUEST, required_amount_max=tokens(14_404)),
        "required_amount_max.amount > required_amount_min.amount: ",
    )
    refuses(
        changed(REQUEST, required_amount_max=shares(43_212)),
        "required_amount_max.symbol == TOKEN_SYMBOL: ",
    )


def test_a_request_asks_for_half_a_million_tokens_at_most() -> None:
    accepts(changed(REQUEST, required_amount_max=tokens(500_000_000)))
    refuses(
        changed(REQUEST, required_amount_max=tokens(500_000_001)),
        "required_amount_max.amount <= COMMITTEE_MAX_REQUIRED_AMOUNT: ",
    )


def test_a_request_lasts_five_to_thirty_days() -> None:
    accepts(changed(REQUEST, duration=2_592_000))
    refuses(changed(REQUEST, duration=431_999), "duration >= COMMITTEE_MIN_DURATION: ")
    refuses(changed(REQUEST, duration=2_592_001), "duration <= COMMITTEE_MAX_DURATION: ")


def test_on_the_testnet_an_hour_suffices() -> None:
    accepts(changed(REQUEST, duration=3_600), TESTNET)
    refuses(changed(REQUEST, duration=3_599), "duration >= COMMITTEE_MIN_DURATION: ", TESTNET)


def test_a_vote_is_a_percentage_for_or_against() -> None:
    accepts(changed(VOTE, vote_percent=10_000))
    accepts(changed(VOTE, vote_percent=-10_000))
    refuses(changed(VOTE, vote_percent=-10_001), "vote_percent >= -CHAIN_100_PERCENT: ")
    refuses(changed(VOTE, vote_percent=10_001), "vote_percent <= CHAIN_100_PERCENT: ")


def test_the_regular_authority_asks_and_votes() -> None:
    assert REQUEST.authorities() == regular(CREATOR)
    assert CANCEL.authorities() == regular(VIZ)
    assert VOTE.authorities() == regular(VIZ)
