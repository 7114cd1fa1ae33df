"""Feeds without an end: what goes wrong is told, and tried again after a pause. The node never waits for any of it."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable
from typing import Protocol, Self

from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.postgres.connection import attempted, place_of
from ledgerd.history.postgres.disk import disk_of
from ledgerd.history.postgres.errors import PostgresRefused, PostgresUnavailable
from ledgerd.history.postgres.feeder import Feeder, KeptSource
from ledgerd.history.postgres.news import FeedNews
from ledgerd.history.settings import HistorySettings

log = logging.getLogger(__name__)

LOOK_SECONDS = 0.05
"""Between two looks at the history, when all of it is fed."""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
NEWS_SECONDS = 10.0


class Pauses(Protocol):
    """How a feed passes its time."""

    def wait(self, seconds: float) -> bool:
        """Wait; whether it is to end."""
        ...


class UntilSignalled:
    """Passes the time until SIGINT or SIGTERM."""

    def __init__(self) -> None:
        self._is_over = threading.Event()

    def __enter__(self) -> Self:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, lambda *_: self._is_over.set())
        return self

    def __exit__(self, *_: object) -> None:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)

    def wait(self, seconds: float) -> bool:
        return self._is_over.wait(seconds)


class EndlessFeed:
    """The feed of one history to one database."""

    def __init__(
        self,
        address: str,
        source: KeptSource,
        settings: HistorySettings,
        chain_id: bytes,
        tell: Callable[[FeedNews], None],
    ) -> None:
        self._address = address
        self._source = source
        self._settings = settings
        self._chain_id = chain_id
        self._tell = tell
        self._pause = FIRST_PAUSE
        self._said = ""
        self._block = 0
        self._told_at = 0.0

    def run(self, waiting: Pauses) -> None:
        is_over = False
        while not is_over:
            try:
                with self._source():
                    pass  # the node has a history
                with Feeder.connected(self._address, self._source, self._settings, self._chain_id) as feeder:
                    self._follow(feeder, waiting)
                is_over = True
            except (PostgresUnavailable, PostgresRefused, HistoryDamaged) as problem:
                self._say(problem)
                is_over = waiting.wait(self._pause)
                self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def _say(self, problem: Exception) -> None:
        reason = problem.what if isinstance(problem, HistoryDamaged) else str(problem)
        if reason != self._said:
            self._said = reason
            log.warning("nothing is fed to PostgreSQL: %(reason)s", {"reason": reason})
        self._tell(FeedNews(self._block, reason))

    def _follow(self, feeder: Feeder, waiting: Pauses) -> None:
        self._told_at = 0.0
        while True:
            has_fed = feeder.step()
            self._block = 0 if feeder.position is None else feeder.position.head
            if has_fed or self._said or not self._told_at:
                self._works()
            self._news(feeder)
            if waiting.wait(0.0 if has_fed else LOOK_SECONDS):
                return

    def _works(self) -> None:
        self._pause = FIRST_PAUSE
        if self._said or not self._told_at:
            told = {"place": place_of(self._address), "block": self._block}
            log.info("the history is fed to PostgreSQL (%(place)s) from block %(block)d on", told)
        self._said = ""

    def _news(self, feeder: Feeder) -> None:
        now = time.monotonic()
        if not self._told_at or now - self._told_at >= NEWS_SECONDS:
            self._told_at = now
            self._tell(FeedNews(self._block, warning=attempted(lambda: disk_of(feeder.connection)).warning))
