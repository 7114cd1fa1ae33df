"""`kill -9` at any moment of a replay and of live production, and disks that fill up: what is left is whole.

Each time the state opens again at a block that was committed, or just had been, it is that of a chain that was
never interrupted, and it goes on to the same end. `scripts/kills` kills 200 times; a usual run a few times.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.offline.invariants import check
from ledgerd.protocol.errors import OperatorError
from tests.chain.networks import start_seven
from tests.chain.victims import (
    BLOCKS_A_COMMIT,
    FAILED,
    POPPED,
    open_for_production,
    open_for_replay,
    produce_in,
    replay_into,
)
from tests.chain.whole_state import first_change, whole_state
from tests.recorded import recorded_log

KILLS = int(os.environ.get("KILLS", "6"))
"""How many moments are tried, half of them in a replay and half in production."""

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


@pytest.mark.parametrize(("kind", "last"), [("replay", 900), ("produce", 500)])
def test_a_node_that_is_killed_opens_at_a_block_and_goes_on_to_the_same_end(
    kind: str, last: int, tmp_path: Path
) -> None:
    seed = int.from_bytes(os.urandom(4), "big")
    random = Random(seed)  # noqa: S311 - moments to kill at
    work = Work(kind, last, tmp_path / kind)
    killed = 0
    while killed < KILLS // 2:
        folder, reference = work.begin("killed"), work.begin("uninterrupted")
        head = 0
        while head < last:
            if killed < KILLS // 2:
                is_killed, reported = kill_somewhere(work.victim(folder), random)
                killed += is_killed
            else:
                out, _ = work.victim(folder).communicate()
                reported = int(out.splitlines()[-1])
            head = what_is_left(work, folder, reference, reported)
        logs = [each / "state" / "block_log" for each in (folder, reference)]
        assert logs[0].read_bytes() == logs[1].read_bytes()


@pytest.mark.parametrize(("kind", "last"), [("replay", 900), ("produce", 500)])
def test_a_node_whose_disk_is_full_stops_at_a_block_and_goes_on_when_there_is_room(
    kind: str, last: int, tmp_path: Path
) -> None:
    """The room is that of one file: wherever between its first and its last size it ends."""
    work = Work(kind, last, tmp_path / kind)
    whole = work.begin("whole")
    work.victim(whole).communicate()
    with work.opened(work.begin("empty")):
        pass
    smallest, largest = ((work.folder / name / "state" / "data.mdb").stat().st_size for name in ("empty", "whole"))
    for part in (0.2, 0.7):
        folder, reference = work.begin("full"), work.begin("uninterrupted")
        victim = work.victim(folder, int(smallest + (largest - smallest) * part))
        out, err = victim.communicate()
        assert victim.returncode == FAILED, err
        assert " space " in err
        assert err.endswith("the state is that of the last commit\n")
        assert err.count("\n") == 1
        heights = out.splitlines()
        what_is_left(work, folder, reference, int(heights[-1]) if heights else None)
        work.victim(folder).communicate()
        assert what_is_left(work, folder, reference, last) == last


def test_a_block_that_the_log_has_no_room_for_is_there_when_it_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work = Work("produce", 500, tmp_path / "work")
    folder, reference = work.begin("full"), work.begin("uninterrupted")
    with work.opened(folder) as (chain, bring_to):
        height = chain.head_number

        def no_room(_file: int, _data: bytes, _place: int) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr("ledgerd.chain.log.block_log.write_at", no_room)
            with pytest.raises(OperatorError, match="No space left on device"):
                bring_to(height + 1)
        assert chain.head_number == height + 1
        chain.commit()
        assert check(chain) == []
        bring_to(height + 20)
    assert what_is_left(work, folder, reference, height + 20) == height + 20
