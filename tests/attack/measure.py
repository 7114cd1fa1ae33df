"""What the system tells of processes: private memory, processor time, and the room that files take."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

MAPS = ("data.mdb",)
"""Files mapped into memory that are apart: their pages are the system's cache."""
TICKS = os.sysconf("SC_CLK_TCK")


def tree(process: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield process
    with suppress(OSError):
        for children in Path(f"/proc/{process}/task").glob("*/children"):
            for child in children.read_text().split():
                yield from tree(int(child))


def private_bytes(process: int) -> int:
    """Memory that no other process shares, the maps of databases apart; nothing of a process that has ended."""
    total, is_apart = 0, False
    with suppress(OSError):
        for line in Path(f"/proc/{process}/smaps").read_text().splitlines():
            word, _, rest = line.partition(" ")
            if not word.endswith(":"):
                is_apart = rest.rstrip().endswith(MAPS)
            elif word in {"Private_Clean:", "Private_Dirty:"} and not is_apart:
                total += int(rest.split()[0]) * 1024
    return total


def processor_seconds(process: int) -> float:
    """What all threads of a process have used."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS


def folder_bytes(folder: Path) -> int:
    """What its files take on the disk."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_blocks * 512
    return total


class Memory:
    """The most private memory of a main process and of each of its workers."""

    def __init__(self, process: int) -> None:
        self._process = process
        self.main = 0
        self.workers: dict[int, int] = {}
        """By process id: a worker that was killed and its successor are two."""

    def look(self) -> None:
        """Once more."""
        for process in tree(self._process):
            size = private_bytes(process)
            if process == self._process:
                self.main = max(self.main, size)
            else:
                self.workers[process] = max(size, self.workers.get(process, 0))

    @property
    def worker(self) -> int:
        """The largest worker."""
        return max(self.workers.values(), default=0)
