"""Conversions of a store that are killed, each at the next of its steps: a process of its own for one of the tests.

python -m tests.upgrades.killed_conversions BASE FOLDER
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from itertools import count
from pathlib import Path

from tests.upgrades.next_tables import STEP, convert

FILES = frozenset({"open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "shutil.rmtree", STEP})
"""What a process does to files, and the rows of the conversion, as it is told to an audit hook: before it happens."""


def kill_at(place: int, folder: Path) -> None:
    """Have this process killed at so many steps that touch a folder."""
    left = [place]

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in FILES and any(str(folder) in str(each) for each in arguments[:2]):
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def main(base: Path, folder: Path) -> None:
    """One folder for each kill, and a last one in which none came in time."""
    for place in count(1):
        victim = Path(shutil.copytree(base, folder / str(place)))
        child = os.fork()
        if not child:
            kill_at(place, victim)
            convert(victim)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            sys.exit(os.WEXITSTATUS(status))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
