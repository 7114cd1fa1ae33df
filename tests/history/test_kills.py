"""`kill -9` at any moment of a replay and of live production: afterwards the history is that of a clean replay.

A usual run kills once each, in shorter chains; `scripts/kills` kills 200 times.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from random import Random

import pytest

from tests.history.killing import begin, killed_somewhere, whole_history
from tests.recorded import recorded_log

KILLS = int(os.environ.get("KILLS", "2"))
"""How many moments are tried, half of them in a replay and half in production."""

WORKS = (("replay", 900), ("produce", 300)) if "KILLS" in os.environ else (("replay", 480), ("produce", 200))
"""Each kind, and its last block."""


@pytest.mark.parametrize(("kind", "last"), WORKS)
def test_a_node_that_is_killed_has_the_history_of_a_clean_replay(kind: str, last: int, tmp_path: Path) -> None:
    random = Random()  # noqa: S311 - moments to kill at, which no seed would bring back
    (tmp_path / "block_log").write_bytes(recorded_log("open-main"))
    folder, killed, began = tmp_path / "killed", 0, 0
    while killed < KILLS // 2:
        if not folder.exists():
            began = begin(kind, folder)
        is_killed = killed_somewhere(kind, folder, last, random)
        killed += is_killed
        whole_history(kind, folder, tmp_path / "clean", began)
        shutil.rmtree(tmp_path / "clean", ignore_errors=True)
        if not is_killed:
            shutil.rmtree(folder)
