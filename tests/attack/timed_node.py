"""The program of a node that notes how long each block took on the chain's thread: rules, commit, and what is told; and
the long turns of that thread, in seconds of the processor, which do not depend on what else the machine does.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

from ledgerd.chain.chain import Chain
from ledgerd.cli import main

FILE, TURNS_FILE, CLOCK_FILE = "applied.txt", "turns.txt", "clock.txt"
LOOK_NANOSECONDS = 200_000_000
LONG_TURN = 0.05
"""Seconds of the processor."""


def note_times(path: Path) -> None:
    """Write a line for each block that moved the head: seconds."""
    push = Chain.push_block
    file = path.open("a", buffering=1, encoding="ascii")

    def timed(chain: Chain, *words: Any, **options: Any) -> Any:
        began = perf_counter()
        outcome = push(chain, *words, **options)
        if outcome.has_moved:
            file.write(f"{perf_counter() - began:.6f}\n")
        return outcome

    Chain.push_block = timed  # type: ignore[method-assign, assignment]  # to be timed


def set_clock_by(path: Path) -> None:
    """Have the clock of this machine so many seconds wrong as a file says, for the node alone."""
    true_time = time.time_ns
    step, looked = 0, 0

    def stepped() -> int:
        nonlocal step, looked
        now = true_time()
        if now - looked > LOOK_NANOSECONDS:
            step, looked = (int(path.read_text() or 0) if path.exists() else 0), now
        return now + step * 1_000_000_000

    time.time_ns = stepped


def note_turns(path: Path) -> None:
    """Write a line for each long callback of a loop of asyncio, as the chain's thread has: seconds, and its name."""
    run = asyncio.Handle._run  # noqa: SLF001 - to be timed
    file = path.open("a", buffering=1, encoding="utf-8")

    def timed(handle: asyncio.Handle) -> None:
        began = thread_time()
        run(handle)
        seconds = thread_time() - began
        if seconds >= LONG_TURN:
            file.write(f"{seconds:.6f} {_name_of(getattr(handle, '_callback', None))}\n")

    asyncio.Handle._run = timed  # type: ignore[method-assign, assignment] # noqa: SLF001 - to be timed


def _name_of(callback: object) -> str:
    owner = getattr(callback, "__self__", None)
    if isinstance(owner, asyncio.Task):
        return str(getattr(owner.get_coro(), "__qualname__", "a task"))
    return str(getattr(callback, "__qualname__", "a callback"))


def turns_of(folder: Path) -> list[tuple[float, str]]:
    """The long turns so far: seconds, and what was done."""
    path = folder / TURNS_FILE
    if not path.exists():
        return []
    words = (line.split(" ", 1) for line in path.read_text().splitlines())
    return [(float(seconds), name) for seconds, name in words]


def times_of(folder: Path) -> list[float]:
    """The seconds of all blocks so far."""
    path = folder / FILE
    return [float(line) for line in path.read_text().split()] if path.exists() else []


if __name__ == "__main__":
    data = Path(sys.argv[sys.argv.index("--data-dir") + 1])
    note_times(data / FILE)
    note_turns(data / TURNS_FILE)
    set_clock_by(data / CLOCK_FILE)
    sys.exit(main())
