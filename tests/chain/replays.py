"""Recorded chains that stand at a height: each is replayed once in a run of the tests, and who needs it takes a copy.

`test_recorded_chains` proves that the replay is right, and keeps what it has replayed. All processes of a run share
the copies, and the next run makes its own: what a change broke is never hidden by what was kept before it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from ledgerd.chain.chain import Chain
from tests.chain.recorded_chains import advance, open_chain

OpenChain = Callable[[str, Path], AbstractContextManager[Chain]]

PLACE = "LEDGERD_TESTS_REPLAYS"
"""Where the environment names the folder of this run, which `tests.conftest` makes."""


def open_replayed(name: str, height: int, folder: Path) -> Chain:
    """A recorded chain in a folder of the test's own, with all blocks up to a height."""
    copy_replayed(name, height, folder)
    return open_chain(name, folder)


def copy_replayed(name: str, height: int, folder: Path, kind: str = "", opened: OpenChain = open_chain) -> None:
    """Fill a folder with the data directory of a recorded chain that stands at a height.

    A kind of replays has more in it than the chain, which is kept by whatever opens the chain.
    """
    with _replays_of(f"{name}{kind}") as place:
        made = place / f"{name}{kind}-{height}"
        if not made.exists():
            _replay(name, height, place, kind, opened)
    shutil.copytree(made, folder, dirs_exist_ok=True)


def keep_replay(name: str, height: int, folder: Path, kind: str = "", without: Sequence[str] = ()) -> None:
    """Let others begin with a chain that was replayed up to a height, and has been committed there."""
    title = f"{name}{kind}"
    with _replays_of(title) as place:
        made = place / f"{title}-{height}"
        if not made.exists():
            shutil.copytree(folder, place / f"{title}-growing", ignore=shutil.ignore_patterns("lock.mdb", *without))
            (place / f"{title}-growing").rename(made)


@contextmanager
def _replays_of(name: str) -> Iterator[Path]:
    """The folder of this run; no other process makes a replay of this chain meanwhile."""
    place = Path(os.environ[PLACE])
    with (place / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(place / f"{name}-growing", ignore_errors=True)
        yield place


def _replay(name: str, height: int, place: Path, kind: str, opened: OpenChain) -> None:
    """Begin with the highest that is below; a folder has its name once it is whole."""
    title = f"{name}{kind}"
    below = [each for each in _heights(title, place) if each < height]
    growing = place / f"{title}-growing"
    if below:
        shutil.copytree(place / f"{title}-{max(below)}", growing)
    else:
        growing.mkdir()
    with opened(name, growing) as chain:
        advance(chain, name, height)
    growing.rename(place / f"{title}-{height}")


def _heights(name: str, place: Path) -> list[int]:
    ends = (each.name.removeprefix(f"{name}-") for each in place.glob(f"{name}-*"))
    return [int(end) for end in ends if end.isdecimal()]
