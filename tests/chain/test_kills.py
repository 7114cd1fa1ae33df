"""`kill -9` at any moment of a replay and of live production, and disks that fill up: what is left is whole.

Each time the state opens again at a block that was committed, or just had been, it is that of a chain that was
never interrupted, and it goes on to the same end. `scripts/kills` kills 200 times; a usual run a few times, and in
shorter chains. `KILLS=6 scripts/test tests/chain/test_kills.py` fills disks at more places, too.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from ledgerd.chain.offline.invariants import check
from ledgerd.protocol.errors import OperatorError
from tests.chain.killing import Work, kill_somewhere, what_is_left
from tests.chain.victims import FAILED

KILLS = int(os.environ.get("KILLS", "4"))
"""How many moments are tried, half of them in a replay and half in production."""

WORKS = (("replay", 900), ("produce", 500)) if "KILLS" in os.environ else (("replay", 300), ("produce", 220))
"""Each kind, and its last block. What is made begins after a hundred blocks."""

PLACES = (
    {"replay": (0.2, 0.7), "produce": (0.2, 0.7)} if "KILLS" in os.environ else {"replay": (0.2,), "produce": (0.7,)}
)
"""Which parts of what the chain takes there is room for."""


@pytest.mark.parametrize(("kind", "last"), WORKS)
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


@pytest.mark.parametrize(("kind", "last"), WORKS)
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
    reference = work.begin("uninterrupted")
    folders = []
    for part in PLACES[kind]:
        folders.append(folder := work.begin(f"full at {part}"))
        victim = work.victim(folder, int(smallest + (largest - smallest) * part))
        out, err = victim.communicate()
        assert victim.returncode == FAILED, err
        assert " space " in err
        assert err.endswith("the state is that of the last commit\n")
        assert err.count("\n") == 1
        heights = out.splitlines()
        what_is_left(work, folder, reference, int(heights[-1]) if heights else None)
    for folder in folders:
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
