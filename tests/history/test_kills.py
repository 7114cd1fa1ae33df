"""`kill -9` at any moment of a replay and of live production: afterwards the history is that of a clean replay.

A usual run kills a few times; `scripts/kills` kills 200 times.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE
from tests.chain.networks import GENESIS, SMALL, Clock, start_seven
from tests.history.histories import followed, view_of
from tests.history.model import Model, assert_same
from tests.history.victims import opened
from tests.recorded import recorded_log

KILLS = int(os.environ.get("KILLS", "4"))
"""How many moments are tried, half of them in a replay and half in production."""

ROOT = Path(__file__).parents[2]
LONGEST_WORK = 0.6


def killed_somewhere(kind: str, folder: Path, last: int, random: Random) -> bool:
    """Let a victim work and kill it at a random moment; whether it came in time."""
    words = [sys.executable, "-m", "tests.history.victims", kind, str(folder), str(last)]
    victim = subprocess.Popen(  # noqa: S603 - ourselves
        words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert victim.stdout is not None
    victim.stdout.readline()
    try:
        victim.wait(random.uniform(0, LONGEST_WORK))
    except subprocess.TimeoutExpired:
        victim.kill()
    assert victim.communicate()[1] == ""
    return victim.returncode != 0


def clean_replay(chain: Chain, folder: Path, began: int) -> Model:
    """What a chain that takes in the same blocks tells of those behind the one where the history began."""
    model = Model()
    with Chain.open(folder, chain.network, clock=Clock(), genesis_time=GENESIS, space=SMALL) as clean:
        for number in range(1, chain.head_number + 1):
            if number == began + 1:
                clean.commit()
                clean.subscribe(model.take)
            block = chain.block_at(number)
            assert block is not None
            clean.push_block(block, VERIFIED_BEFORE, commit=False).or_raise()
        clean.commit()
    return model


@pytest.mark.parametrize(("kind", "last"), [("replay", 900), ("produce", 300)])
def test_a_node_that_is_killed_has_the_history_of_a_clean_replay(kind: str, last: int, tmp_path: Path) -> None:
    random = Random()  # noqa: S311 - moments to kill at, which no seed would bring back
    (tmp_path / "block_log").write_bytes(recorded_log("open-main"))
    folder, killed, began = tmp_path / "killed", 0, 0
    while killed < KILLS // 2:
        if not folder.exists():
            began = begin(kind, folder)
        is_killed = killed_somewhere(kind, folder, last, random)
        killed += is_killed
        with opened(kind, folder) as chain, followed(chain, folder) as store, view_of(store, folder) as view:
            if chain.head_number > began:
                model = clean_replay(chain, tmp_path / "clean", began)
                assert_same(view, model, chain.head_number, began + 1)
        shutil.rmtree(tmp_path / "clean", ignore_errors=True)
        if not is_killed:
            shutil.rmtree(folder)


def begin(kind: str, folder: Path) -> int:
    """A folder in which the work is still to be done; the height at which it begins."""
    if kind == "replay":
        folder.mkdir()
        return 0
    with start_seven(folder).chain as chain:
        return chain.head_number
