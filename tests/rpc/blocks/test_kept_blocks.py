"""Blocks for API methods: from the state while they may be taken back, from a log afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER, LogDamaged
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.views.reader import CommitView, StateReader
from tests.chain.recorded_chains import advance, open_chain
from tests.recorded import recorded_blocks

HEAD = 150
"""Of a chain of several validators, in which the last blocks may still be taken back."""


class ShortLog(BlockLogReader):
    """A log that begins late, as in a node that began with a snapshot."""

    @property
    def first_number(self) -> int:
        return 100


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    with open_chain("open-main", folder) as chain:
        advance(chain, "open-main", HEAD)
    return folder / STATE_FOLDER


@pytest.fixture
def state(folder: Path) -> Iterator[CommitView]:
    with StateReader.open(folder, STORED_TABLES) as reader, reader.snapshot() as state:
        yield state


def test_every_block_of_the_trunk_is_found(folder: Path, state: CommitView) -> None:
    archive = KeptBlocks(BlockLogReader.open(folder))
    irreversible = state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).last_irreversible_block_num
    assert 0 < irreversible < HEAD
    for number in (1, irreversible, irreversible + 1, HEAD):
        assert archive.packed(state, number) == recorded_blocks("open-main")[number - 1]


def test_a_block_that_does_not_exist_is_not_found(folder: Path, state: CommitView) -> None:
    archive = KeptBlocks(BlockLogReader.open(folder))
    assert [archive.block(state, number) for number in (0, HEAD + 1, 0xFFFFFFFF)] == [None, None, None]


def test_without_a_log_only_what_may_be_taken_back_is_found(state: CommitView) -> None:
    archive = KeptBlocks()
    assert archive.packed(state, 1) is None
    assert archive.packed(state, HEAD) == recorded_blocks("open-main")[HEAD - 1]


def test_a_log_in_which_a_block_is_not_is_followed_by_the_next(folder: Path, tmp_path: Path, state: CommitView) -> None:
    archive = KeptBlocks(BlockLogReader.open(tmp_path), BlockLogReader.open(folder))
    assert archive.packed(state, 1) == recorded_blocks("open-main")[0]


def test_the_earliest_block_is_that_of_the_log_or_else_the_head(folder: Path, tmp_path: Path) -> None:
    assert KeptBlocks(BlockLogReader.open(folder)).earliest(HEAD) == 1
    assert KeptBlocks(BlockLogReader.open(tmp_path), ShortLog.open(folder)).earliest(HEAD) == 100
    assert KeptBlocks(BlockLogReader.open(tmp_path)).earliest(HEAD) == HEAD
    assert KeptBlocks(ShortLog.open(folder)).earliest(50) == 50


def test_a_block_that_has_rotted_is_an_error_and_not_served(folder: Path, state: CommitView, tmp_path: Path) -> None:
    for path in folder.glob("block_log*"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    data, packed = (tmp_path / "block_log").read_bytes(), recorded_blocks("open-main")[19]
    (tmp_path / "block_log").write_bytes(data.replace(packed, packed[:30] + bytes([packed[30] ^ 1]) + packed[31:]))
    archive = KeptBlocks(BlockLogReader.open(tmp_path))
    assert archive.packed(state, 19) == recorded_blocks("open-main")[18]
    with pytest.raises(LogDamaged, match=r"^block 20 of "):
        archive.packed(state, 20)
