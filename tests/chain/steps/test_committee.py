from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.committee import process_committee_requests
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.virtual import (
    CommitteeApproveRequest,
    CommitteeCancelRequest,
    CommitteePayoutRequest,
    CommitteePayRequest,
)
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_DEPOSITS, PM_LAZY_POOLS, PmLazyDeposit, PmLazyPool
from ledgerd.state.objects.money.committee import (
    ACTIVE,
    BEING_PAID,
    COMMITTEE_REQUESTS,
    COMMITTEE_VOTES,
    LOW_TURNOUT,
    PAID,
    REJECTED,
    CommitteeRequest,
    CommitteeVote,
)
from tests.chain.ledgers import ALICE, BOB, CAROL, HEAD, NOW, change, create_account, run

LedgerAt = Callable[[int], Ledger]

TURNOUT = 100_000
"""Of a million shares, a tenth must vote."""

PAYING_HEAD = HEAD
"""Payments are made every two hundred blocks, and so in this one."""

QUIET_HEAD = HEAD + 1


def with_shares(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE, shares=TURNOUT)
    create_account(ledger, BOB)
    create_account(ledger, CAROL, shares=10 * TURNOUT - TURNOUT)
    change(ledger, ledger.globals, head_block_number=QUIET_HEAD)
    return ledger


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    return with_shares(ledger)


def open_request(ledger: Ledger, number: int = 1, end: int = NOW, **fields: Any) -> CommitteeRequest:
    request = CommitteeRequest(
        request_id=number, url=str(number), creator=ALICE, worker=BOB, required_amount_max=100_000, end_time=end
    )
    for field, value in fields.items():
        setattr(request, field, value)
    return ledger.store.create(COMMITTEE_REQUESTS, request)


def vote(ledger: Ledger, percent: int, voter: AccountName = ALICE) -> None:
    ledger.store.create(COMMITTEE_VOTES, CommitteeVote(request_id=1, voter=voter, vote_percent=percent))


def outcome(request: CommitteeRequest) -> tuple[int, int, int, int]:
    return (
        request.status,
        request.conclusion_time,
        request.conclusion_payout_amount,
        request.remain_payout_amount,
    )


def test_a_request_is_voted_on_until_its_end(ledger: Ledger) -> None:
    request = open_request(ledger, end=NOW + 1)

    assert run(ledger, process_committee_requests) == []
    assert request.status == ACTIVE


def test_an_approved_request_is_to_be_paid_the_part_that_was_voted_for(ledger: Ledger) -> None:
    request = open_request(ledger)
    vote(ledger, 2_500)

    assert run(ledger, process_committee_requests) == [CommitteeApproveRequest(1)]

    assert outcome(request) == (BEING_PAID, NOW, 25_000, 25_000)


def test_the_part_is_cut_to_hundredths_of_a_percent(ledger: Ledger) -> None:
    """The vector of spec 03, section 29: three shares of seven."""
    change(ledger, ledger.globals, total_vesting_shares=7)
    change(ledger, ledger.account(ALICE), vesting_shares=3)
    change(ledger, ledger.account(CAROL), vesting_shares=4)
    request = open_request(ledger)
    vote(ledger, 10_000)
    vote(ledger, 0, CAROL)

    run(ledger, process_committee_requests)

    assert request.conclusion_payout_amount == 42_850


def test_each_vote_is_cut_toward_zero(ledger: Ledger) -> None:
    change(ledger, ledger.account(ALICE), vesting_shares=3 * TURNOUT + 1)
    change(ledger, ledger.account(CAROL), vesting_shares=1)
    request = open_request(ledger)
    vote(ledger, 5_000)
    vote(ledger, -9_999, CAROL)

    run(ledger, process_committee_requests)

    assert request.conclusion_payout_amount == 100_000 * (10_000 * 150_000 // 300_002) // 10_000


@pytest.mark.parametrize(("shares", "status"), [(TURNOUT - 1, LOW_TURNOUT), (TURNOUT, BEING_PAID)])
def test_enough_shares_must_vote(ledger: Ledger, shares: int, status: int) -> None:
    change(ledger, ledger.account(ALICE), vesting_shares=shares)
    request = open_request(ledger)
    vote(ledger, 10_000)

    emitted = run(ledger, process_committee_requests)

    assert request.status == status
    assert emitted == [CommitteeCancelRequest(1) if status == LOW_TURNOUT else CommitteeApproveRequest(1)]
    assert request.conclusion_time == NOW


@pytest.mark.parametrize("percent", [0, -10_000])
def test_a_vote_that_is_not_for_a_request_rejects_it(ledger: Ledger, percent: int) -> None:
    request = open_request(ledger)
    vote(ledger, percent)

    assert run(ledger, process_committee_requests) == [CommitteeCancelRequest(1)]
    assert outcome(request) == (REJECTED, NOW, 0, 0)


@pytest.mark.parametrize(("least", "status", "remaining"), [(25_000, BEING_PAID, 25_000), (25_001, REJECTED, 0)])
def test_the_payment_is_not_less_than_the_least(ledger: Ledger, least: int, status: int, remaining: int) -> None:
    request = open_request(ledger, required_amount_min=least)
    vote(ledger, 2_500)

    run(ledger, process_committee_requests)

    assert outcome(request) == (status, NOW, 25_000, remaining)


def test_before_hardfork_2_every_request_is_rejected(ledger_at: LedgerAt) -> None:
    ledger = with_shares(ledger_at(1))
    request = open_request(ledger)
    vote(ledger, 10_000)

    assert run(ledger, process_committee_requests) == [CommitteeCancelRequest(1)]
    assert outcome(request) == (LOW_TURNOUT, NOW, 0, 0)


def test_of_several_requests_the_older_comes_first_even_if_it_ended_later(ledger: Ledger) -> None:
    open_request(ledger, 1, end=NOW)
    open_request(ledger, 2, end=NOW - 5)
    open_request(ledger, 3, end=NOW + 5)

    assert run(ledger, process_committee_requests) == [CommitteeCancelRequest(1), CommitteeCancelRequest(2)]


def being_paid(ledger: Ledger, number: int, remaining: int) -> CommitteeRequest:
    return open_request(ledger, number, status=BEING_PAID, remain_payout_amount=remaining)


def test_requests_are_paid_equal_parts_of_which_one_too_many_is_counted(ledger: Ledger) -> None:
    change(ledger, ledger.globals, head_block_number=PAYING_HEAD, committee_fund=1_000)
    small, large = being_paid(ledger, 1, 333), being_paid(ledger, 2, 334)

    assert run(ledger, process_committee_requests) == [
        CommitteePayRequest(BOB, 1, tokens(333)),
        CommitteePayoutRequest(1),
        CommitteePayRequest(BOB, 2, tokens(333)),
    ]

    assert (small.status, small.payout_amount, small.remain_payout_amount) == (PAID, 333, 0)
    assert (small.last_payout_time, small.payout_time) == (NOW, NOW)
    assert (large.status, large.payout_amount, large.remain_payout_amount) == (BEING_PAID, 333, 1)
    assert (large.last_payout_time, large.payout_time) == (NOW, 0)
    assert (ledger.account(BOB).balance, ledger.globals.committee_fund) == (666, 334)


def test_an_empty_fund_pays_nothing_and_says_so(ledger: Ledger) -> None:
    change(ledger, ledger.globals, head_block_number=PAYING_HEAD)
    being_paid(ledger, 1, 1)

    assert run(ledger, process_committee_requests) == [CommitteePayRequest(BOB, 1, tokens(0))]


def test_between_payments_nothing_is_paid(ledger: Ledger) -> None:
    change(ledger, ledger.globals, committee_fund=1_000)
    being_paid(ledger, 1, 1)

    assert run(ledger, process_committee_requests) == []


def test_what_was_just_approved_is_paid_in_the_same_block(ledger: Ledger) -> None:
    change(ledger, ledger.globals, head_block_number=PAYING_HEAD, committee_fund=20)
    open_request(ledger, required_amount_max=10)
    vote(ledger, 10_000)

    assert run(ledger, process_committee_requests) == [
        CommitteeApproveRequest(1),
        CommitteePayRequest(BOB, 1, tokens(10)),
        CommitteePayoutRequest(1),
    ]


def with_pool(ledger: Ledger, *, value: int, shares: int, deposited: int, waiting: int = 0) -> Ledger:
    """A pool whose tokens are in three places, with a deposit of Alice's."""
    pool = PmLazyPool(
        total_shares=shares,
        free_balance=value - 7,
        allocated_balance=4,
        leverage_fund_used=3,
        pending_withdrawals=waiting,
    )
    ledger.store.create(PM_LAZY_POOLS, pool)
    ledger.store.create(PM_LAZY_DEPOSITS, PmLazyDeposit(account=ALICE, shares=deposited))
    return ledger


@pytest.mark.parametrize(("percent", "payment"), [(10_000, 100_000), (5_000, 50_000)])
def test_votes_on_a_request_count_with_the_deposits_of_voters(ledger: Ledger, percent: int, payment: int) -> None:
    with_pool(ledger, value=1_000, shares=1_000, deposited=1_000)
    request = open_request(ledger)
    vote(ledger, percent)
    run(ledger, process_committee_requests)
    assert outcome(request) == (BEING_PAID, NOW, payment, payment)


@pytest.mark.parametrize(("deposited", "status"), [(99, LOW_TURNOUT), (100, BEING_PAID)])
def test_the_pool_raises_what_must_vote(ledger: Ledger, deposited: int, status: int) -> None:
    """A tenth of two million: Alice's hundred thousand shares, and a hundred tokens of the pool's thousand."""
    with_pool(ledger, value=1_000, shares=1_000, deposited=deposited)
    request = open_request(ledger)
    vote(ledger, 10_000)
    run(ledger, process_committee_requests)
    assert request.status == status


def test_a_vote_against_weighs_with_its_deposit_too(ledger: Ledger) -> None:
    with_pool(ledger, value=1_000, shares=1_000, deposited=501)
    request = open_request(ledger)
    vote(ledger, -10_000)
    vote(ledger, 10_000, CAROL)
    run(ledger, process_committee_requests)
    # 900,000 shares for it and 601,000 against it: 19.92 %.
    assert request.conclusion_payout_amount == 19_920


def test_a_pool_beyond_all_shares_fails_the_block_though_nothing_is_due(ledger: Ledger) -> None:
    with_pool(ledger, value=2**63 - 1, shares=1, deposited=1)
    with pytest.raises(RuleViolation):
        run(ledger, process_committee_requests)
