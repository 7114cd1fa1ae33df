"""Hardfork 7 removes accounts with invalid names, and all that hangs on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hf7 import remove_invalid_accounts
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNT_AUTHORITIES, ACCOUNT_METADATA, Account
from ledgerd.state.objects.accounts.proposals import PROPOSALS, REQUIRED_APPROVALS, Proposal, RequiredApproval
from ledgerd.state.objects.accounts.recovery import (
    ACCOUNT_RECOVERY_REQUESTS,
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    MASTER_AUTHORITY_HISTORY,
    AccountRecoveryRequest,
    ChangeRecoveryAccountRequest,
    MasterAuthorityHistory,
)
from ledgerd.state.objects.money.committee import COMMITTEE_REQUESTS, COMMITTEE_VOTES, CommitteeRequest, CommitteeVote
from ledgerd.state.objects.money.escrow import ESCROWS, Escrow
from ledgerd.state.objects.money.invites import INVITES, Invite
from ledgerd.state.objects.money.paid_subscriptions import (
    PAID_SUBSCRIBES,
    PAID_SUBSCRIPTIONS,
    PaidSubscribe,
    PaidSubscription,
)
from ledgerd.state.objects.money.vesting import (
    FIX_VESTING_DELEGATIONS,
    VESTING_DELEGATION_EXPIRATIONS,
    VESTING_DELEGATIONS,
    WITHDRAW_VESTING_ROUTES,
    FixVestingDelegation,
    VestingDelegation,
    VestingDelegationExpiration,
    WithdrawVestingRoute,
)
from ledgerd.state.objects.validators import (
    VALIDATOR_PENALTIES,
    VALIDATOR_VOTES,
    ValidatorPenaltyExpire,
    ValidatorVote,
)
from ledgerd.state.tables.tables import Entity, Table
from tests.chain.empty_blocks import schedule
from tests.chain.ledgers import ALICE, BOB, change, create_account, create_validator

BAD = AccountName("b")

OF_AN_ACCOUNT: tuple[tuple[Table[Any], Callable[[AccountName], Entity]], ...] = (
    (MASTER_AUTHORITY_HISTORY, lambda owner: MasterAuthorityHistory(account=owner)),
    (ACCOUNT_RECOVERY_REQUESTS, lambda owner: AccountRecoveryRequest(account_to_recover=owner)),
    (CHANGE_RECOVERY_ACCOUNT_REQUESTS, lambda owner: ChangeRecoveryAccountRequest(account_to_recover=owner)),
    (COMMITTEE_VOTES, lambda owner: CommitteeVote(voter=owner)),
    (COMMITTEE_REQUESTS, lambda owner: CommitteeRequest(creator=owner, worker=COMMITTEE_ACCOUNT)),
    (COMMITTEE_REQUESTS, lambda owner: CommitteeRequest(creator=COMMITTEE_ACCOUNT, worker=owner, url=owner)),
    (PAID_SUBSCRIBES, lambda owner: PaidSubscribe(subscriber=owner, creator=COMMITTEE_ACCOUNT)),
    (PAID_SUBSCRIBES, lambda owner: PaidSubscribe(subscriber=COMMITTEE_ACCOUNT, creator=owner)),
    (PAID_SUBSCRIPTIONS, lambda owner: PaidSubscription(creator=owner)),
    (PROPOSALS, lambda owner: Proposal(author=owner)),
    (REQUIRED_APPROVALS, lambda owner: RequiredApproval(account=owner)),
)


@pytest.fixture
def ledger(ledger_at: Callable[[int], Ledger]) -> Ledger:
    """Alice and bob are valid."""
    ledger = ledger_at(6)
    create_account(ledger, ALICE, shares=10_000)
    create_account(ledger, BOB, shares=10_000)
    return ledger


def invalid(ledger: Ledger, **fields: Any) -> Account:
    return create_account(ledger, BAD, valid=False, **fields)


def all_of(ledger: Ledger, table: Table[Any]) -> list[Any]:
    return list(ledger.store.scan(table))


def vote(ledger: Ledger, voter: Account, owner: str) -> None:
    validator = ledger.validator(AccountName(owner))
    ledger.store.create(VALIDATOR_VOTES, ValidatorVote(validator=validator.id, account=voter.id))


def test_an_invalid_account_goes_and_the_committee_has_what_it_had(ledger: Ledger) -> None:
    invalid(ledger, balance=70, shares=9_000)

    remove_invalid_accounts(ledger)

    assert ledger.find_account(BAD) is None
    committee = ledger.account(COMMITTEE_ACCOUNT)
    assert (committee.balance, committee.vesting_shares) == (70, 9_000)
    assert all(record.account != BAD for record in all_of(ledger, ACCOUNT_AUTHORITIES))
    assert all(record.account != BAD for record in all_of(ledger, ACCOUNT_METADATA))
    assert ledger.find_account(ALICE) is not None


@pytest.mark.parametrize(("table", "record_of"), OF_AN_ACCOUNT)
def test_what_belongs_to_an_invalid_account_goes_with_it(
    ledger: Ledger, table: Table[Any], record_of: Callable[[AccountName], Entity]
) -> None:
    invalid(ledger)
    ledger.store.create(table, record_of(BAD))
    kept = ledger.store.create(table, record_of(ALICE))

    remove_invalid_accounts(ledger)

    assert all_of(ledger, table) == [kept]


def test_what_hardfork_6_noted_is_taken_off(ledger: Ledger) -> None:
    for delegatee, amount in ((BOB, 30), (NO_NAME, 4)):
        noted = FixVestingDelegation(delegator=ALICE, delegatee=delegatee, vesting_shares=amount)
        ledger.store.create(FIX_VESTING_DELEGATIONS, noted)

    remove_invalid_accounts(ledger)

    assert ledger.account(ALICE).delegated_vesting_shares == -34
    assert ledger.account(BOB).received_vesting_shares == -30
    assert all_of(ledger, FIX_VESTING_DELEGATIONS) == []


def test_its_delegations_both_ways_end(ledger: Ledger) -> None:
    invalid(ledger, delegated_vesting_shares=15, received_vesting_shares=20)
    change(ledger, ledger.account(ALICE), received_vesting_shares=10, delegated_vesting_shares=20)
    for delegator, delegatee, amount in ((BAD, ALICE, 10), (ALICE, BAD, 20), (ALICE, BOB, 1)):
        lent = VestingDelegation(delegator=delegator, delegatee=delegatee, vesting_shares=amount)
        ledger.store.create(VESTING_DELEGATIONS, lent)
    returning = VestingDelegationExpiration(delegator=BAD, vesting_shares=5)
    ledger.store.create(VESTING_DELEGATION_EXPIRATIONS, returning)

    remove_invalid_accounts(ledger)

    alice = ledger.account(ALICE)
    assert (alice.received_vesting_shares, alice.delegated_vesting_shares) == (0, 0)
    assert [lent.delegatee for lent in all_of(ledger, VESTING_DELEGATIONS)] == [BOB]
    assert all_of(ledger, VESTING_DELEGATION_EXPIRATIONS) == []


def test_its_proxy_loses_its_shares(ledger: Ledger) -> None:
    invalid(ledger, shares=70, proxied_vsf_votes=(5, 6, 0, 0), proxy=ALICE)
    change(ledger, ledger.account(ALICE), proxied_vsf_votes=(70, 5, 6, 0))

    remove_invalid_accounts(ledger)

    assert ledger.account(ALICE).proxied_vsf_votes == (0, 0, 0, 0)


def test_its_votes_are_taken_off_twice(ledger: Ledger) -> None:
    account = invalid(ledger, shares=200, validators_voted_for=2, validators_vote_weight=100)
    one, two = create_validator(ledger, "one", votes=1_000), create_validator(ledger, "two", votes=150)
    vote(ledger, account, "one")
    vote(ledger, account, "two")

    remove_invalid_accounts(ledger)

    assert (one.votes, two.votes) == (800, 0)
    assert all_of(ledger, VALIDATOR_VOTES) == []


def test_as_a_validator_it_leaves_its_places_empty_and_its_voters_their_other_votes(ledger: Ledger) -> None:
    invalid(ledger)
    create_validator(ledger, BAD)
    other = create_validator(ledger, "other", votes=5_000)
    alice = ledger.account(ALICE)
    change(ledger, alice, validators_voted_for=2, validators_vote_weight=5_000)
    vote(ledger, alice, BAD)
    vote(ledger, alice, "other")
    ledger.store.create(VALIDATOR_PENALTIES, ValidatorPenaltyExpire(validator=BAD))
    schedule(ledger, "other", BAD, "other", BAD)

    remove_invalid_accounts(ledger)

    assert ledger.find_validator(BAD) is None
    assert ledger.schedule.scheduled == ("other", "", "other", "")
    assert len(ledger.schedule.current_shuffled_validators) == 21
    assert (alice.validators_voted_for, alice.validators_vote_weight, other.votes) == (1, 10_000, 10_000)
    assert alice.valid
    assert all_of(ledger, VALIDATOR_PENALTIES) == []


def test_its_withdraw_routes_go_those_to_it_only_when_they_are_the_first_accounts(ledger: Ledger) -> None:
    account, alice = invalid(ledger), ledger.account(ALICE)
    for start, end in ((account.id, alice.id), (alice.id, account.id), (0, account.id), (0, account.id + 1)):
        route = WithdrawVestingRoute(from_account=start, to_account=end)
        ledger.store.create(WITHDRAW_VESTING_ROUTES, route)

    remove_invalid_accounts(ledger)

    left = [(route.from_account, route.to_account) for route in all_of(ledger, WITHDRAW_VESTING_ROUTES)]
    assert left == [(alice.id, account.id), (0, account.id + 1)]


def test_the_committee_takes_its_part_in_escrows_and_invites(ledger: Ledger) -> None:
    invalid(ledger)
    for parties in ((BAD, ALICE, BOB), (ALICE, BAD, BOB), (BOB, ALICE, BAD)):
        sender, recipient, agent = parties
        ledger.store.create(ESCROWS, Escrow(sender=sender, recipient=recipient, agent=agent))
    ledger.store.create(INVITES, Invite(creator=BAD, receiver=ALICE))
    ledger.store.create(INVITES, Invite(creator=ALICE, receiver=BAD))

    remove_invalid_accounts(ledger)

    assert [(each.sender, each.recipient, each.agent) for each in all_of(ledger, ESCROWS)] == [
        (COMMITTEE_ACCOUNT, ALICE, BOB),
        (ALICE, COMMITTEE_ACCOUNT, BOB),
        (BOB, ALICE, COMMITTEE_ACCOUNT),
    ]
    assert [(each.creator, each.receiver) for each in all_of(ledger, INVITES)] == [
        (COMMITTEE_ACCOUNT, ALICE),
        (ALICE, COMMITTEE_ACCOUNT),
    ]
