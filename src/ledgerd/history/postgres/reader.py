"""The history in PostgreSQL for the APIs: one connection of a worker, which is made again when it was lost. A server
that hangs costs a request two seconds at most, and is then left alone for a while.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg

from ledgerd.basics.closing import on_error
from ledgerd.chain.log.histories import History, HistoryView
from ledgerd.history.postgres.connection import TimedConnection, attempted, connect, unavailable
from ledgerd.history.postgres.migrations import require_schema
from ledgerd.history.postgres.status import PostgresUnavailable
from ledgerd.history.postgres.view import END, PostgresView
from ledgerd.history.settings import HistorySettings

ANSWER_SECONDS = 1.0
"""The longest wait for an answer of PostgreSQL."""
CONNECT_SECONDS = 2
"""The longest wait for a connection to PostgreSQL."""
LONGEST_PAUSE = 8.0
"""The longest pause between two attempts to connect."""
FIRST_PAUSE = 0.25


class PostgresHistory(History):
    """A history, open for reading."""

    def __init__(self, address: str, settings: HistorySettings, clock: Callable[[], float] = time.monotonic) -> None:
        self._address = address
        self.count_blocks = settings.count_blocks
        self._clock = clock
        self._connection: TimedConnection | None = None
        self._pause = FIRST_PAUSE
        self._again_at = 0.0
        self._problem = PostgresUnavailable("PostgreSQL was not asked yet")

    @contextmanager
    def reading(self) -> Iterator[HistoryView]:
        connection = self._connected()
        try:
            view = PostgresView(connection.cursor(binary=True))
            yield view
            view.end()
        except psycopg.Error as problem:
            self._fail(unavailable(problem))
            raise self._problem from problem
        except BaseException:
            self._leave(connection)
            raise

    def _connected(self) -> TimedConnection:
        if self._connection is not None:
            return self._connection
        if self._clock() < self._again_at:
            raise self._problem
        try:
            made = connect(self._address, ANSWER_SECONDS, "ledgerd api", CONNECT_SECONDS)
            with on_error(made.close):
                attempted(lambda: require_schema(made))
        except PostgresUnavailable as problem:
            self._fail(problem)
            raise
        self._connection, self._pause = made, FIRST_PAUSE
        return made

    def _leave(self, connection: TimedConnection) -> None:
        try:
            connection.execute(END)
        except psycopg.Error as problem:
            self._fail(unavailable(problem))

    def _fail(self, problem: PostgresUnavailable) -> None:
        self.close()
        self._problem, self._again_at = problem, self._clock() + self._pause
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
