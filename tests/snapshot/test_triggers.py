"""When a snapshot is due, block by block, with a time and slots that are handed in."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.snapshot.triggers import BEHIND_SECONDS, NextOwnSlot, Triggers

GENESIS = 1_700_000_000


def time_of(number: int) -> int:
    return GENESIS + 3 * number


def never() -> None:
    return None


def taken(
    triggers: Triggers, blocks: Iterable[int], own_slot: NextOwnSlot = never, behind: int = 0
) -> list[tuple[int, int]]:
    """Pairs of the head and the number that a snapshot was named by."""
    found = []
    for number in blocks:
        named = triggers.applied(number, time_of(number), time_of(number) + behind, own_slot)
        if named is not None:
            found.append((number, named))
    return found


def test_nothing_is_written_unless_it_is_asked_for() -> None:
    assert taken(Triggers(), range(1, 5000)) == []


def test_a_snapshot_is_written_every_so_many_blocks() -> None:
    assert taken(Triggers(every=2400), range(1, 8000)) == [(2400, 2400), (4800, 4800), (7200, 7200)]


def test_a_snapshot_is_written_at_a_block_whatever_its_age() -> None:
    assert taken(Triggers(at_block=77), range(1, 200), behind=10_000) == [(77, 77)]


def test_while_the_chain_is_caught_up_with_none_is_written_for_nobody() -> None:
    triggers = Triggers(every=10)
    triggers.wants_fresh = True

    assert taken(triggers, range(1, 95), behind=BEHIND_SECONDS + 1) == []
    assert taken(triggers, range(95, 105), behind=BEHIND_SECONDS) == [(95, 95), (100, 100)]


def test_a_fresh_one_is_written_once() -> None:
    triggers = Triggers()
    triggers.wants_fresh = True

    assert taken(triggers, range(5, 50)) == [(5, 5)]


def test_one_that_is_due_near_a_slot_of_ours_waits_until_that_has_passed() -> None:
    slot = time_of(102)

    assert taken(Triggers(every=100), range(99, 110), lambda: slot) == [(103, 100)]


def test_a_validator_of_every_slot_writes_snapshots_too() -> None:
    triggers, found = Triggers(every=100), []
    for number in range(1, 400):
        named = triggers.applied(number, time_of(number), time_of(number), lambda: time_of(number + 1))  # noqa: B023
        if named is not None:
            found.append((number, named))

    assert found == [(102, 100), (202, 200), (302, 300)]


def test_the_slot_is_looked_up_only_when_one_is_due() -> None:
    asked = []

    def slot() -> None:
        asked.append(1)

    taken(Triggers(every=100), range(1, 1000), slot)

    assert len(asked) == 9


@given(
    every=st.integers(0, 5),
    at_block=st.integers(0, 40),
    slots=st.lists(st.booleans(), min_size=40, max_size=40),
)
def test_snapshots_are_never_written_just_before_our_slot(every: int, at_block: int, slots: list[bool]) -> None:
    triggers, deferred_until = Triggers(at_block, every), 0
    for number, is_near in enumerate(slots, 1):
        slot = time_of(number + 2) if is_near else None

        def own_slot(slot: int | None = slot) -> int | None:
            nonlocal deferred_until
            deferred_until = slot or 0
            return slot

        if triggers.applied(number, time_of(number), time_of(number), own_slot) is not None:
            assert time_of(number) > deferred_until
