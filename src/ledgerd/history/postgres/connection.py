"""Connections to PostgreSQL. No wait on one is without an end, whatever the server does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg import conninfo
from psycopg.abc import PQGen

from ledgerd.history.postgres.status import PostgresRefused, PostgresUnavailable

OLDEST_SERVER = 13
CONNECT_SECONDS = 5
WAKE_SECONDS = 0.1
"""The pause after which a wait looks for signals."""

T = TypeVar("T")


class TimedConnection(psycopg.Connection[Any]):
    """A connection whose every wait for the server has a limit; past it, the connection is closed."""

    seconds: float = CONNECT_SECONDS
    """The longest wait for the end of one command."""

    def wait(self, gen: PQGen[T], interval: float = WAKE_SECONDS, timeout: float | None = None) -> T:
        begun = time.monotonic()
        try:
            return super().wait(gen, interval, self.seconds if timeout is None else timeout)
        except psycopg.OperationalError:
            if time.monotonic() - begun >= self.seconds:
                self.pgconn.finish()
                raise psycopg.OperationalError(f"no answer within {self.seconds:g} seconds") from None
            raise


def connect(address: str, seconds: float, name: str, connect_seconds: int = CONNECT_SECONDS) -> TimedConnection:
    """`connect_seconds` is that of the connecting, of two seconds at least: libpq knows no shorter one."""
    try:
        made = TimedConnection.connect(
            address,
            autocommit=True,
            connect_timeout=connect_seconds,
            application_name=name,
            options="-c search_path=ledger -c TimeZone=UTC -c client_encoding=UTF8 -c synchronous_commit=on",
        )
    except psycopg.ProgrammingError as problem:
        raise PostgresRefused(f"history-store is not an address of PostgreSQL: {problem}") from problem
    except psycopg.Error as problem:
        raise unavailable(problem) from problem
    version = made.info.server_version // 10_000
    if version < OLDEST_SERVER:
        made.close()
        raise PostgresRefused(f"PostgreSQL {version} is too old for the history: {OLDEST_SERVER} or later is needed")
    made.seconds = seconds
    return made


def unavailable(problem: psycopg.Error) -> PostgresUnavailable:
    """The error of PostgreSQL, on one line, without the address, which may contain a password."""
    message = problem.diag.message_primary or str(problem) or type(problem).__name__
    return PostgresUnavailable(f"PostgreSQL: {' '.join(message.split())}")


def place_of(address: str) -> str:
    try:
        parts = conninfo.conninfo_to_dict(address)
    except psycopg.ProgrammingError:
        return "an address that PostgreSQL cannot read"
    return f"{parts.get('dbname') or 'its default database'} at {parts.get('host') or 'the local socket'}"


def attempted(command: Callable[[], T]) -> T:
    """Run what speaks to the server, and give its errors in words for the operator."""
    try:
        return command()
    except psycopg.Error as problem:
        raise unavailable(problem) from problem
