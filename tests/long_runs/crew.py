"""The workers of a run: each is given the next seed as soon as it is free, until the target is reached."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from tests.long_runs.worker import Told

ROOT = Path(__file__).parents[2]
PATIENCE = 900.0
"""Seconds after which a seed hangs: none takes a tenth."""
LOOK = 0.5


class Crew(NamedTuple):
    """How many workers there are, and how much they leave to others."""

    size: int
    niceness: int = 0


class Worker:
    """One process, and the seed that it plays."""

    def __init__(self, name: str, niceness: int) -> None:
        self.seed = 0
        self.since = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            [sys.executable, "-m", "tests.long_runs.worker", name, str(niceness)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )

    def fileno(self) -> int:
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def give(self, seed: int) -> None:
        self.seed, self.since = seed, time.monotonic()
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):  # it has died, which its answer tells
            self._process.stdin.write(b"%d\n" % seed)
            self._process.stdin.flush()

    def told(self) -> Told:
        """What came of its seed; also if it died of it."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if line:
            return msgspec.json.decode(line, type=Told)
        return Told(self.seed, problem=f"Died: the process ended with {self._process.wait(10)}")

    def stop(self) -> None:
        """End it at once; its seed will be played again."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)  # whom it was about to kill
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):
                    pipe.close()


@contextmanager
def at_work(name: str, crew: Crew) -> Iterator[list[Worker]]:
    """So many workers for a run."""
    workers = [Worker(name, crew.niceness) for _ in range(crew.size)]
    try:
        yield workers
    finally:
        for each in workers:
            each.stop()


def play(name: str, crew: Crew, seeds: Iterator[int], take: Callable[[Told], bool], stop: Callable[[], bool]) -> None:
    """Play seeds until one of them fails, there are no more, or somebody wants to stop; each is told of."""
    with at_work(name, crew) as workers, selectors.DefaultSelector() as selector:
        for worker in workers:
            seed = next(seeds, None)
            if seed is not None:
                worker.give(seed)
                selector.register(worker, selectors.EVENT_READ, worker)
        while selector.get_map() and not stop():
            for key, _ in selector.select(LOOK):
                worker = key.data
                goes_on = take(worker.told())
                seed = next(seeds, None) if goes_on else None
                if not goes_on:
                    return
                if seed is None:
                    selector.unregister(worker)
                else:
                    worker.give(seed)
            for key in selector.get_map().values():
                if time.monotonic() - key.data.since > PATIENCE:
                    take(Told(key.data.seed, problem=f"Hangs: no answer for {PATIENCE:.0f} seconds"))
                    return


def processors() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))
