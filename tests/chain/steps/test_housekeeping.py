from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.housekeeping import clear_closed_committee_requests, clear_used_invites
from ledgerd.state.objects.money.committee import (
    ACTIVE,
    BEING_PAID,
    CANCELLED,
    COMMITTEE_REQUESTS,
    COMMITTEE_VOTES,
    LOW_TURNOUT,
    PAID,
    REJECTED,
    CommitteeRequest,
    CommitteeVote,
)
from ledgerd.state.objects.money.invites import CLAIMED, INVITES, REGISTERED, UNUSED, VESTED, Invite
from tests.chain.ledgers import ALICE, BOB, NOW, run

INVITE_DELAY = 86_400
REQUEST_DELAY = 604_800


@pytest.mark.parametrize("status", [CLAIMED, REGISTERED, VESTED])
def test_used_invites_are_forgotten_after_a_day(ledger: Ledger, status: int) -> None:
    for age in (INVITE_DELAY - 1, INVITE_DELAY, INVITE_DELAY + 1, INVITE_DELAY + 2):
        ledger.store.create(INVITES, Invite(status=status, claim_time=NOW - age))

    assert run(ledger, clear_used_invites) == []

    assert [NOW - each.claim_time for each in ledger.store.scan(INVITES)] == [INVITE_DELAY - 1, INVITE_DELAY]


def test_unused_invites_stay(ledger: Ledger) -> None:
    ledger.store.create(INVITES, Invite(status=UNUSED))

    run(ledger, clear_used_invites)

    assert ledger.store.first(INVITES) is not None


@pytest.mark.parametrize(
    ("status", "is_forgotten"),
    [(ACTIVE, False), (CANCELLED, True), (LOW_TURNOUT, True), (REJECTED, True), (BEING_PAID, False), (PAID, False)],
)
def test_requests_that_came_to_nothing_are_forgotten(ledger: Ledger, status: int, is_forgotten: bool) -> None:
    request = CommitteeRequest(request_id=1, status=status, conclusion_time=NOW - REQUEST_DELAY - 1)
    ledger.store.create(COMMITTEE_REQUESTS, request)

    assert run(ledger, clear_closed_committee_requests) == []

    assert (ledger.store.first(COMMITTEE_REQUESTS) is None) == is_forgotten


def test_requests_are_forgotten_after_a_week_with_their_votes(ledger: Ledger) -> None:
    for number, age in ((1, REQUEST_DELAY), (2, REQUEST_DELAY + 1)):
        request = CommitteeRequest(request_id=number, url=str(number), status=REJECTED, conclusion_time=NOW - age)
        ledger.store.create(COMMITTEE_REQUESTS, request)
    for number, voter in ((2, ALICE), (1, ALICE), (3, ALICE), (2, BOB)):
        ledger.store.create(COMMITTEE_VOTES, CommitteeVote(request_id=number, voter=voter))

    run(ledger, clear_closed_committee_requests)

    assert [each.request_id for each in ledger.store.scan(COMMITTEE_REQUESTS)] == [1]
    assert [each.request_id for each in ledger.store.scan(COMMITTEE_VOTES)] == [1, 3]
