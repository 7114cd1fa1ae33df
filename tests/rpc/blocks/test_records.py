"""The file of `block_info`: what is written before a commit is what is read after it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from ledgerd.chain.ledger.events import BlockApplied, Event, IrreversibleAdvanced
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.rpc.blocks.records import UNKNOWN, BlockInfo, BlockRecorder, BlockRecords
from tests.chain.recorded_chains import advance, open_chain
from tests.recorded import recorded_blocks


def applied(number: int) -> BlockApplied:
    block = codec_of(Block).decode(recorded_blocks("open-2")[number - 1])
    return BlockApplied(block, (), 100 + number, 1000 + number, number - 1)


def info(number: int) -> BlockInfo:
    event = applied(number)
    return BlockInfo(event.block.id, len(event.block.packed), 100 + number, 1000 + number, number - 1)


def record(folder: Path, *events: Event) -> None:
    recorder = BlockRecorder(folder)
    recorder.committing(events)
    recorder.close()


def test_before_anything_is_recorded_nothing_is_known(tmp_path: Path) -> None:
    assert list(BlockRecords(tmp_path).scan(1, 3)) == [UNKNOWN, UNKNOWN]


def test_what_was_recorded_is_read_and_the_rest_is_unknown(tmp_path: Path) -> None:
    record(tmp_path, applied(2), IrreversibleAdvanced(1), applied(3), applied(6))
    read = list(BlockRecords(tmp_path).scan(1, 9))
    assert read == [UNKNOWN, info(2), info(3), UNKNOWN, UNKNOWN, info(6), UNKNOWN, UNKNOWN]
    assert [each.is_known for each in read[:2]] == [False, True]


def test_records_outlive_the_recorder(tmp_path: Path) -> None:
    record(tmp_path, applied(1))
    record(tmp_path, applied(2))
    assert list(BlockRecords(tmp_path).scan(1, 3)) == [info(1), info(2)]


def test_a_block_in_the_place_of_another_replaces_it(tmp_path: Path) -> None:
    record(tmp_path, applied(2), applied(3), applied(2)._replace(slot=7))
    first, second = BlockRecords(tmp_path).scan(2, 4)
    assert (first.aslot, second) == (7, info(3))


def test_an_empty_range_has_no_records(tmp_path: Path) -> None:
    record(tmp_path, applied(1))
    assert list(BlockRecords(tmp_path).scan(1, 1)) == []
    assert list(BlockRecords(tmp_path).scan(5, 1)) == []


def test_the_chain_tells_of_each_block_as_it_was_when_it_was_applied(tmp_path: Path) -> None:
    recorder = BlockRecorder(tmp_path)
    with open_chain("open-2", tmp_path) as chain:
        chain.observe(recorder)
        advance(chain, "open-2", 60)
    recorder.close()
    known = list(BlockRecords(tmp_path).scan(1, 61))
    assert all(each.is_known for each in known)
    assert all(before.aslot < after.aslot for before, after in pairwise(known))
    irreversible = [each.last_irreversible_block_num for each in known]
    assert irreversible == sorted(irreversible)
    assert irreversible[-1] > 0
