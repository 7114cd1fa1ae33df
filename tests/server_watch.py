"""Stops a PostgreSQL server and removes its folder once nobody who uses it runs, however they have ended.

`python -m tests.server_watch FOLDER LOCK [NOTE]` waits until nobody holds the lock: the kernel takes it from a process
that was killed, too. NOTE is removed with the server.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path
from subprocess import DEVNULL
from typing import IO

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "postgres"


def use(lock: Path) -> IO[str]:
    """Use what a watch guards, until the file that is returned is closed, or this process ends."""
    held = lock.open("w")
    fcntl.flock(held, fcntl.LOCK_SH)
    return held


def begin_watch(folder: Path, lock: Path, *notes: Path) -> None:
    """Watch a server beside this process, which already uses it."""
    words = [sys.executable, "-m", "tests.server_watch", *map(str, (folder, lock, *notes))]
    subprocess.run(words, cwd=ROOT, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=True)  # noqa: S603 - ourselves


def watch(folder: Path, lock: Path, notes: list[Path]) -> None:
    """Wait until nobody uses it, and remove it. Whoever comes meanwhile waits for the lock, and finds no note."""
    with lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        subprocess.run([str(SCRIPT), "stop", str(folder)], capture_output=True, check=False)  # noqa: S603 - ours
        for note in notes:
            note.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    if os.fork():
        os._exit(0)
    os.setsid()  # a signal to all processes of the run, as of Ctrl-C, leaves it alone
    watch(Path(sys.argv[1]), Path(sys.argv[2]), [Path(each) for each in sys.argv[3:]])
