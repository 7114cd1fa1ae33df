"""The watchdog of the chain's thread (spec 06, section 15.2): it counts calls, so a suspended machine is no alarm."""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from pathlib import Path

from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.time_source import MICRO
from ledgerd.supervision.threads import RunningThread, in_thread

STUCK = 1
"""The exit code."""

CALL_EVERY = 5.0
MOST_UNANSWERED = 9
"""Unanswered calls in a row, 5 seconds apart: 45 seconds."""

RESTARTS_FILE = "deadlock_restarts"
REMEMBERED = 1800
"""Seconds for which such an exit is kept in the file."""


class Calls:
    """Counts unanswered calls in a row."""

    def __init__(self) -> None:
        self._unanswered = 0

    def count(self, *, is_answered: bool, is_excused: bool) -> bool:
        self._unanswered = 0 if is_answered or is_excused else self._unanswered + 1
        return self._unanswered >= MOST_UNANSWERED


def record_restart(data_dir: Path, now: int) -> int:
    file = data_dir / RESTARTS_FILE
    try:
        words = file.read_text(encoding="ascii", errors="replace").split()
    except OSError:
        words = []
    times = [int(word) for word in words if word.isdecimal() and int(word) > now - REMEMBERED]
    times.append(now)
    file.write_text("".join(f"{time}\n" for time in times), encoding="ascii")
    return len(times)


class StuckPart(NodePart):
    """Ends the process when the chain's thread is stuck. Its own thread asks: the main one may be stuck as well."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context)
        self._chain = chain
        self._is_ended = threading.Event()
        self._thread: RunningThread | None = None

    async def start(self) -> None:
        self._thread = self.work.thread("watch", self._watch)

    async def stop(self) -> None:
        self._is_ended.set()
        if self._thread is not None:
            await in_thread(self._thread.join)

    def _watch(self) -> None:
        calls, answered = Calls(), threading.Event()
        self._chain.call_soon(answered.set)
        while not self._is_ended.wait(CALL_EVERY):
            if calls.count(is_answered=answered.is_set(), is_excused=self._chain.is_reopening):
                self._end()
            if answered.is_set():
                answered.clear()
                self._chain.call_soon(answered.set)

    def _end(self) -> None:
        times = 1
        with suppress(OSError):  # the process exits even if the file cannot be written
            times = record_restart(self._data_dir, self._time.wall() // MICRO)
        seconds = int(CALL_EVERY * MOST_UNANSWERED)
        sys.stderr.write(
            f"FATAL: database write lock held for {seconds} s: the chain's thread is stuck, the process ends "
            f"(for the {times}. time in {REMEMBERED // 60} minutes)\n"
        )
        sys.stderr.flush()
        os._exit(STUCK)
