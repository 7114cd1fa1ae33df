"""Work on a chain in a process that is killed at a random moment, and the look at what is left of it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from ledgerd.chain.chain import Chain
from ledgerd.chain.offline.invariants import check
from tests.chain.networks import start_seven
from tests.chain.victims import (
    BLOCKS_A_COMMIT,
    POPPED,
    open_for_production,
    open_for_replay,
    produce_in,
    replay_into,
)
from tests.chain.whole_state import first_change, whole_state
from tests.recorded import recorded_log

ROOT = Path(__file__).parents[2]

LONGEST_START = 1.0
LONGEST_WORK = 0.6
"""Seconds until a kill at the latest, if the victim is killed while it starts, and after that."""


def nobody(_height: int) -> None:
    """Who is told the heights where nobody waits for them."""


class Work:
    """One kind of work: how it begins, what a victim does of it, and the same without any interruption."""

    def __init__(self, kind: str, last: int, folder: Path) -> None:
        self.kind = kind
        self.last = last
        self.folder = folder
        folder.mkdir()
        (folder / "block_log").write_bytes(recorded_log("open-main"))
        self._base = folder / "base"
        if kind == "produce":
            start_seven(self._base).chain.close()
        else:
            self._base.mkdir()

    def begin(self, name: str) -> Path:
        """A folder in which the work is still to be done."""
        shutil.rmtree(self.folder / name, ignore_errors=True)
        return Path(shutil.copytree(self._base, self.folder / name))

    def victim(self, folder: Path, *room: int) -> subprocess.Popen[str]:
        words = [sys.executable, "-m", "tests.chain.victims", self.kind, folder, self.last, *room]
        return subprocess.Popen(  # noqa: S603 - ourselves
            [str(word) for word in words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    @contextmanager
    def opened(self, folder: Path) -> Iterator[tuple[Chain, Callable[[int], None]]]:
        """The chain of a folder, and how it is brought to a height, here and without interruption."""
        if self.kind == "produce":
            network = open_for_production(folder)
            with network.chain as chain:
                yield chain, lambda height: produce_in(network, height, nobody, pops=False)
        else:
            with open_for_replay(folder) as chain:
                yield chain, lambda height: replay_into(chain, self.folder / "block_log", height, nobody)

    def is_lost(self, reported: int, head: int) -> str | None:
        """What is wrong with a chain that stands at a height, after the report of a commit at another one."""
        if self.kind == "produce":
            is_popped = head == reported - 1 and reported % POPPED == 0
            is_right = head in {reported, reported + 1} or is_popped
        else:
            is_right = reported <= head <= reported + BLOCKS_A_COMMIT
        return None if is_right else f"the head is {head}, but {reported} was committed"


def what_is_left(work: Work, folder: Path, reference: Path, reported: int | None) -> int:
    """Look at a chain after its node has died; its height."""
    with work.opened(folder) as (chain, _), work.opened(reference) as (uninterrupted, bring_to):
        if reported is not None:
            assert work.is_lost(reported, chain.head_number) is None
        assert check(chain) == []
        if uninterrupted.head_number > chain.head_number:
            uninterrupted.pop_block()
        bring_to(chain.head_number)
        assert chain.head_id == uninterrupted.head_id
        head = chain.head_number
        changed = first_change(
            whole_state(uninterrupted.parts.store, head=head), whole_state(chain.parts.store, head=head)
        )
        assert changed is None, f"block {head}: {changed}"
        # A block that was popped again may have made others irreversible before.
        assert chain.parts.store.undoable <= uninterrupted.parts.store.undoable
    return head


def kill_somewhere(victim: subprocess.Popen[str], random: Random) -> tuple[bool, int | None]:
    """Kill at a random moment, sometimes of the start; whether it came in time, and the last height reported."""
    assert victim.stdout is not None
    heights = []
    if random.random() < 0.15:
        longest = LONGEST_START
    else:
        longest = LONGEST_WORK
        heights = [victim.stdout.readline()]
    try:
        victim.wait(random.uniform(0, longest))
    except subprocess.TimeoutExpired:
        victim.kill()
    out, err = victim.communicate()
    assert err == ""
    # The last line may have been cut off in the middle.
    heights += [line for line in out.splitlines(keepends=True) if line.endswith("\n")]
    return victim.returncode != 0, int(heights[-1]) if heights else None
