"""The blocks of a directory are found wherever they are, and what is missing is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.log.files import STATE_FOLDER, LogDamaged
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.disk import DATA_FILE
from tests.archive.files import without_past, write_archive
from tests.chain.recorded_chains import open_chain
from tests.chain.replays import copy_replayed
from tests.node.datadir.past_directories import ARCHIVE, blocks_of
from tests.recorded import recorded_blocks

BLOCKS = recorded_blocks("open-main")


def test_a_whole_log_and_the_state_have_every_block(tmp_path: Path) -> None:
    copy_replayed("open-main", 900, tmp_path)
    with open_chain("open-main", tmp_path) as chain:
        head_id, irreversible = chain.head_id, chain.irreversible
    assert irreversible < 900, "the last blocks are in the state alone"
    with blocks_of(tmp_path) as blocks:
        assert blocks.head_number == 900
        assert list(map(str, blocks.ranges())) == ["blocks 1 to 900"]
        assert blocks.missing(1, 900) == []
        assert [packed for _, packed in blocks.scan(1, 900)] == list(BLOCKS[:900])
        assert [number for number, _ in blocks.scan(890, 895)] == [*range(890, 896)]
        assert blocks.id_at(900) == head_id


def test_ranges_of_all_places_are_joined_and_gaps_are_named(tmp_path: Path) -> None:
    without_past(tmp_path, "open-main", 900, 421)
    write_archive(tmp_path / ARCHIVE, BLOCKS[:320], 100)
    (tmp_path / ARCHIVE / "blocks-0000000100-0000000199.log").unlink()
    with blocks_of(tmp_path) as blocks:
        assert list(map(str, blocks.ranges())) == ["blocks 1 to 99", "blocks 200 to 299", "blocks 421 to 900"]
        assert list(map(str, blocks.missing(50, 421))) == ["blocks 100 to 199", "blocks 300 to 420"]
        assert list(map(str, blocks.missing(99, 100))) == ["block 100"]
        assert list(map(str, blocks.missing(100, 100))) == ["block 100"]
        assert blocks.missing(1, 99) == []
        assert list(map(str, blocks.missing(880, 905))) == ["blocks 901 to 905"]
        with pytest.raises(OperatorError, match="blocks 100 to 199 of the range are gone"):
            list(blocks.scan(50, 250))
        following = dict(blocks.scan(200, 210))
        assert blocks.id_at(200) is not None
        assert following[201][: len(blocks.id_at(200) or b"")] == blocks.id_at(200)
        assert blocks.id_at(299) is not None, "by itself"
        assert blocks.id_at(420) is not None, "by the block that follows it"
        assert blocks.id_at(150) is not None, "by the state, which knows the latest 65,536"
        assert blocks.id_at(2_000) is None


def test_without_a_state_the_logs_count(tmp_path: Path) -> None:
    copy_replayed("open-main", 900, tmp_path)
    (tmp_path / STATE_FOLDER / DATA_FILE).unlink()
    with blocks_of(tmp_path) as blocks:
        assert 0 < blocks.head_number < 900
        assert blocks.id_at(901) is None
    with blocks_of(tmp_path / "nothing") as blocks:
        assert blocks.head_number == 0
        assert blocks.ranges() == []


def test_a_damaged_block_is_named(tmp_path: Path) -> None:
    copy_replayed("open-main", 900, tmp_path)
    path, packed = tmp_path / STATE_FOLDER / "block_log", BLOCKS[299]
    path.write_bytes(path.read_bytes().replace(packed, packed[:40] + bytes([packed[40] ^ 1]) + packed[41:]))
    with blocks_of(tmp_path) as blocks, pytest.raises(LogDamaged, match="block 300 of"):
        list(blocks.scan(1, 900))
