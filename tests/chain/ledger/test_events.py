"""Whose slots of a gap have no block: it reads as a sequence, and is no longer than a round of the schedule."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.chain.ledger.events import NOTHING_MISSED, BlockApplied, MissedSlotOwners
from ledgerd.protocol.types.names import AccountName
from tests.chain.networks import start_seven
from tests.chain.observing import observe

NAMES = st.sampled_from([AccountName(name) for name in ("alice", "bob", "carol")])


@given(st.lists(NAMES, min_size=1, max_size=7), st.integers(0, 40), st.integers(-45, 45), st.integers(-45, 45))
def test_it_is_the_sequence_that_repeats_the_cycle(cycle: list[AccountName], number: int, begin: int, end: int) -> None:
    owners = MissedSlotOwners(cycle, number)
    whole = tuple(cycle[place % len(cycle)] for place in range(number))

    assert (len(owners), tuple(owners), owners[begin:end]) == (number, whole, whole[begin:end])
    assert [owners.count(name) for name in cycle] == [whole.count(name) for name in cycle]
    assert len(owners.cycle) <= len(cycle)
    assert owners == MissedSlotOwners(owners.cycle, number)


def test_slots_of_nobody_are_refused() -> None:
    with pytest.raises(ValueError, match="3 slots of nobody"):
        MissedSlotOwners((), 3)


@pytest.mark.parametrize("gap", [0, 1, 6, 300])
def test_the_event_of_a_block_names_the_owners_of_all_slots_before_it(tmp_path: Path, gap: int) -> None:
    network = start_seven(tmp_path)
    owners = [network.chain.scheduled_at(slot) for slot in range(1, gap + 1)]
    told: list[BlockApplied] = []
    observe(network.chain, lambda event: told.append(event) if isinstance(event, BlockApplied) else None)
    network.produce(skipped=gap)
    network.produce()
    network.chain.close()

    assert [*told[0].missed] == owners
    assert len(told[0].missed.cycle) <= 21
    assert told[1].missed == NOTHING_MISSED
