"""Missed slots in the history: recorded with their block, undone and purged with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.ledger.events import MissedSlotOwners
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.missed import MissedBefore
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.types.names import AccountName
from tests.history.made_blocks import block_on, told

ALICE, BOB = AccountName("alice"), AccountName("bob")
MISSED = {3: (ALICE,), 5: (BOB, ALICE, BOB), 8: (ALICE,)}


class NoLog:
    """A log without blocks: the history keeps all of them."""

    def read(self, _number: int) -> bytes | None:
        return None


def record(store: EmbeddedStore, first: int, last: int, previous: BlockId = NO_BLOCK) -> BlockId:
    for number in range(first, last + 1):
        block = block_on(previous, number, ())
        store.record([told(block)._replace(missed=MissedSlotOwners(MISSED.get(number, ())))])
        previous = block.id
    return previous


def found(folder: Path, first: int, last: int) -> tuple[int, list[MissedBefore]]:
    with EmbeddedHistory.open(folder, folder, HistorySettings()) as history:
        return history.missed(first, last)


def names(folder: Path, first: int = 1, last: int = 100) -> dict[int, tuple[AccountName, ...]]:
    return {each.block: each.validators[:] for each in found(folder, first, last)[1]}


def test_missed_slots_are_found_by_their_blocks(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path, HistorySettings(), NoLog()) as store:
        record(store, 1, 10)

    assert names(tmp_path) == MISSED
    assert names(tmp_path, 4, 7) == {5: MISSED[5]}
    since, (first, *_) = found(tmp_path, 1, 10)
    assert (since, first.time) == (1, block_on(NO_BLOCK, 3, ()).timestamp)


@pytest.mark.parametrize(("kept", "left"), [(4, {3: MISSED[3]}), (8, MISSED), (0, {})])
def test_what_is_undone_is_forgotten(tmp_path: Path, kept: int, left: dict[int, tuple[AccountName, ...]]) -> None:
    with EmbeddedStore(tmp_path, HistorySettings(), NoLog()) as store:
        record(store, 1, 10)
        store.truncate(kept)

    assert names(tmp_path) == left
    assert found(tmp_path, 1, 10)[0] == 1


def test_what_is_purged_is_forgotten_with_its_blocks(tmp_path: Path) -> None:
    with EmbeddedStore(tmp_path, HistorySettings(count_blocks=4, purge_interval=1), NoLog()) as store:
        record(store, 1, 10)

    assert 3 not in names(tmp_path)
    assert names(tmp_path)[8] == MISSED[8]


def test_a_long_gap_is_recorded_by_a_round_of_names_and_a_number(tmp_path: Path) -> None:
    gap = MissedSlotOwners((ALICE, BOB), 100_001)
    with EmbeddedStore(tmp_path, HistorySettings(), NoLog()) as store:
        record(store, 1, 2)
        store.record([told(block_on(NO_BLOCK, 3, ()))._replace(missed=gap)])

    (row,) = found(tmp_path, 1, 10)[1]
    assert (row.validators, row.validators.count(ALICE)) == (gap, 50_001)
