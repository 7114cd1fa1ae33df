"""The versions of the schema: files of SQL in `schema/`, applied in order by yoyo, each in one transaction."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from psycopg.errors import LockNotAvailable
from yoyo import read_migrations
from yoyo.backends.core.postgresql import PostgresqlPsycopgBackend
from yoyo.connections import DatabaseURI

from ledgerd.history.postgres.connection import TimedConnection, attempted, connect
from ledgerd.history.postgres.status import PostgresRefused, PostgresUnavailable

FOLDER = Path(__file__).parent / "schema"
LOCK = 0x6C656467
"""The advisory lock of whoever changes the schema or feeds the tables; PostgreSQL gives it back when one dies."""

LOCK_MILLISECONDS = 1_000

MIGRATION_SECONDS = 3_600.0
"""A change of the schema may rewrite tables."""

PARTITIONED = Path(__file__).parent / "sql" / "partitioned.sql"
READERS = Path(__file__).parent / "sql" / "readers.sql"

TABLE = "_yoyo_migration"
_HOLDERS = (
    "SELECT usename, pid FROM pg_locks JOIN pg_stat_activity USING (pid) JOIN pg_database ON oid = database "
    "WHERE locktype = 'advisory' AND granted AND classid = 0 AND objid = %s AND objsubid = 1 "
    "AND pg_database.datname = current_database()"
)
"""Asks who holds the lock, to name them in the error: anybody who may log in can take it."""
_APPLIED = "SELECT migration_id FROM ledger._yoyo_migration"


class _Backend(PostgresqlPsycopgBackend):  # type: ignore[misc] # yoyo has no types
    """yoyo's backend over connections of ours, of which it wants several."""

    schema = "ledger"

    def connect(self, dburi: Any) -> TimedConnection:  # noqa: ANN401 - the type of a library without types
        return connect(dburi.args["address"], MIGRATION_SECONDS, "ledgerd schema")


def _backend_of(address: str) -> Any:  # noqa: ANN401 - the type of a library without types
    backend = _Backend(DatabaseURI("postgresql+psycopg", None, None, None, None, None, {"address": address}), TABLE)
    backend.init_database()
    return backend


def known_versions() -> list[str]:
    names = (path.stem for path in FOLDER.glob("*.sql"))
    return sorted(name for name in names if not name.endswith(".rollback"))


def applied_versions(connection: TimedConnection) -> list[str]:
    if connection.execute("SELECT to_regclass('ledger._yoyo_migration')").fetchone() == (None,):
        return []
    return sorted(name for (name,) in connection.execute(_APPLIED))


def require_schema(connection: TimedConnection) -> None:
    lacking = _lacking_versions(connection)
    if lacking:
        raise PostgresUnavailable(f"the schema in PostgreSQL lacks version {lacking[0]}")


def _lacking_versions(connection: TimedConnection) -> list[str]:
    applied, known = applied_versions(connection), known_versions()
    later = [name for name in applied if name not in known]
    if later:
        raise PostgresRefused(f"the schema in PostgreSQL is of a later version of this program, which has {later[-1]}")
    return [name for name in known if name not in applied]


@contextmanager
def opened_alone(address: str, seconds: float, name: str) -> Iterator[TimedConnection]:
    """A connection that nobody else has who feeds a database or changes its schema."""
    with attempted(lambda: connect(address, seconds, name)) as connection:
        attempted(lambda: _lock(connection))
        yield connection


def _lock(connection: TimedConnection) -> None:
    """Be the one who feeds. The server sees the end of the one before a moment after that has ended."""
    connection.execute(f"SET lock_timeout = {LOCK_MILLISECONDS}")
    try:
        connection.execute("SELECT pg_advisory_lock(%s)", (LOCK,))
    except LockNotAvailable:
        holders = connection.execute(_HOLDERS, (LOCK,))
        by = " and ".join(f"user {user}, process {number} of the server" for user, number in holders)
        raise PostgresUnavailable(f"the database is being fed by another process ({by or 'gone by now'})") from None
    connection.execute("RESET lock_timeout")


def migrate(address: str, connection: TimedConnection) -> list[str]:
    return attempted(lambda: _migrated(address, connection))


def _migrated(address: str, connection: TimedConnection) -> list[str]:
    lacking = _lacking_versions(connection)
    if lacking:
        connection.execute("CREATE SCHEMA IF NOT EXISTS ledger")
        with _backend_of(address) as backend:
            backend.break_lock()  # left behind by one that was killed: the advisory lock says that it no longer runs
            with backend.lock():
                backend.apply_migrations(backend.to_apply(read_migrations(str(FOLDER))))
    return lacking


def roll_back(address: str, version: str) -> None:
    known = read_migrations(str(FOLDER)).filter(lambda each: each.id >= version)
    with opened_alone(address, MIGRATION_SECONDS, "ledgerd schema"), _backend_of(address) as backend, backend.lock():
        backend.rollback_migrations(backend.to_rollback(known))


def partition(address: str, parts: int) -> None:
    with opened_alone(address, MIGRATION_SECONDS, "ledgerd schema") as connection:
        migrate(address, connection)
        attempted(lambda: connection.execute("SELECT set_config('ledger.partitions', %s, false)", (str(parts),)))
        with connection.transaction():
            attempted(lambda: connection.execute(PARTITIONED.read_bytes()))


def make_readers(address: str) -> None:
    with opened_alone(address, MIGRATION_SECONDS, "ledgerd schema") as connection:
        migrate(address, connection)
        with connection.transaction():
            attempted(lambda: connection.execute(READERS.read_bytes()))
