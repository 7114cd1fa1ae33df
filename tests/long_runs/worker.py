"""A process that plays the seeds that it is told, one a line: `python -m tests.long_runs.worker NAME NICENESS`.

It answers each with a line of JSON. A process of its own has its own memory, and may die of what it plays.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from types import FrameType
from typing import NoReturn

import msgspec

from tests.long_runs.runs import BY_NAME, Run, prepared

SHOWN = 6_000


class Told(msgspec.Struct):
    """What came of a seed."""

    seed: int
    done: int = 0
    accepted: int | None = None
    problem: str = ""
    """The error, if it failed."""


def main(name: str, niceness: int) -> None:
    run = BY_NAME[name]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started this ends it
    signal.signal(signal.SIGTERM, _end)
    os.nice(niceness)
    logging.disable()
    if run.memory:
        resource.setrlimit(resource.RLIMIT_DATA, (run.memory, run.memory))
    with tempfile.TemporaryDirectory(prefix=f"long-run-{name}-") as folder:
        play(run, Path(folder))


def play(run: Run, folder: Path) -> None:
    """Play every seed of the input, and stop at the first that fails."""
    with prepared(run, folder) as player:
        for line in sys.stdin:
            seed = int(line)
            try:
                played = player(seed)
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is told
                _tell(Told(seed, problem=_text(problem)))
                return
            except BaseException as problem:
                if isinstance(problem, SystemExit):
                    raise
                _tell(Told(seed, problem=_text(problem)))
                return
            _tell(Told(seed, played.done, played.accepted))


def _tell(told: Told) -> None:
    sys.stdout.write(msgspec.json.encode(told).decode() + "\n")
    sys.stdout.flush()


def _text(problem: BaseException) -> str:
    return "".join(traceback.format_exception(problem))[-SHOWN:].encode(errors="backslashreplace").decode()


def _end(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Leave by the way on which folders are removed, and processes ended."""
    raise SystemExit(0)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
