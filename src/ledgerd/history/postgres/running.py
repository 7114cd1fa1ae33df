"""Feeds without an end: what goes wrong is reported, and retried after a pause. The node never waits for any of it."""

from __future__ import annotations

import logging
import os
import shutil
import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

from ledgerd.history.embedded.kept_facts import KeptSource
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.postgres.connection import TimedConnection, attempted, place_of
from ledgerd.history.postgres.feeder import Feeder
from ledgerd.history.postgres.status import FeedStatus, PostgresRefused, PostgresUnavailable
from ledgerd.history.settings import HistorySettings

log = logging.getLogger(__name__)

POLL_SECONDS = 0.05
"""The pause between two reads of the history when all of it is fed."""

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 30.0
"""The longest pause between two attempts to feed."""
STATUS_SECONDS = 10.0

GIBIBYTE = 1 << 30
LITTLE = 4 * GIBIBYTE
"""Bytes left, below which the operator is warned."""

LOCAL = ("localhost", "127.0.0.1", "::1")

_SIZE = "SELECT pg_database_size(current_database())"
_FOLDER = "SELECT setting FROM pg_settings WHERE name = 'data_directory'"


class Pauses(Protocol):
    """The pauses of a feed. `wait` returns whether the feed is to end, as that of an event does."""

    def wait(self, seconds: float) -> bool: ...


class EndlessFeed:
    """The feed of one history to one database."""

    def __init__(
        self,
        address: str,
        source: KeptSource,
        settings: HistorySettings,
        chain_id: bytes,
        publish: Callable[[FeedStatus], None],
    ) -> None:
        self._address = address
        self._source = source
        self._settings = settings
        self._chain_id = chain_id
        self._publish = publish
        self._pause = FIRST_PAUSE
        self._reported = ""
        self._block = 0
        self._published_at = 0.0

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
                self._report(problem)
                is_over = waiting.wait(self._pause)
                self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def _report(self, problem: Exception) -> None:
        reason = problem.what if isinstance(problem, HistoryDamaged) else str(problem)
        if reason != self._reported:
            self._reported = reason
            log.warning("nothing is fed to PostgreSQL: %(reason)s", {"reason": reason})
        self._publish(FeedStatus(self._block, reason))

    def _follow(self, feeder: Feeder, waiting: Pauses) -> None:
        self._published_at = 0.0
        while True:
            has_fed = feeder.step()
            self._block = 0 if feeder.position is None else feeder.position.head
            if has_fed or self._reported or not self._published_at:
                self._resume()
            self._publish_status(feeder)
            if waiting.wait(0.0 if has_fed else POLL_SECONDS):
                return

    def _resume(self) -> None:
        self._pause = FIRST_PAUSE
        if self._reported or not self._published_at:
            log.info(
                "the history is fed to PostgreSQL (%(place)s) from block %(block)d on",
                {"place": place_of(self._address), "block": self._block},
            )
        self._reported = ""

    def _publish_status(self, feeder: Feeder) -> None:
        now = time.monotonic()
        if not self._published_at or now - self._published_at >= STATUS_SECONDS:
            self._published_at = now
            self._publish(FeedStatus(self._block, warning=attempted(lambda: disk_of(feeder.connection)).warning))


class ServerDisk(NamedTuple):
    """Bytes of the database, and those that are free; None where that cannot be known."""

    used: int
    free: int | None

    @property
    def warning(self) -> str:
        if self.free is None or self.free >= LITTLE:
            return ""
        sizes = self.free / GIBIBYTE, self.used / GIBIBYTE
        return f"{sizes[0]:.2f} GiB are free on the disk of PostgreSQL, whose history takes {sizes[1]:.2f} GiB"


def disk_of(connection: TimedConnection) -> ServerDisk:
    """Ask the server; only a member of `pg_read_all_settings` learns where its data is."""
    ((used,),) = connection.execute(_SIZE).fetchall()
    row = connection.execute(_FOLDER).fetchone()
    host = connection.info.host
    if row is None or not (host.startswith(os.sep) or host in LOCAL):
        return ServerDisk(used, None)
    try:
        return ServerDisk(used, shutil.disk_usage(str(row[0])).free)
    except OSError:
        return ServerDisk(used, None)
