"""The last step: which state of a trusted peer replaces ours, from servers of this process over loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.datadir.state_files import NEW
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.watching.recovery.part import replace_state
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.snapshot.file.read import Snapshot
from tests.chain.networks import Network
from tests.node.contexts import context_of
from tests.node.parts.test_bootstrap import configured, in_time, serving, tree
from tests.node.parts.two_snapshots import Made, begun_with, written


class Oracle:
    """Peers that confirm one block, deny others, or are silent."""

    def __init__(self, known: BlockId | None, *, is_silent: bool = False) -> None:
        self.asked: list[tuple[int, BlockId]] = []
        self._known = known
        self._is_silent = is_silent

    def confirm(self, number: int, block_id: BlockId) -> None:
        self.asked.append((number, block_id))

    @property
    def is_confirmed(self) -> bool | None:
        return None if self._is_silent else self.asked[-1][1] == self._known


def outcome(data: Path, peers: Oracle, *folders: Path) -> tuple[str, bool]:
    """What the step says, and whether a new state is ready."""
    found: list[tuple[str, bool]] = []

    async def sleep(_: float) -> None:
        await asyncio.sleep(0)

    async def main() -> None:
        async with serving(*folders) as ports:
            configuration = configured(data, ports)
            chain = ChainPart(context_of(ChainPart, configuration))
            await chain.start()
            try:
                told = await replace_state(configuration, chain, cast("Any", peers), sleep)
                found.append((told, NEW in tree(data / STATE_FOLDER)))
            finally:
                await chain.stop()

    in_time(main)
    return found[0]


Begin = Callable[[], Path]


@pytest.fixture
def begin(made: Made, tmp_path: Path) -> Begin:
    """The data of a node that stands at the older snapshot."""

    def begun() -> Path:
        data = tmp_path / "data"
        data.mkdir()
        begun_with(data, made.older)
        return data

    return begun


def test_a_state_that_peers_confirm_is_ready_to_replace_ours(made: Made, begin: Begin) -> None:
    newer = Snapshot.from_path(made.newer)
    peers = Oracle(newer.head_id)
    assert outcome(begin(), peers, made.newer.parent) == ("", True)
    assert peers.asked == [(newer.head_number, newer.head_id)]


@pytest.mark.parametrize("is_silent", [False, True])
def test_a_state_that_nobody_confirms_is_dropped(made: Made, begin: Begin, is_silent: bool) -> None:
    told, is_ready = outcome(begin(), Oracle(None, is_silent=is_silent), made.newer.parent)
    assert "no trusted peer has a snapshot" in told
    assert not is_ready


def test_a_state_that_is_not_newer_is_none(made: Made, begin: Begin) -> None:
    peers = Oracle(None)
    told, is_ready = outcome(begin(), peers, made.older.parent)
    assert "no trusted peer has a snapshot above block 14" in told
    assert not is_ready
    assert peers.asked == []


def test_a_state_of_another_chain_is_refused(
    made: Made, begin: Begin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    other = Network(tmp_path / "other", genesis=made.source.genesis + 3_000)
    other.start()
    other.produce(20)
    (tmp_path / "shelf").mkdir()
    written(other, tmp_path / "shelf")
    other.chain.close()
    peers = Oracle(None)
    told, is_ready = outcome(begin(), peers, tmp_path / "shelf")
    assert "no trusted peer has a snapshot" in told
    assert not is_ready
    assert "it is another chain" in caplog.text
    assert peers.asked == []
