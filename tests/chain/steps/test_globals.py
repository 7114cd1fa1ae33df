"""The head moves on, and empty slots are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.steps.globals import UndoHistoryExhausted, count_slots, update_globals
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.virtual import ShutdownValidator
from ledgerd.state.objects.globals import DynamicGlobalProperty
from ledgerd.state.objects.validators import VALIDATOR_PENALTIES
from tests.chain.empty_blocks import block_after, block_id, on_its_way, schedule
from tests.chain.ledgers import ALICE, BOB, HEAD, NOW, change, create_validator, fresh_ledger

ALL_FILLED = 2**128 - 1


def ledger_of(folder: Path, hardfork: int = 13, *, emergency: bool = False) -> Ledger:
    """Alice, bob and carol take turns; the next slot is alice's."""
    ledger = fresh_ledger(folder, hardfork)
    for owner in ("alice", "bob", "carol"):
        create_validator(
            ledger, owner, votes=10_000, counted_votes=10_000, current_run=5, last_confirmed_block_num=HEAD
        )
    schedule(ledger, "carol", "alice", "bob")
    change(
        ledger,
        ledger.globals,
        last_irreversible_block_num=HEAD - 10,
        participation_count=128,
        emergency_consensus_active=emergency,
    )
    return ledger


def advance(
    ledger: Ledger, producer: str, missed: int = 0, *, head: int = HEAD, skip: SkipFlags = Skip.NOTHING
) -> None:
    update_globals(ledger, on_its_way(ledger, block_after(producer, NOW + 3 * (missed + 1), head=head), skip))


def test_the_head_becomes_the_block(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    block = block_after("alice")

    update_globals(ledger, on_its_way(ledger, block))

    head = ledger.globals
    assert (head.head_block_number, head.head_block_id, head.time) == (HEAD + 1, block.id, NOW + 3)
    assert head.current_aslot == 1


@pytest.mark.parametrize(
    ("missed", "filled", "count"),
    [(0, ALL_FILLED, 128), (1, ALL_FILLED - 1, 127), (3, ALL_FILLED - 7, 125), (127, 1 << 127, 1), (128, 0, 0)],
)
def test_the_one_of_the_block_is_shifted_in_before_the_zeros_of_the_slots_it_missed(
    missed: int, filled: int, count: int
) -> None:
    head = DynamicGlobalProperty(recent_slots_filled=ALL_FILLED, participation_count=128)

    count_slots(head, missed)

    assert (head.recent_slots_filled, head.participation_count) == (filled, count)


@given(st.integers(0, ALL_FILLED), st.integers(0, 300))
def test_participation_counts_the_filled_slots_whatever_was_missed(filled: int, missed: int) -> None:
    head = DynamicGlobalProperty(recent_slots_filled=filled, participation_count=filled.bit_count())

    count_slots(head, missed)

    assert head.participation_count == head.recent_slots_filled.bit_count()


def test_a_missed_slot_costs_votes_for_a_while_and_ends_the_run(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)

    advance(ledger, "bob", missed=1)

    alice = ledger.validator(ALICE)
    assert (alice.total_missed, alice.current_run) == (1, 0)
    assert (alice.penalty_percent, alice.votes, alice.counted_votes) == (100, 10_000, 9_900)
    penalty = ledger.store.get(VALIDATOR_PENALTIES, 0)
    assert (penalty.validator, penalty.penalty_percent, penalty.expires) == ("alice", 100, NOW + 86_400)
    assert alice.is_active


def test_before_hardfork_6_a_missed_slot_costs_no_votes(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, hardfork=5)

    advance(ledger, "bob", missed=1)

    alice = ledger.validator(ALICE)
    assert (alice.total_missed, alice.counted_votes) == (1, 10_000)
    assert ledger.store.find(VALIDATOR_PENALTIES, 0) is None


def test_the_producer_is_not_punished_for_slots_it_missed_itself(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)

    advance(ledger, "alice", missed=3)

    alice, bob = ledger.validator(ALICE), ledger.validator(BOB)
    assert (alice.total_missed, alice.current_run) == (0, 5)
    assert (bob.total_missed, bob.current_run) == (1, 0)


@pytest.mark.parametrize(("silent_for", "keeps_key"), [(200, True), (201, False)])
def test_a_validator_silent_for_more_than_200_blocks_loses_its_key(
    tmp_path: Path, silent_for: int, *, keeps_key: bool
) -> None:
    ledger = ledger_of(tmp_path)
    alice = ledger.validator(ALICE)
    change(ledger, alice, last_confirmed_block_num=HEAD - silent_for)

    advance(ledger, "bob", missed=1)

    assert alice.is_active is keeps_key
    assert ledger.operations == [] if keeps_key else ledger.operations[0].operation == ShutdownValidator(ALICE)


def test_a_validator_that_has_lost_its_key_loses_it_only_once(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    alice = ledger.validator(ALICE)
    change(ledger, alice, last_confirmed_block_num=0)

    advance(ledger, "bob", missed=4)

    assert alice.total_missed == 2
    assert len(ledger.operations) == 1


@pytest.mark.parametrize(("silent_for", "keeps_key"), [(105, True), (106, False)])
def test_in_an_emergency_silence_costs_the_key_sooner_and_no_votes(
    tmp_path: Path, silent_for: int, *, keeps_key: bool
) -> None:
    ledger = ledger_of(tmp_path, emergency=True)
    alice = ledger.validator(ALICE)
    change(ledger, alice, last_confirmed_block_num=HEAD - silent_for)

    advance(ledger, "bob", missed=1)

    assert (alice.total_missed, alice.penalty_percent, alice.current_run) == (0, 0, 0)
    assert alice.is_active is keeps_key


def test_in_an_emergency_the_committee_keeps_its_key_whatever_it_misses(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path, emergency=True)
    schedule(ledger, "carol", "committee", "bob")
    committee = ledger.validator(COMMITTEE_ACCOUNT)
    change(ledger, committee, current_run=9)

    advance(ledger, "bob", missed=1)

    assert (committee.current_run, committee.total_missed, committee.is_active) == (0, 0, True)


@pytest.mark.parametrize(
    ("size", "ratio", "capacity"),
    [
        (6_291_456, 1, 1_268_357_529_600_000_000),
        (6_291_456, 2_000, 3_362_206_410_554_911_402),
        (131_072, 2_000, 3_656_912_870_107_862_357),
        (131_072, 20_000, 5_824_555_244_896_037_546),
        (65_536, 20_000, 5_986_734_968_066_277_376),
    ],
)
def test_the_capacity_wraps_as_in_the_reference(tmp_path: Path, size: int, ratio: int, capacity: int) -> None:
    ledger = ledger_of(tmp_path)
    change(ledger, ledger.globals, maximum_block_size=size, current_reserve_ratio=ratio)

    advance(ledger, "alice")

    assert ledger.globals.max_virtual_bandwidth == capacity


@pytest.mark.parametrize(
    ("number", "average", "before", "after"),
    [
        (19, 0, 5_000, 5_001),
        (18, 0, 5_000, 5_000),
        (19, 40_000, 5_000, 2_500),
        (19, 40_000, 2_000, 2_000),
        (19, 0, 20_000, 20_000),
        (19, 0, 1, 2_000),
    ],
)
def test_the_load_is_reviewed_every_twenty_blocks(
    tmp_path: Path, number: int, average: int, before: int, after: int
) -> None:
    ledger = ledger_of(tmp_path)
    head = ledger.globals
    change(ledger, head, head_block_id=block_id(number), last_irreversible_block_num=number)
    change(ledger, head, maximum_block_size=131_072, average_block_size=average, current_reserve_ratio=before)

    advance(ledger, "alice", head=number)

    assert head.current_reserve_ratio == after
    assert head.average_block_size == (99 * average + 117) // 100


def test_too_many_blocks_without_an_irreversible_one_are_refused_unless_that_is_skipped(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    change(ledger, ledger.globals, head_block_id=block_id(HEAD + 9_999), last_irreversible_block_num=HEAD)

    with ledger.store.begin(), pytest.raises(UndoHistoryExhausted):
        advance(ledger, "alice", head=HEAD + 9_999)
    advance(ledger, "alice", head=HEAD + 9_999, skip=Skip.UNDO_HISTORY)


def test_a_block_in_the_slot_of_its_parent_is_refused_even_when_the_schedule_is_not_checked(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)

    with pytest.raises(RuleViolation, match="missed_blocks != 0"):
        update_globals(ledger, on_its_way(ledger, block_after("alice", NOW + 1), Skip.VALIDATOR_SCHEDULE))


def test_the_first_block_misses_nothing(tmp_path: Path) -> None:
    ledger = ledger_of(tmp_path)
    change(ledger, ledger.globals, time=0, head_block_number=0, last_irreversible_block_num=0)

    update_globals(ledger, on_its_way(ledger, block_after("alice", NOW, head=0)))

    assert ledger.globals.recent_slots_filled == ALL_FILLED
