"""A replay: what is durable meanwhile, and that none of its blocks is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.trunk import PopEmptyChain
from ledgerd.chain.offline.replay import BLOCKS_AT_ONCE, replay
from tests.chain.networks import put_genesis
from tests.chain.recorded_chains import BELIEVED, network_of
from tests.recorded import recorded_blocks

NAME, HEIGHT = "open-main", 3 * BLOCKS_AT_ONCE


class RecordedLog:
    """The beginning of a recorded chain with several validators: its last blocks are not irreversible."""

    head_number = HEIGHT

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        return iter(list(enumerate(recorded_blocks(NAME)[first - 1 : last], start=first)))


def replayed(folder: Path, clock: Callable[[], float]) -> Chain:
    network = network_of(NAME)
    put_genesis(folder, network)
    chain = Chain.open(folder, network, clock=clock)
    assert replay(chain, RecordedLog(), skip=BELIEVED) == HEIGHT
    return chain


def test_blocks_that_take_long_are_committed_before_all_are_applied(tmp_path: Path) -> None:
    seconds = count()
    with (
        replayed(tmp_path / "quick", lambda: 0.0) as quick,
        replayed(tmp_path / "slow", lambda: float(next(seconds))) as slow,
    ):
        commits = [chain.parts.store.commits for chain in (quick, slow)]

    assert commits[1] >= commits[0] + HEIGHT // BLOCKS_AT_ONCE - 1


def test_no_replayed_block_is_undone(tmp_path: Path) -> None:
    with replayed(tmp_path, lambda: 0.0) as chain:
        assert chain.irreversible < chain.head_number == HEIGHT
        with pytest.raises(PopEmptyChain):
            chain.pop_block()
    with Chain.open(tmp_path, network_of(NAME), clock=lambda: 0.0) as again:
        assert again.head_number == HEIGHT
        assert again.parts.store.undoable == 0
