"""A node that keeps a journal of accounts is killed at random moments; what it answers of past blocks stays right.

A usual run kills it three times; `JOURNAL_KILLS=100 scripts/test tests/history/test_past_kills.py` a hundred times.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from random import Random

from tests.chain.recorded_chains import advance, open_chain
from tests.history.test_past_accounts import assert_accounts, read, recording
from tests.rpc.api.past_answers import accounts_at

NAME, BEGINS, LAST, EACH = "open-pm", 20, 620, 60
KILLS = int(os.environ.get("JOURNAL_KILLS", "3"))
LONGEST = 1.2
"""Seconds after which the node is killed at the latest, once it has begun."""


def work(folder: Path) -> None:
    """Take in recorded blocks, a few in each commit."""
    with open_chain(NAME, folder) as chain, recording(chain, folder):
        sys.stdout.write("begun\n")
        sys.stdout.flush()
        while chain.head_number < LAST:
            advance(chain, NAME, min(LAST, chain.head_number + 1 + chain.head_number % 3))


def killed_somewhere(folder: Path, random: Random) -> bool:
    code = f"from pathlib import Path; from tests.history.test_past_kills import work; work(Path({str(folder)!r}))"
    victim = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)  # noqa: S603 - ourselves
    assert victim.stdout is not None
    victim.stdout.readline()
    try:
        victim.wait(random.uniform(0, LONGEST))
    except subprocess.TimeoutExpired:
        victim.kill()
    victim.communicate()
    return victim.returncode != 0


def test_what_accounts_were_is_right_after_every_kill(tmp_path: Path) -> None:
    folder, replayed, random = tmp_path / "node", tmp_path / "replayed", Random(18)  # noqa: S311 - no secret
    for each in (folder, replayed):
        each.mkdir()
    known = dict(accounts_at(NAME, replayed, range(BEGINS, LAST + 1, EACH)))
    with open_chain(NAME, folder) as chain:
        advance(chain, NAME, BEGINS)
    killed = 0
    for _ in range(KILLS):
        killed += killed_somewhere(folder, random)
        with open_chain(NAME, folder) as chain, recording(chain, folder) as store:
            assert store.accounts_begin == BEGINS
            # Killed before its first block, the history has none yet, and says nothing of a past; unless it was killed
            # between that block of the history and the state's commit, which takes it off again.
            assert store.head_number == chain.head_number or (store.head_number, chain.head_number) == (0, BEGINS)
            for height in range(BEGINS, store.head_number + 1, EACH):
                assert_accounts(read(store, folder), height, known[height])
            assert list(read(store, folder).faults(chain.packed_at)) == []
    with open_chain(NAME, folder) as chain, recording(chain, folder) as store:
        advance(chain, NAME, LAST)
        for height, accounts in known.items():
            assert_accounts(read(store, folder), height, accounts)
    assert killed
