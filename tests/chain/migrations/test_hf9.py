"""Hardfork 9 removes what nobody used."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hardforks import remove_spam
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.money.committee import CANCELLED, COMMITTEE_REQUESTS, REJECTED, CommitteeRequest
from ledgerd.state.objects.money.paid_subscriptions import (
    PAID_SUBSCRIBES,
    PAID_SUBSCRIPTIONS,
    PaidSubscribe,
    PaidSubscription,
)
from ledgerd.state.objects.validators import (
    VALIDATOR_PENALTIES,
    VALIDATOR_VOTES,
    Validator,
    ValidatorPenaltyExpire,
    ValidatorVote,
)
from tests.chain.empty_blocks import schedule
from tests.chain.ledgers import ALICE, BOB, change, create_account, create_validator


@pytest.fixture
def ledger(ledger_at: Callable[[int], Ledger]) -> Ledger:
    return ledger_at(8)


def voter(ledger: Ledger, owner: str, shares: int, *validators: Validator) -> Account:
    """An account that has voted for these."""
    weight = shares // len(validators)
    account = create_account(
        ledger, owner, shares=shares, validators_voted_for=len(validators), validators_vote_weight=weight
    )
    for validator in validators:
        ledger.store.create(VALIDATOR_VOTES, ValidatorVote(validator=validator.id, account=account.id))
        change(ledger, validator, votes=validator.votes + weight, counted_votes=validator.votes + weight)
    return account


def test_a_validator_without_a_block_goes_with_its_penalties(ledger: Ledger) -> None:
    create_validator(ledger, "alice")
    create_validator(ledger, "bob", last_confirmed_block_num=1)
    for owner in (ALICE, BOB):
        ledger.store.create(VALIDATOR_PENALTIES, ValidatorPenaltyExpire(validator=owner))
    schedule(ledger, ALICE, BOB)

    remove_spam(ledger)

    assert ledger.find_validator(ALICE) is None
    assert ledger.find_validator(BOB) is not None
    assert [penalty.validator for penalty in ledger.store.scan(VALIDATOR_PENALTIES)] == [BOB]
    assert ledger.schedule.scheduled == (ALICE, BOB)


def test_votes_for_it_pass_to_the_others_that_its_voters_chose(ledger: Ledger) -> None:
    idle = create_validator(ledger, "idle")
    busy = create_validator(ledger, "busy", last_confirmed_block_num=1)
    both, lone = voter(ledger, "alice", 9_001, idle, busy), voter(ledger, "bob", 500, idle)
    other = voter(ledger, "carol", 70, busy)

    remove_spam(ledger)

    assert busy.votes == 9_001 + 70
    assert (both.validators_voted_for, both.validators_vote_weight, both.valid) == (1, 9_001, False)
    assert (lone.validators_voted_for, lone.validators_vote_weight, lone.valid) == (0, 0, False)
    assert other.valid
    assert {(vote.validator, vote.account) for vote in ledger.store.scan(VALIDATOR_VOTES)} == {
        (busy.id, both.id),
        (busy.id, other.id),
    }


def test_a_voter_of_two_idle_validators_loses_both_votes(ledger: Ledger) -> None:
    one, two = create_validator(ledger, "one"), create_validator(ledger, "two")
    busy = create_validator(ledger, "busy", last_confirmed_block_num=1)
    alice = voter(ledger, "alice", 9_000, one, two, busy)

    remove_spam(ledger)

    assert (alice.validators_voted_for, alice.validators_vote_weight, busy.votes) == (1, 9_000, 9_000)


@pytest.mark.parametrize(
    ("status", "votes", "stays"), [(CANCELLED, 0, False), (CANCELLED, 1, True), (REJECTED, 0, True)]
)
def test_a_cancelled_request_that_nobody_voted_on_goes(ledger: Ledger, status: int, votes: int, *, stays: bool) -> None:
    ledger.store.create(COMMITTEE_REQUESTS, CommitteeRequest(status=status, votes_count=votes))

    remove_spam(ledger)

    assert (ledger.store.find(COMMITTEE_REQUESTS, 0) is not None) is stays


def test_an_offer_that_nobody_subscribed_to_goes(ledger: Ledger) -> None:
    for creator in (ALICE, BOB):
        ledger.store.create(PAID_SUBSCRIPTIONS, PaidSubscription(creator=creator))
    ledger.store.create(PAID_SUBSCRIBES, PaidSubscribe(subscriber=ALICE, creator=BOB))

    remove_spam(ledger)

    assert [offer.creator for offer in ledger.store.scan(PAID_SUBSCRIPTIONS)] == [BOB]
