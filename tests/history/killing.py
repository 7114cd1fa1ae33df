"""A chain with the history of its operations in a process that is killed, and the history that it must have."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.log_bytes import LogBytes
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HistorySettings
from tests.chain.networks import GENESIS, SMALL, Clock, start_seven
from tests.chain.observing import observe
from tests.history.histories import followed, view_of
from tests.history.model import Model, assert_same
from tests.history.victims import opened

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
                observe(clean, model.take)
            block = chain.block_at(number)
            assert block is not None
            clean.push_block(block, VERIFIED_BEFORE, commit=False).or_raise()
        clean.commit()
    return model


def whole_history(kind: str, folder: Path, clean: Path, began: int) -> int:
    """Compare the history of a node that has died with that of a clean replay; the height of its chain."""
    with opened(kind, folder) as chain, followed(chain, folder) as store, view_of(store, folder) as view:
        if chain.head_number > began:
            # A kill between the first start and the first commit: the next start tells the reversible blocks too.
            began = min(began, first_block_of(store, folder) - 1)
            assert_same(view, clean_replay(chain, clean, began), chain.head_number, began + 1)
        return chain.head_number


def first_block_of(store: EmbeddedStore, folder: Path) -> int:
    """Where a history begins."""
    history = EmbeddedHistory(store.environment, LogBytes(folder / STATE_FOLDER), HistorySettings())
    with history.keeping(lambda _: None) as kept:
        return kept.first


def begin(kind: str, folder: Path) -> int:
    """A folder in which the work is still to be done; the height at which it begins."""
    if kind == "replay":
        folder.mkdir()
        return 0
    with start_seven(folder).chain as chain:
        return chain.head_number
