"""The slots of the last rounds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.chain.ledger.events import BlockApplied, Event
from ledgerd.node.parts.watching.status import LATEST_DELAY, SLOTS_KEPT, SlotRecord
from ledgerd.rpc.api.node.node_status import UNKNOWN, SlotFacts
from tests.chain.networks import Network, start_seven
from tests.chain.observing import observe


class Followed:
    """A chain whose slots are recorded, at a time after each slot."""

    def __init__(self, network: Network) -> None:
        self.network, self.record, self.late = network, SlotRecord(), 0.25
        self.record.begin(network.chain)
        observe(network.chain, self.take)

    def take(self, event: Event) -> None:
        if isinstance(event, BlockApplied):
            self.record.applied(event, event.block.timestamp + self.late)


@pytest.fixture
def followed(tmp_path: Path) -> Iterator[Followed]:
    network = start_seven(tmp_path)
    yield Followed(network)
    network.chain.close()


def test_a_block_stands_with_its_validator_and_its_delay(followed: Followed) -> None:
    (block,) = followed.network.produce()

    assert followed.record.slots[-1] == SlotFacts(block.validator, block.number, 250)


def test_a_slot_without_a_block_is_of_whoever_was_scheduled(followed: Followed) -> None:
    for skipped in (1, 3, 7):
        chain = followed.network.chain
        owners = [chain.scheduled_at(slot) for slot in range(1, skipped + 1)]
        (block,) = followed.network.produce(skipped=skipped)

        missed = followed.record.slots[-1 - skipped : -1]
        assert missed == tuple(SlotFacts(owner, 0, UNKNOWN) for owner in owners)
        assert followed.record.slots[-1].block == block.number


def test_slots_missed_on_another_branch_are_of_its_schedule(followed: Followed) -> None:
    """After blocks are undone, the gap is counted from the block that stayed."""
    followed.network.produce(skipped=4)
    followed.network.chain.pop_block()
    owners = [followed.network.chain.scheduled_at(slot) for slot in (1, 2)]
    followed.network.produce(skipped=2)

    assert [slot.validator for slot in followed.record.slots[-3:-1]] == owners


def test_a_long_gap_fills_the_record_and_no_more(followed: Followed) -> None:
    followed.network.produce(skipped=500)

    assert len(followed.record.slots) == SLOTS_KEPT
    assert [slot.block for slot in followed.record.slots[:-1]] == [0] * (SLOTS_KEPT - 1)


def test_a_delay_that_only_a_sync_explains_is_not_told(followed: Followed) -> None:
    followed.late = LATEST_DELAY / 1_000 + 1
    followed.network.produce()

    assert followed.record.slots[-1].delay == UNKNOWN


def test_it_begins_with_the_blocks_that_the_chain_has(followed: Followed) -> None:
    followed.network.produce(2)
    followed.network.produce(skipped=2)
    followed.network.produce(2)
    known = followed.record.slots
    followed.record.begin(followed.network.chain)

    assert [slot.block for slot in followed.record.slots] == [slot.block for slot in known]
    assert [slot.validator for slot in followed.record.slots[-5:]] == ["", "", *(s.validator for s in known[-3:])]


def test_an_empty_chain_has_no_slots(tmp_path: Path) -> None:
    record, network = SlotRecord(), Network(tmp_path)
    record.begin(network.chain)
    assert record.slots == ()
    followed = Followed(network)
    network.produce()
    assert [slot.block for slot in followed.record.slots] == [1]
    network.chain.close()
