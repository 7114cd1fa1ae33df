"""Validators: their orders, their place in the schedule as a word, and the walks that leave most of them out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.codec import DecodeError, codec_of
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.properties import default_properties
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state import Store
from ledgerd.state.errors import NotUnique
from ledgerd.state.objects.validators import (
    VALIDATOR_BY_ACTIVE_COUNTED_VOTES,
    VALIDATOR_BY_COUNTED_VOTES,
    VALIDATOR_BY_NAME,
    VALIDATOR_BY_PENDING_REWARD,
    VALIDATOR_BY_SCHEDULE_TIME,
    VALIDATOR_BY_VOTES,
    VALIDATOR_VOTE_BY_ACCOUNT,
    VALIDATOR_VOTE_BY_VALIDATOR,
    VALIDATOR_VOTES,
    VALIDATORS,
    SchedulePlace,
    Validator,
    ValidatorSchedule,
    ValidatorVote,
)

ALICE, BOB = AccountName("alice"), AccountName("bob")
KEY = PublicKey(b"\2" * 33)
PROPERTIES = default_properties(TESTNET)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, (VALIDATORS, VALIDATOR_VOTES)) as store:
        yield store


def add(store: Store, owner: str, **fields: Any) -> Validator:
    return store.create(VALIDATORS, Validator(owner=AccountName(owner), props=PROPERTIES, **fields))


def owners(found: Iterator[Validator]) -> list[str]:
    return [validator.owner for validator in found]


def test_names_are_in_the_order_of_words(store: Store) -> None:
    for owner in ("committee", "alice", "bob", "aa", "b"):
        add(store, owner)

    assert owners(store.scan(VALIDATOR_BY_NAME)) == ["b", "aa", "bob", "alice", "committee"]


def test_the_most_voted_for_comes_first_and_equal_ones_by_text(store: Store) -> None:
    for owner, votes in (("zz", 5), ("committee", 5), ("bob", 5), ("alice", 0), ("low", -1), ("top", 9)):
        add(store, owner, votes=votes, counted_votes=votes)

    wanted = ["top", "bob", "committee", "zz", "alice", "low"]
    assert owners(store.scan(VALIDATOR_BY_VOTES)) == wanted
    assert owners(store.scan(VALIDATOR_BY_COUNTED_VOTES)) == wanted


def test_a_validator_is_found_by_its_votes_and_name(store: Store) -> None:
    bob = add(store, "bob", votes=5)

    assert store.lookup(VALIDATOR_BY_VOTES, 5, "bob") is bob


def test_those_without_a_key_are_passed_over(store: Store) -> None:
    add(store, "gone", counted_votes=100)
    add(store, "low", counted_votes=1, signing_key=KEY)
    top = add(store, "top", counted_votes=7, signing_key=KEY)
    assert top.is_active

    active = store.scan(VALIDATOR_BY_ACTIVE_COUNTED_VOTES, lower=(True,))

    assert owners(active) == ["top", "low"]


def test_whose_turn_comes_never_is_last_and_equal_turns_go_by_id(store: Store) -> None:
    add(store, "never")
    add(store, "b", virtual_scheduled_time=2**100)
    add(store, "a", virtual_scheduled_time=2**100)
    add(store, "soon", virtual_scheduled_time=1)

    assert owners(store.scan(VALIDATOR_BY_SCHEDULE_TIME)) == ["soon", "b", "a", "never"]


def test_only_those_with_something_to_share_are_walked_by_word(store: Store) -> None:
    for owner, pending in (("committee", 3), ("alice", 0), ("viz", 1), ("bob", -1)):
        add(store, owner, pending_stakeholder_reward=pending)

    sharing = store.scan(VALIDATOR_BY_PENDING_REWARD, lower=(True,))

    assert owners(sharing) == ["bob", "viz", "committee"]


def test_two_validators_of_one_name_are_refused(store: Store) -> None:
    add(store, "bob")

    with pytest.raises(NotUnique):
        add(store, "bob")


def test_votes_are_walked_by_account_and_by_validator(store: Store) -> None:
    for account, validator in ((2, 1), (1, 9), (1, 3), (2, 0)):
        store.create(VALIDATOR_VOTES, ValidatorVote(account=account, validator=validator))

    of_one = store.scan(VALIDATOR_VOTE_BY_ACCOUNT, lower=(1,), upper=(1,))
    for_one = store.scan(VALIDATOR_VOTE_BY_VALIDATOR, lower=(1,), upper=(3,))

    assert [vote.validator for vote in of_one] == [3, 9]
    assert [vote.account for vote in for_one] == [2, 1]


def test_a_second_vote_of_the_same_account_for_the_same_validator_is_refused(store: Store) -> None:
    store.create(VALIDATOR_VOTES, ValidatorVote(account=1, validator=2))

    with pytest.raises(NotUnique):
        store.create(VALIDATOR_VOTES, ValidatorVote(account=1, validator=2))


@pytest.mark.parametrize(
    ("place", "word"), [(SchedulePlace.TOP, "top"), (SchedulePlace.SUPPORT, "support"), (SchedulePlace.NONE, "none")]
)
def test_the_place_in_the_schedule_is_a_word_in_json(place: SchedulePlace, word: str) -> None:
    text = codec_of(Validator).to_json(Validator(props=PROPERTIES, schedule=place))

    assert f'"schedule":"{word}"' in text


def test_a_word_that_is_no_place_is_refused() -> None:
    with pytest.raises(DecodeError, match="schedule: middle is no place in the schedule"):
        codec_of(Validator).from_json({"schedule": "middle"})


def test_a_byte_that_is_no_place_is_refused() -> None:
    raw = bytearray(codec_of(Validator).encode(Validator(props=PROPERTIES, schedule=SchedulePlace.NONE)))
    # Before it stand the id, two empty texts, and the numbers between them.
    place = 8 + 1 + 4 + 1 + 8 + 4 + 8
    assert raw[place] == SchedulePlace.NONE
    raw[place] = 3

    with pytest.raises(DecodeError, match="3 is not a value of this type"):
        codec_of(Validator).decode(bytes(raw))


def test_only_the_scheduled_places_of_a_round_are_in_it() -> None:
    schedule = ValidatorSchedule(
        current_shuffled_validators=(ALICE, BOB, NO_NAME), num_scheduled_validators=2, median_props=PROPERTIES
    )

    assert schedule.scheduled == (ALICE, BOB)


def test_properties_that_are_the_same_are_read_once() -> None:
    codec = codec_of(Validator)
    stored = [codec.encode(Validator(owner=AccountName(name), props=default_properties(TESTNET))) for name in "ab"]

    one, other = map(codec.decode, stored)

    assert one.props is other.props
    assert one.props == PROPERTIES


def test_properties_of_which_bytes_are_missing_are_refused() -> None:
    codec = codec_of(ValidatorSchedule)
    stored = codec.encode(ValidatorSchedule(median_props=PROPERTIES))

    for length in range(len(stored)):
        with pytest.raises(DecodeError):
            codec.decode(stored[:length])
