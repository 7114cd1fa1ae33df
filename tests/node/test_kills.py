"""`kill -9` of a node that fetches blocks or takes in a snapshot: what is left is whole, and it goes on from there.

A usual run kills a few times; `scripts/long_runs kills-sync kills-import` kills hundreds of times.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from ledgerd.state.errors import StorageError
from ledgerd.state.files.disk import DATA_FILE
from tests.node import killing
from tests.node.killing import Importing, Syncing, files_in, kill_after

KILLS = 3


def test_a_node_that_is_killed_while_it_fetches_blocks_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(killing, "SYNCED", ("open-1", 300))
    work, random = Syncing(tmp_path), Random(os.urandom(4))  # noqa: S311 - moments to kill at
    work.begin()
    heights = [0]
    for _ in range(KILLS):
        after = work.kill(random)
        heights.append(after.height)

    assert heights == sorted(heights)


def test_a_node_that_is_killed_while_it_takes_in_a_snapshot_has_all_of_it_or_nothing(tmp_path: Path) -> None:
    work, random = Importing(tmp_path), Random(os.urandom(4))  # noqa: S311 - moments to kill at
    work.begin()

    assert {work.kill(random).height for _ in range(KILLS)} <= {0, killing.IMPORTED_HEIGHT}


def test_an_import_that_ends_leaves_the_state_that_it_is_compared_with(tmp_path: Path) -> None:
    work = Importing(tmp_path)
    work.begin()

    class Late(Random):
        """The command, and a moment long after it has ended."""

        def random(self) -> float:
            return 0.0

        def uniform(self, _low: float, _high: float) -> float:
            return 30.0

    assert work.kill(Late()) == (False, False, killing.IMPORTED_HEIGHT)
    data = files_in(tmp_path / "node").folder / DATA_FILE
    data.write_bytes(data.read_bytes()[: data.stat().st_size // 2])
    with pytest.raises((AssertionError, StorageError)):
        work._looked_at()  # noqa: SLF001 - no kill leaves half a state, so the look at one is asked for


def test_a_command_that_fails_by_itself_is_found(tmp_path: Path) -> None:
    with pytest.raises(AssertionError):
        kill_after(("snapshot", "import", "--data-dir", str(tmp_path), "no-such-file"), tmp_path / "node", 30.0)
