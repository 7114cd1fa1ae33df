from __future__ import annotations

from collections.abc import Callable

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.accounts.content import Content, Vote
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.accounts.content import (
    CONTENT_BY_PERMLINK,
    CONTENT_VOTE_BY_VOTER,
    ContentVote,
)
from ledgerd.state.objects.accounts.content import Content as Stored
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, change, create_account, pass_time, refuses, set_median

LedgerAt = Callable[[int], Ledger]

SHARES = 10_000_000_000
FULL_VOTE = SHARES // 5
"""Five full votes use up all energy on the mainnet."""

POST = Content(NO_NAME, "topic", ALICE, "post", "Title", "Body", 0, "", ())
REPLY = Content(ALICE, "post", ALICE, "reply", "", "Body", 0, "", ())


def vote(weight: int, permlink: str = "post") -> Vote:
    return Vote(BOB, ALICE, permlink, weight)


def content(ledger: Ledger, permlink: str = "post") -> Stored:
    return ledger.store.at(CONTENT_BY_PERMLINK, ALICE, permlink)


def vote_of_bob(ledger: Ledger, permlink: str = "post") -> ContentVote:
    return ledger.store.at(CONTENT_VOTE_BY_VOTER, content(ledger, permlink).id, ledger.account(BOB).id)


def with_post(ledger: Ledger) -> Ledger:
    create_account(ledger, ALICE)
    create_account(ledger, BOB, shares=SHARES, last_vote_time=NOW)
    carry_out(ledger, POST)
    carry_out(ledger, REPLY)
    return ledger


@pytest.fixture
def ledger(ledger_at: LedgerAt) -> Ledger:
    """Before hardfork 4, with a post and a reply of Alice's."""
    return with_post(ledger_at(3))


def test_a_vote_counts_up_to_the_post_and_among_all(ledger: Ledger) -> None:
    assert carry_out(ledger, vote(10_000, "reply")) == []

    reply, post, cast = content(ledger, "reply"), content(ledger), vote_of_bob(ledger, "reply")
    assert (cast.rshares, cast.weight, cast.vote_percent) == (FULL_VOTE, FULL_VOTE, 10_000)
    assert (cast.last_update, cast.num_changes) == (NOW, 0)
    assert (reply.net_rshares, reply.abs_rshares, reply.vote_rshares) == (FULL_VOTE,) * 3
    assert (reply.net_votes, reply.total_vote_weight) == (1, FULL_VOTE)
    assert (reply.children_rshares, post.children_rshares, post.net_rshares) == (FULL_VOTE, FULL_VOTE, 0)
    assert ledger.globals.total_reward_shares == FULL_VOTE
    bob = ledger.account(BOB)
    assert (bob.energy, bob.last_vote_time, bob.vote_count) == (8_000, NOW, 1)


def test_a_vote_against_takes_only_from_what_others_gave(ledger: Ledger) -> None:
    create_account(ledger, AccountName("carol"), shares=SHARES // 2, last_vote_time=NOW)
    carry_out(ledger, Vote(AccountName("carol"), ALICE, "post", 10_000))

    carry_out(ledger, vote(-10_000))

    post, cast = content(ledger), vote_of_bob(ledger)
    assert (cast.rshares, cast.weight) == (-FULL_VOTE, 0)
    assert (post.net_rshares, post.abs_rshares) == (-FULL_VOTE // 2, FULL_VOTE + FULL_VOTE // 2)
    assert (post.vote_rshares, post.net_votes) == (FULL_VOTE // 2, 0)
    assert (post.children_rshares, ledger.globals.total_reward_shares) == (0, 0)


def test_a_vote_against_costs_more_where_voted_so(ledger: Ledger) -> None:
    set_median(ledger, flag_energy_additional_cost=5_000)

    carry_out(ledger, vote(-9_999))

    assert ledger.account(BOB).energy == 10_000 - (9_999 + 4_999) // 5


def test_a_vote_of_too_little_counts_as_none_and_against(ledger: Ledger) -> None:
    set_median(ledger, vote_accounting_min_rshares=FULL_VOTE + 1)

    carry_out(ledger, vote(10_000))

    post = content(ledger)
    assert (post.net_rshares, post.abs_rshares, post.net_votes) == (0, 0, -1)
    assert (vote_of_bob(ledger).rshares, vote_of_bob(ledger).weight) == (0, 0)
    assert ledger.account(BOB).energy == 10_000


def test_votes_end_with_hardfork_4(ledger_at: LedgerAt) -> None:
    refuses(ledger_at(4), vote(1), "!_db.has_hardfork(CHAIN_HARDFORK_4): vote is deprecated as of HF 4")


def test_content_and_voter_exist(ledger: Ledger) -> None:
    refuses(ledger, vote(1, "nothing"), "unknown key: ")
    refuses(ledger, Vote(AccountName("nobody"), ALICE, "post", 1), "unknown key: ")


def test_a_vote_takes_energy(ledger: Ledger) -> None:
    bob = ledger.account(BOB)
    change(ledger, bob, energy=0)
    refuses(ledger, vote(1), "current_energy > 0: Account currently does not have voting energy.")
    change(ledger, bob, energy=1_999)
    refuses(
        ledger,
        vote(10_000),
        "used_energy <= current_energy: Account does not have enough energy to vote.",
    )
    change(ledger, bob, energy=2_000)

    carry_out(ledger, vote(10_000))

    assert bob.energy == 0


def test_the_first_vote_is_not_nothing(ledger: Ledger) -> None:
    refuses(ledger, vote(0), "o.weight != 0: Vote weight cannot be 0.")


@pytest.mark.parametrize(("hardfork", "energy"), [(2, 5_000), (3, 7_000)])
def test_what_a_voter_was_awarded_pays_for_its_vote(ledger_at: LedgerAt, hardfork: int, energy: int) -> None:
    """Before hardfork 3 the energy that had come back was lost."""
    ledger = with_post(ledger_at(hardfork))
    bob = ledger.account(BOB)
    change(ledger, bob, awarded_rshares=FULL_VOTE + 5, energy=5_000, last_vote_time=NOW - 86_400)

    carry_out(ledger, vote(10_000))

    assert (bob.awarded_rshares, bob.energy, bob.last_vote_time, bob.vote_count) == (5, energy, NOW, 1)


def test_too_small_an_award_is_not_touched(ledger: Ledger) -> None:
    bob = ledger.account(BOB)
    change(ledger, bob, awarded_rshares=FULL_VOTE - 1)

    carry_out(ledger, vote(10_000))

    assert (bob.awarded_rshares, bob.energy) == (FULL_VOTE - 1, 8_000)


def test_after_the_payout_a_vote_awards_the_author(ledger: Ledger) -> None:
    change(ledger, content(ledger), cashout_time=LATEST, last_payout=NOW)

    refuses(ledger, vote(-1), "o.weight > 0: Cannot flag post after payout window")
    carry_out(ledger, vote(10_000))

    cast = vote_of_bob(ledger)
    assert (cast.rshares, cast.weight, cast.num_changes) == (FULL_VOTE, 0, -1)
    assert ledger.account(ALICE).awarded_rshares == FULL_VOTE
    assert (content(ledger).net_rshares, ledger.globals.total_reward_shares) == (0, 0)
    refuses(ledger, vote(1), "false: Cannot vote again on a content after payout.")


@pytest.mark.parametrize(("weight", "energy"), [(10_000, 7_000), (2_500, 9_000), (0, 9_000), (-10_000, 9_000)])
def test_a_changed_vote_costs_energy_only_where_it_grows(ledger: Ledger, weight: int, energy: int) -> None:
    carry_out(ledger, vote(5_000))
    pass_time(ledger, 10)

    carry_out(ledger, vote(weight))

    bob, post, cast = ledger.account(BOB), content(ledger), vote_of_bob(ledger)
    shares = FULL_VOTE * weight // 10_000
    assert (bob.energy, bob.last_vote_time, bob.vote_count) == (energy, NOW + 10, 1)
    assert (cast.rshares, cast.vote_percent, cast.last_update) == (shares, weight, NOW + 10)
    assert (cast.weight, cast.num_changes) == (0, 1)
    assert (post.net_rshares, post.abs_rshares) == (shares, FULL_VOTE // 2 + abs(shares))
    assert (post.vote_rshares, post.total_vote_weight) == (FULL_VOTE // 2, 0)
    assert post.net_votes == (shares > 0) - (shares < 0)
    assert post.children_rshares == ledger.globals.total_reward_shares == max(shares, 0)


def test_a_vote_changes_five_times_and_each_time_to_another(ledger: Ledger) -> None:
    carry_out(ledger, vote(100))
    refuses(
        ledger,
        vote(100),
        "itr->vote_percent != o.weight: You have already voted in a similar way.",
    )
    for weight in (90, 80, 70, 60, 50):
        carry_out(ledger, vote(weight))

    refuses(
        ledger,
        vote(50),
        "itr->num_changes < CHAIN_MAX_VOTE_CHANGES: Voter has used the maximum number of vote changes on this content.",
    )
