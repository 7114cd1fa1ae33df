from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.networks.hardforks import known_until
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations.money.committee import (
    CommitteeVoteRequest,
    CommitteeWorkerCancelRequest,
    CommitteeWorkerCreateRequest,
)
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.money.committee import (
    ACTIVE,
    BEING_PAID,
    CANCELLED,
    COMMITTEE_REQUESTS,
    COMMITTEE_VOTE_BY_REQUEST,
    REQUEST_BY_NUMBER,
    CommitteeRequest,
)
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    carry_out,
    change,
    create_account,
    fresh_ledger,
    pass_time,
    refuses,
    set_median,
)

LedgerAt = Callable[[int], Ledger]

FEE = 100_000
PAUSE = 86_400
DURATION = 432_000
CREATE = CommitteeWorkerCreateRequest(ALICE, "https://work.test", BOB, tokens(1), tokens(1_000), DURATION)

NOT_FOUND = "itr != idx.end(): Committee request id not found."
NOT_ACTIVE = "false: Committee request is not active."
SAME_VOTE = "vote_percent != o.vote_percent: Committee vote percent equal last vote."
TOO_SMALL = "voter.effective_vesting_shares() >= min_shares: Insufficient vesting for committee vote (min 1000.000 VIZ)"
FULL = "itr->votes_count < median_props.committee_votes_per_request: Committee request vote cap reached"

SHARES_OF_MINIMUM = 1_000_000_000
"""What a thousand tokens are worth where a share costs a thousandth of one (spec 10, section 12.6)."""


def other(url: str) -> CommitteeWorkerCreateRequest:
    return msgspec.structs.replace(CREATE, url=url)


def request(ledger: Ledger, number: int = 1) -> CommitteeRequest:
    return ledger.store.at(REQUEST_BY_NUMBER, number)


@pytest.fixture
def funded(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE, balance=10 * FEE)
    create_account(ledger, BOB)
    create_account(ledger, CAROL)
    return ledger


def test_a_request_gets_the_next_number_for_the_fee(funded: Ledger) -> None:
    change(funded, funded.globals, committee_requests=41)

    assert carry_out(funded, CREATE) == []

    created = funded.store.get(COMMITTEE_REQUESTS, 0)
    assert (created.request_id, created.status, created.votes_count) == (42, ACTIVE, 0)
    assert (created.creator, created.worker, created.url) == (ALICE, BOB, "https://work.test")
    assert (created.required_amount_min, created.required_amount_max) == (1, 1_000)
    assert (created.start_time, created.duration, created.end_time) == (NOW, DURATION, NOW + DURATION)
    assert funded.globals.committee_requests == 42
    assert (funded.account(ALICE).balance, funded.globals.committee_fund) == (9 * FEE, FEE)


def test_a_request_asks_for_the_whole_fee(ledger: Ledger) -> None:
    alice = create_account(ledger, ALICE, balance=FEE - 1)
    create_account(ledger, BOB)

    refuses(
        ledger,
        CREATE,
        "creator.balance >= median_props.committee_create_request_fee: "
        "Account does not have sufficient funds to create a committee request: required 100.000 VIZ.",
    )
    change(ledger, alice, balance=FEE)
    carry_out(ledger, CREATE)


def test_a_request_is_free_before_hardfork_9(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(8)
    create_account(ledger, ALICE)
    create_account(ledger, BOB)

    carry_out(ledger, CREATE)

    assert (ledger.account(ALICE).balance, ledger.globals.committee_fund) == (0, 0)


@pytest.mark.parametrize("missing", [ALICE, BOB])
def test_creator_and_worker_exist(ledger: Ledger, missing: AccountName) -> None:
    create_account(ledger, BOB if missing == ALICE else ALICE, balance=FEE)

    refuses(ledger, CREATE, "unknown key: ")


@pytest.mark.parametrize("url", ["https://work.test", "https://work.test\0 once more"])
def test_a_page_is_used_once_by_a_creator(funded: Ledger, url: str) -> None:
    carry_out(funded, CREATE)
    pass_time(funded, PAUSE)

    refuses(funded, other(url), "!find: Committee request with same creator and url already exist.")
    change(funded, funded.account(BOB), balance=FEE)
    carry_out(funded, msgspec.structs.replace(CREATE, creator=BOB))


def test_a_creator_pauses_between_requests(funded: Ledger) -> None:
    carry_out(funded, CREATE)
    carry_out(funded, CommitteeWorkerCancelRequest(ALICE, 1))
    pass_time(funded, PAUSE - 1)

    refuses(
        funded,
        other("https://other.test"),
        "!find: Committee request can not be created by same creator before COMMITTEE_REQUEST_PER_TIME ends.",
    )
    pass_time(funded, 1)
    carry_out(funded, other("https://other.test"))
    assert request(funded, 2).start_time == NOW + PAUSE


def test_the_latest_request_counts_for_the_pause(funded: Ledger) -> None:
    carry_out(funded, CREATE)
    pass_time(funded, PAUSE)
    carry_out(funded, other("second"))
    pass_time(funded, PAUSE - 1)

    refuses(
        funded,
        other("third"),
        "!find: Committee request can not be created by same creator before COMMITTEE_REQUEST_PER_TIME ends.",
    )


def test_a_creator_cancels_an_active_request(funded: Ledger) -> None:
    carry_out(funded, CREATE)
    carry_out(funded, CommitteeVoteRequest(CAROL, 1, 100))
    pass_time(funded, 9)

    assert carry_out(funded, CommitteeWorkerCancelRequest(ALICE, 1)) == []

    cancelled = request(funded)
    assert (cancelled.status, cancelled.conclusion_time) == (CANCELLED, NOW + 9)
    assert funded.store.lookup(COMMITTEE_VOTE_BY_REQUEST, 1) is not None
    refuses(funded, CommitteeWorkerCancelRequest(ALICE, 1), NOT_ACTIVE)


def test_only_the_creator_cancels(funded: Ledger) -> None:
    carry_out(funded, CREATE)
    change(funded, request(funded), status=BEING_PAID)

    refuses(
        funded,
        CommitteeWorkerCancelRequest(BOB, 1),
        "false: Committee request can canceled only by creator.",
    )


def test_accounts_and_requests_that_are_not_there(funded: Ledger) -> None:
    nobody = AccountName("nobody")

    refuses(funded, CommitteeWorkerCancelRequest(ALICE, 1), NOT_FOUND)
    refuses(funded, CommitteeVoteRequest(ALICE, 1, 0), NOT_FOUND)
    refuses(funded, CommitteeWorkerCancelRequest(nobody, 1), "unknown key: ")
    refuses(funded, CommitteeVoteRequest(nobody, 1, 0), "unknown key: ")


def test_a_vote_is_stored_and_counted_even_for_nothing(funded: Ledger) -> None:
    carry_out(funded, CREATE)

    assert carry_out(funded, CommitteeVoteRequest(CAROL, 1, 0)) == []
    carry_out(funded, CommitteeVoteRequest(BOB, 1, -10_000))

    votes = list(funded.store.scan(COMMITTEE_VOTE_BY_REQUEST, lower=(1,)))
    assert [(each.voter, each.vote_percent, each.last_update) for each in votes] == [
        (CAROL, 0, NOW),
        (BOB, -10_000, NOW),
    ]
    assert request(funded).votes_count == 2


def test_a_vote_changes_to_another_percentage(funded: Ledger) -> None:
    carry_out(funded, CREATE)
    carry_out(funded, CommitteeVoteRequest(CAROL, 1, 100))
    pass_time(funded, 3)

    refuses(funded, CommitteeVoteRequest(CAROL, 1, 100), f"vote_itr->{SAME_VOTE}")
    carry_out(funded, CommitteeVoteRequest(CAROL, 1, 101))

    (vote,) = funded.store.scan(COMMITTEE_VOTE_BY_REQUEST)
    assert (vote.vote_percent, vote.last_update, request(funded).votes_count) == (101, NOW + 3, 1)


def test_a_program_that_stops_at_hardfork_13_words_the_same_vote_as_it_did_then(tmp_path: Path) -> None:
    network = msgspec.structs.replace(MAINNET, hardforks=known_until(MAINNET.hardforks, 13))
    ledger = fresh_ledger(tmp_path, 13, network)
    create_account(ledger, ALICE)
    open_request(ledger)
    carry_out(ledger, CommitteeVoteRequest(ALICE, 1, 100))
    refuses(ledger, CommitteeVoteRequest(ALICE, 1, 100), f"cur_vote.{SAME_VOTE}")


def open_request(ledger: Ledger, **fields: Any) -> CommitteeRequest:
    opened = CommitteeRequest(request_id=1, url="1", creator=ALICE, worker=BOB, end_time=NOW + 1)
    for field, value in fields.items():
        setattr(opened, field, value)
    return ledger.store.create(COMMITTEE_REQUESTS, opened)


def test_since_hardfork_14_a_voter_needs_the_shares_that_the_least_is_worth(ledger_at: LedgerAt) -> None:
    """The vector of spec 10, section 12.6: so many shares do, and one less does not."""
    for hardfork in (13, 14):
        ledger = ledger_at(hardfork)
        create_account(ledger, ALICE, shares=SHARES_OF_MINIMUM)
        create_account(ledger, BOB, shares=SHARES_OF_MINIMUM - 1, received_vesting_shares=1)
        create_account(ledger, CAROL, shares=SHARES_OF_MINIMUM, delegated_vesting_shares=1)
        globals_ = ledger.globals
        change(ledger, globals_, total_vesting_fund=3_000_000_000, total_vesting_shares=3_000_000_000_000)
        open_request(ledger)
        carry_out(ledger, CommitteeVoteRequest(ALICE, 1, 1))
        carry_out(ledger, CommitteeVoteRequest(BOB, 1, 1))
        if hardfork == 13:
            carry_out(ledger, CommitteeVoteRequest(CAROL, 1, 1))
        else:
            refuses(ledger, CommitteeVoteRequest(CAROL, 1, 1), TOO_SMALL)


def test_the_least_is_what_validators_agree_on_and_its_text_is_not(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(14)
    create_account(ledger, ALICE, shares=1_999)
    create_account(ledger, BOB, shares=2_000)
    change(ledger, ledger.globals, total_vesting_fund=3_000, total_vesting_shares=3_000_000)
    open_request(ledger)
    set_median(ledger, committee_vote_min_vesting=tokens(2))
    refuses(ledger, CommitteeVoteRequest(ALICE, 1, 1), TOO_SMALL)
    carry_out(ledger, CommitteeVoteRequest(BOB, 1, 1))


def test_who_has_become_too_small_cannot_change_a_vote_either(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(14)
    alice = create_account(ledger, ALICE, shares=SHARES_OF_MINIMUM)
    open_request(ledger)
    carry_out(ledger, CommitteeVoteRequest(ALICE, 1, 1))
    change(ledger, alice, vesting_shares=SHARES_OF_MINIMUM - 1)
    # That the vote is the same is looked at later.
    refuses(ledger, CommitteeVoteRequest(ALICE, 1, 1), TOO_SMALL)
    refuses(ledger, CommitteeVoteRequest(ALICE, 2, 1), NOT_FOUND)
    change(ledger, request(ledger), status=CANCELLED)
    refuses(ledger, CommitteeVoteRequest(ALICE, 1, 1), NOT_ACTIVE)


def test_since_hardfork_14_a_request_takes_so_many_votes(ledger_at: LedgerAt) -> None:
    for hardfork in (13, 14):
        ledger = ledger_at(hardfork)
        for name in (ALICE, BOB, CAROL):
            create_account(ledger, name, shares=SHARES_OF_MINIMUM)
        open_request(ledger, votes_count=99_998)
        carry_out(ledger, CommitteeVoteRequest(ALICE, 1, 1))
        carry_out(ledger, CommitteeVoteRequest(BOB, 1, 1))
        assert request(ledger).votes_count == 100_000
        if hardfork == 13:
            carry_out(ledger, CommitteeVoteRequest(CAROL, 1, 1))
        else:
            refuses(ledger, CommitteeVoteRequest(CAROL, 1, 1), FULL)
            # A vote that is there changes as before.
            carry_out(ledger, CommitteeVoteRequest(BOB, 1, 2))
            refuses(ledger, CommitteeVoteRequest(BOB, 1, 2), f"vote_itr->{SAME_VOTE}")
            set_median(ledger, committee_votes_per_request=100_001)
            carry_out(ledger, CommitteeVoteRequest(CAROL, 1, 1))


def test_the_status_alone_says_whether_a_request_is_voted_on(funded: Ledger) -> None:
    carry_out(funded, CREATE)
    pass_time(funded, DURATION + 1)
    carry_out(funded, CommitteeVoteRequest(CAROL, 1, 100))

    change(funded, request(funded), status=BEING_PAID)
    refuses(funded, CommitteeVoteRequest(CAROL, 1, 200), NOT_ACTIVE)
