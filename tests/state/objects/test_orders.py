"""The orders of the other families: those that rules walk, and our own that spare them a walk over everything."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Store
from ledgerd.state.errors import NotUnique
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.accounts.content import CONTENT_VOTE_BY_WEIGHT, CONTENT_VOTES, CONTENTS, Content, ContentVote
from ledgerd.state.objects.accounts.proposals import PROPOSAL_BY_AUTHOR, PROPOSALS, Proposal
from ledgerd.state.objects.accounts.recovery import (
    MASTER_AUTHORITY_HISTORY,
    MASTER_HISTORY_BY_ACCOUNT,
    MasterAuthorityHistory,
)
from ledgerd.state.objects.globals import (
    AWARD_SHARES_BY_EXPIRATION,
    AWARD_SHARES_EXPIRE,
    AwardSharesExpire,
    HardforkProperty,
)
from ledgerd.state.objects.money.committee import (
    ACTIVE,
    BEING_PAID,
    CANCELLED,
    COMMITTEE_REQUESTS,
    COMMITTEE_VOTE_BY_REQUEST_AND_VOTER,
    COMMITTEE_VOTES,
    LOW_TURNOUT,
    PAID,
    REJECTED,
    REQUEST_BY_CONCLUSION,
    REQUEST_BY_END,
    CommitteeRequest,
    CommitteeVote,
)
from ledgerd.state.objects.money.escrow import ESCROW_BY_DEADLINE, ESCROW_BY_SENDER, ESCROWS, Escrow
from ledgerd.state.objects.money.invites import (
    CLAIMED,
    INVITE_BY_CLAIM_TIME,
    INVITE_BY_KEY,
    INVITES,
    UNUSED,
    VESTED,
    Invite,
)
from ledgerd.state.objects.money.paid_subscriptions import (
    PAID_SUBSCRIBES,
    SUBSCRIBE_BY_ACCOUNTS,
    SUBSCRIBE_BY_NEXT_TIME,
    PaidSubscribe,
)
from ledgerd.state.objects.money.vesting import (
    DELEGATION_BY_DELEGATEE,
    DELEGATION_BY_DELEGATOR,
    VESTING_DELEGATIONS,
    WITHDRAW_VESTING_ROUTES,
    VestingDelegation,
    WithdrawVestingRoute,
)

ALICE, VIZ = AccountName("alice"), AccountName("viz")
LONGEST = AccountName("a" * 32)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, TABLES) as store:
        yield store


def test_delegations_are_in_the_order_of_texts_both_ways(store: Store) -> None:
    for delegator, delegatee in (("bob", "committee"), ("alice", "viz"), ("bob", "aa"), ("bob", "alice")):
        store.create(
            VESTING_DELEGATIONS, VestingDelegation(delegator=AccountName(delegator), delegatee=AccountName(delegatee))
        )

    lent = store.scan(DELEGATION_BY_DELEGATOR, lower=("bob",), upper=("bob",))
    assert [each.delegatee for each in lent] == ["aa", "alice", "committee"]
    assert [each.delegatee for each in store.scan(DELEGATION_BY_DELEGATEE)] == ["aa", "alice", "committee", "viz"]


def test_two_routes_between_the_same_accounts_are_refused(store: Store) -> None:
    store.create(WITHDRAW_VESTING_ROUTES, WithdrawVestingRoute(from_account=1, to_account=2))

    with pytest.raises(NotUnique):
        store.create(WITHDRAW_VESTING_ROUTES, WithdrawVestingRoute(from_account=1, to_account=2, percent=5))


def test_an_approved_escrow_has_no_deadline_to_meet(store: Store) -> None:
    for number, deadline in enumerate((30, 10, 20)):
        store.create(ESCROWS, Escrow(sender=ALICE, escrow_id=number, ratification_deadline=deadline))
    escrow = store.at(ESCROW_BY_SENDER, "alice", 1)
    with store.editing(escrow):
        escrow.to_approved = True
    assert [each.escrow_id for each in store.scan(ESCROW_BY_DEADLINE, lower=(False,), upper=(False, 20))] == [1, 2]

    with store.editing(escrow):
        escrow.agent_approved = True

    assert [each.escrow_id for each in store.scan(ESCROW_BY_DEADLINE, lower=(False,), upper=(False, 20))] == [2]


def test_titles_of_proposals_end_at_a_nul(store: Store) -> None:
    store.create(PROPOSALS, Proposal(author=ALICE, title="pay\0one"))

    assert store.lookup(PROPOSAL_BY_AUTHOR, "alice", "pay") is not None
    with pytest.raises(NotUnique):
        store.create(PROPOSALS, Proposal(author=ALICE, title="pay\0another"))


def test_titles_and_permlinks_of_any_length_that_is_allowed_can_be_kept(store: Store) -> None:
    store.create(PROPOSALS, Proposal(author=LONGEST, title="\u00e9" * 127))
    store.create(CONTENTS, Content(author=LONGEST, permlink="\u00e9" * 127))
    store.create(COMMITTEE_REQUESTS, CommitteeRequest(creator=LONGEST, url="\u00e9" * 127))


def test_only_active_requests_whose_vote_is_over_are_walked(store: Store) -> None:
    for number, status, end in ((1, ACTIVE, 9), (2, CANCELLED, 1), (3, ACTIVE, 7), (4, ACTIVE, 10), (5, PAID, 2)):
        store.create(
            COMMITTEE_REQUESTS,
            CommitteeRequest(request_id=number, url=str(number), status=status, end_time=end),
        )

    over = store.scan(REQUEST_BY_END, lower=(ACTIVE,), upper=(ACTIVE, 9))

    assert [request.request_id for request in over] == [3, 1]


def test_only_requests_that_came_to_nothing_long_ago_are_walked(store: Store) -> None:
    for status, time in ((REJECTED, 8), (ACTIVE, 0), (BEING_PAID, 1), (LOW_TURNOUT, 5), (PAID, 1), (CANCELLED, 9)):
        store.create(COMMITTEE_REQUESTS, CommitteeRequest(url=str(status), status=status, conclusion_time=time))

    closed = store.scan(REQUEST_BY_CONCLUSION, lower=(True,), upper=(True, 8))

    assert [request.status for request in closed] == [LOW_TURNOUT, REJECTED]


def test_a_vote_on_a_request_is_found_by_its_voter(store: Store) -> None:
    votes = [
        store.create(COMMITTEE_VOTES, CommitteeVote(request_id=number, voter=AccountName(voter)))
        for number, voter in ((1, "bob"), (2, "alice"), (1, "alice"))
    ]

    assert store.lookup(COMMITTEE_VOTE_BY_REQUEST_AND_VOTER, 1, "alice") is votes[2]
    assert store.lookup(COMMITTEE_VOTE_BY_REQUEST_AND_VOTER, 2, "bob") is None


def test_only_invites_that_were_used_long_ago_are_walked(store: Store) -> None:
    for status, time in ((CLAIMED, 6), (UNUSED, 0), (VESTED, 4), (CLAIMED, 7)):
        store.create(INVITES, Invite(status=status, claim_time=time))

    used = store.scan(INVITE_BY_CLAIM_TIME, lower=(True,), upper=(True, 6))

    assert [invite.claim_time for invite in used] == [4, 6]


def test_of_several_invites_with_one_key_the_first_is_found(store: Store) -> None:
    first, _ = (store.create(INVITES, Invite(create_time=time)) for time in (5, 4))

    assert store.lookup(INVITE_BY_KEY, first.invite_key) is first


def test_shares_of_awards_leave_in_the_order_of_time_and_then_of_coming(store: Store) -> None:
    for expires, amount in ((5, 1), (4, 2), (5, 3), (6, 4)):
        store.create(AWARD_SHARES_EXPIRE, AwardSharesExpire(expires=expires, rshares=amount))

    due = store.scan(AWARD_SHARES_BY_EXPIRATION, upper=(5,))

    assert [shares.rshares for shares in due] == [2, 1, 3]


def test_a_renewed_subscription_stands_behind_others_of_its_time(store: Store) -> None:
    first, second, third = (
        store.create(PAID_SUBSCRIBES, PaidSubscribe(subscriber=AccountName(name), creator=VIZ, next_time=time))
        for name, time in (("a", 1), ("b", 5), ("c", 9))
    )
    with store.editing(first):
        first.next_time = 9

    assert list(store.scan(SUBSCRIBE_BY_NEXT_TIME)) == [second, third, first]
    assert store.lookup(SUBSCRIBE_BY_ACCOUNTS, "b", "viz") is second


def test_votes_on_content_are_paid_by_weight_and_then_by_voter(store: Store) -> None:
    for voter, weight in ((4, 10), (2, 10), (9, 2**63), (1, 0)):
        store.create(CONTENT_VOTES, ContentVote(content=3, voter=voter, weight=weight))

    votes = store.scan(CONTENT_VOTE_BY_WEIGHT, lower=(3,), upper=(3,))

    assert [vote.voter for vote in votes] == [9, 2, 4, 1]


def test_earlier_authorities_of_an_account_are_in_the_order_of_time(store: Store) -> None:
    for name, time in (("bob", 7), ("alice", 1), ("bob", 3)):
        store.create(MASTER_AUTHORITY_HISTORY, MasterAuthorityHistory(account=AccountName(name), last_valid_time=time))

    history = store.scan(MASTER_HISTORY_BY_ACCOUNT, lower=("bob",), upper=("bob",))

    assert [each.last_valid_time for each in history] == [3, 7]


def test_a_hardfork_has_come_when_its_entry_is_there() -> None:
    hardforks = HardforkProperty(processed_hardforks=(0, 100, 200))

    assert hardforks.has(0)
    assert hardforks.has(2)
    assert not hardforks.has(3)
