"""The next round of producers, and what they vote for."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.steps.schedule import update_schedule
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.protocol.types.versions import version_number
from ledgerd.state.objects.validators import (
    VALIDATOR_PENALTIES,
    VALIDATORS,
    SchedulePlace,
    Validator,
    ValidatorPenaltyExpire,
)
from tests.chain.empty_blocks import block_after, schedule
from tests.chain.ledgers import ALICE, BOB, HEAD, NOW, change, create_validator

LAP = 2**128 - 1
ROUND_END = 1_008
"""A multiple of 21."""


def add(ledger: Ledger, owner: str, votes: int, turn: int = LAP, **fields: object) -> Validator:
    return create_validator(ledger, owner, votes=votes, counted_votes=votes, virtual_scheduled_time=turn, **fields)


def plan(ledger: Ledger, head: int = ROUND_END) -> tuple[str, ...]:
    change(ledger, ledger.globals, head_block_number=head)
    update_schedule(ledger, BlockContext(block_after(COMMITTEE_ACCOUNT), Skip.NOTHING))
    return ledger.schedule.scheduled


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    """Nobody votes for the committee, and its turn never comes."""
    schedule(ledger, COMMITTEE_ACCOUNT)
    return ledger


def test_the_eleven_with_most_votes_take_turns_with_ten_whose_time_has_come(ledger: Ledger) -> None:
    for place in range(30):
        add(ledger, f"v{place:02}", votes=1_000 - place, turn=place + 100)

    top = [f"v{place:02}" for place in range(11)]
    support = [f"v{place:02}" for place in range(11, 21)]
    expected = [name for pair in zip(top, [*support, ""], strict=True) for name in pair if name]
    assert plan(ledger) == tuple(expected)
    assert ledger.schedule.num_scheduled_validators == 21
    assert ledger.schedule.next_shuffle_block_num == ROUND_END + 21
    places = {str(each.owner): each.schedule for each in ledger.store.scan(VALIDATORS)}
    assert places["v10"] is SchedulePlace.TOP
    assert places["v20"] is SchedulePlace.SUPPORT
    assert places["v21"] is SchedulePlace.NONE


@pytest.mark.parametrize(("head", "is_new"), [(ROUND_END - 1, False), (ROUND_END, True), (ROUND_END + 1, False)])
def test_rounds_end_after_every_21_blocks(ledger: Ledger, head: int, *, is_new: bool) -> None:
    add(ledger, "alice", votes=5)

    assert (ALICE in plan(ledger, head)) is is_new


def test_equal_votes_are_ordered_by_name(ledger: Ledger) -> None:
    for owner in ("zoe", "adam", "mia"):
        add(ledger, owner, votes=7)

    assert plan(ledger) == ("adam", "mia", "zoe")


def test_who_has_no_key_is_passed_over_but_begins_a_new_lap(ledger: Ledger) -> None:
    for place in range(11):
        add(ledger, f"v{place:02}", votes=1_000, turn=10_000)
    retired = add(ledger, "retired", votes=99, turn=50, signing_key=NULL_KEY, virtual_position=5)
    add(ledger, "next", votes=0, turn=60)

    assert plan(ledger)[:2] == ("v00", "next")
    assert retired.virtual_position == 0
    assert retired.virtual_last_update == ledger.schedule.current_virtual_time


def test_virtual_time_moves_on_to_the_last_who_was_met(ledger: Ledger) -> None:
    top = [add(ledger, f"v{place:02}", votes=1_000, turn=90) for place in range(11)]
    others = [add(ledger, f"s{place:02}", votes=place + 1, turn=100 + place) for place in range(12)]

    plan(ledger)

    assert ledger.schedule.current_virtual_time == 109
    assert {each.virtual_last_update for each in top + others[:10]} == {109}
    assert {each.virtual_last_update for each in others[10:]} == {0}
    assert others[0].virtual_scheduled_time == 109 + LAP // 2


def test_a_lap_lasts_the_longer_the_fewer_votes_there_are(ledger: Ledger) -> None:
    alice, bob = add(ledger, "alice", votes=0, turn=0), add(ledger, "bob", votes=999_999, turn=0)
    carol = add(ledger, "carol", votes=1, turn=0)
    change(ledger, ledger.validator(COMMITTEE_ACCOUNT), virtual_scheduled_time=0)

    plan(ledger)

    assert alice.virtual_scheduled_time == 2**128 - 1
    assert bob.virtual_scheduled_time == 340282366920938463463374607431768
    assert carol.virtual_scheduled_time == 170141183460469231731687303715884105727


def test_when_virtual_time_runs_over_it_begins_anew_for_everybody(ledger: Ledger) -> None:
    alice = add(ledger, "alice", votes=9, turn=LAP - 5, virtual_position=77, virtual_last_update=5)
    change(ledger, ledger.schedule, current_virtual_time=LAP - 9)

    plan(ledger)

    committee = ledger.validator(COMMITTEE_ACCOUNT)
    assert ledger.schedule.current_virtual_time == 0
    assert (alice.virtual_position, alice.virtual_last_update) == (0, 0)
    assert (alice.virtual_scheduled_time, committee.virtual_scheduled_time) == (LAP // 10, LAP)


@pytest.mark.parametrize(("hardfork", "expected"), [(11, ("committee", "alice")), (12, ("alice",))])
def test_since_hardfork_12_the_committee_is_not_scheduled_like_others(
    ledger: Ledger, ledger_at: Callable[[int], Ledger], hardfork: int, expected: tuple[str, ...]
) -> None:
    ledger = ledger_at(hardfork)
    change(ledger, ledger.validator(COMMITTEE_ACCOUNT), counted_votes=100)
    add(ledger, "alice", votes=5)

    assert plan(ledger) == expected


def test_on_a_network_of_one_place_it_is_planned_after_every_block(ledger: Ledger) -> None:
    ledger.network = msgspec.structs.replace(TESTNET)
    add(ledger, "alice", votes=5)
    add(ledger, "bob", votes=6)

    assert plan(ledger, HEAD + 1) == ("bob",)
    assert ledger.schedule.current_shuffled_validators == (BOB,)


@pytest.mark.parametrize(("expires", "percent", "counted"), [(NOW, 50, 9_950), (NOW + 1, 150, 9_850)])
def test_penalties_end_with_their_time(ledger: Ledger, expires: int, percent: int, counted: int) -> None:
    alice = add(ledger, "alice", votes=10_000, penalty_percent=150)
    change(ledger, alice, counted_votes=9_850)
    penalty = ValidatorPenaltyExpire(validator=ALICE, penalty_percent=100, expires=expires)
    ledger.store.create(VALIDATOR_PENALTIES, penalty)

    plan(ledger)

    assert (alice.penalty_percent, alice.counted_votes) == (percent, counted)
    assert (ledger.store.find(VALIDATOR_PENALTIES, 0) is None) == (expires == NOW)


def of_version(ledger: Ledger, owner: str, version: int, **fields: object) -> None:
    create_validator(ledger, owner, running_version=version, **fields)


def test_the_majority_version_is_the_highest_that_17_run_or_a_later_one(ledger: Ledger) -> None:
    old, middle, new = version_number(3, 0), version_number(3, 1), version_number(3, 2)
    names = [f"v{place:02}" for place in range(21)]
    for place, owner in enumerate(names):
        of_version(ledger, owner, old if place < 4 else middle if place < 10 else new)
    schedule(ledger, *names)

    plan(ledger)
    assert ledger.schedule.majority_version == middle

    change(ledger, ledger.validator(ledger.schedule.scheduled[0]), running_version=old)
    change(ledger, ledger.validator(ledger.schedule.scheduled[2]), running_version=old)
    change(ledger, ledger.schedule, majority_version=new)
    running = [ledger.validator(name).running_version for name in ledger.schedule.scheduled]
    plan(ledger)
    assert ledger.schedule.majority_version == sorted(running, reverse=True)[16]


def test_without_enough_validators_the_majority_version_stays(ledger: Ledger) -> None:
    change(ledger, ledger.schedule, majority_version=version_number(2, 5))
    of_version(ledger, "alice", version_number(3, 2))
    schedule(ledger, ALICE)

    plan(ledger)

    assert ledger.schedule.majority_version == version_number(2, 5)


@pytest.mark.parametrize(("votes", "is_agreed"), [(16, False), (17, True)])
def test_a_hardfork_needs_17_votes_for_the_same_version_and_time(
    ledger: Ledger, votes: int, *, is_agreed: bool
) -> None:
    now, coming = version_number(3, 2), version_number(3, 3)
    change(ledger, ledger.hardforks, current_hardfork_version=now, next_hardfork=coming, next_hardfork_time=5)
    names = [f"v{place:02}" for place in range(21)]
    for place, owner in enumerate(names):
        time = NOW + 60 if place < votes else NOW + 90
        create_validator(ledger, owner, hardfork_version_vote=coming, hardfork_time_vote=time)
    schedule(ledger, *names)

    plan(ledger)

    hardforks = ledger.hardforks
    if is_agreed:
        assert (hardforks.next_hardfork, hardforks.next_hardfork_time) == (coming, NOW + 60)
    else:
        assert (hardforks.next_hardfork, hardforks.next_hardfork_time) == (now, 5)


def test_a_round_nobody_can_fill_is_one_empty_place_and_stops_the_chain(ledger: Ledger) -> None:
    with pytest.raises(Exception, match="unknown key"):
        plan(ledger)

    assert ledger.schedule.scheduled == (NO_NAME,)
