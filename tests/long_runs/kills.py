"""Kills of processes at moments that a seed chooses, each followed by a look at the directory that is left."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Protocol

from tests.chain.killing import Work, kill_somewhere, what_is_left
from tests.fuzz.playing import Played
from tests.history.killing import begin, killed_somewhere, whole_history
from tests.node.killing import After, Importing, Syncing
from tests.recorded import recorded_log

KILLS_OF_A_SEED = 10
"""At the most: a seed ends where the work comes to its end."""


class Killable(Protocol):
    """Work of a process, which goes on where it was killed."""

    def begin(self) -> None:
        """A folder in which all is still to be done."""

    def kill(self, random: Random) -> After:
        """Let the work go on, kill it, and look at what is left."""


def kill_through(work: Killable, seed: int) -> Played:
    """Kill the same work again and again. The moments are those of the seed; what is hit there, no seed decides."""
    random, kills, left = Random(seed), 0, 0  # noqa: S311 - moments to kill at
    work.begin()
    for _ in range(KILLS_OF_A_SEED):
        after = work.kill(random)
        kills += after.was_killed
        left += after.was_killed and after.height > 0
        if after.is_done:
            break
    return Played(kills, left)


class OnChain:
    """A replay or production, on the chain alone; it is to come to the same end as without a kill."""

    def __init__(self, kind: str, last: int, folder: Path) -> None:
        self._work = Work(kind, last, folder / kind)
        self._last = last

    def begin(self) -> None:
        self._killed, self._reference = self._work.begin("killed"), self._work.begin("uninterrupted")

    def kill(self, random: Random) -> After:
        was_killed, reported = kill_somewhere(self._work.victim(self._killed), random)
        head = what_is_left(self._work, self._killed, self._reference, reported)
        return After(was_killed, head >= self._last, head)


class WithHistory:
    """The same with the history of its operations; which of both, chance decides."""

    LAST = {"replay": 900, "produce": 300}  # noqa: RUF012 - never changed

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._begun: dict[str, int] = {}
        (folder / "block_log").write_bytes(recorded_log("open-main"))

    def begin(self) -> None:
        for kind in self.LAST:
            shutil.rmtree(self._folder / kind, ignore_errors=True)
        self._begun = {kind: begin(kind, self._folder / kind) for kind in self.LAST}

    def kill(self, random: Random) -> After:
        kind = random.choice(sorted(self.LAST))
        folder, clean = self._folder / kind, self._folder / "clean"
        was_killed = killed_somewhere(kind, folder, self.LAST[kind], random)
        height = whole_history(kind, folder, clean, self._begun[kind])
        shutil.rmtree(clean, ignore_errors=True)
        return After(was_killed, not was_killed, height)


KINDS: dict[str, Callable[[Path], Killable]] = {
    "production": lambda folder: OnChain("produce", 500, folder),
    "replay": lambda folder: OnChain("replay", 900, folder),
    "sync": Syncing,
    "import": Importing,
    "history": WithHistory,
}
