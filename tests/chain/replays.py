"""Recorded chains that stand at a height: each is replayed once in a run of the tests, and who needs it takes a copy.

`test_recorded_chains` proves that the replay is right, and keeps what it has replayed. All processes of a run share
the copies, and the next run makes its own: what a change broke is never hidden by what was kept before it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.chain.chain import Chain
from tests.chain.recorded_chains import advance, open_chain

PLACE = "LEDGERD_TESTS_REPLAYS"
"""Where the environment names the folder of this run, which `tests.conftest` makes."""


def open_replayed(name: str, height: int, folder: Path) -> Chain:
    """A recorded chain in a folder of the test's own, with all blocks up to a height."""
    copy_replayed(name, height, folder)
    return open_chain(name, folder)


def copy_replayed(name: str, height: int, folder: Path) -> None:
    """Fill a folder with the data directory of a recorded chain that stands at a height."""
    with _replays_of(name) as place:
        made = place / f"{name}-{height}"
        if not made.exists():
            _replay(name, height, place)
    shutil.copytree(made, folder, dirs_exist_ok=True)


def keep_replay(name: str, height: int, folder: Path) -> None:
    """Let others begin with a chain that was replayed up to a height, and has been committed there."""
    with _replays_of(name) as place:
        made = place / f"{name}-{height}"
        if not made.exists():
            shutil.copytree(folder, place / f"{name}-growing", ignore=shutil.ignore_patterns("lock.mdb"))
            (place / f"{name}-growing").rename(made)


@contextmanager
def _replays_of(name: str) -> Iterator[Path]:
    """The folder of this run; no other process makes a replay of this chain meanwhile."""
    place = Path(os.environ[PLACE])
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(place / f"{name}-growing", ignore_errors=True)
        yield place


def _replay(name: str, height: int, place: Path) -> None:
    """Begin with the highest that is below; a folder has its name once it is whole."""
    below = [each for each in _heights(name, place) if each < height]
    growing = place / f"{name}-growing"
    if below:
        shutil.copytree(place / f"{name}-{max(below)}", growing)
    else:
        growing.mkdir()
    with open_chain(name, growing) as chain:
        advance(chain, name, height)
    growing.rename(place / f"{name}-{height}")


def _heights(name: str, place: Path) -> list[int]:
    ends = (each.name.removeprefix(f"{name}-") for each in place.glob(f"{name}-*"))
    return [int(end) for end in ends if end.isdecimal()]
