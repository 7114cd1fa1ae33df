"""Opening the database of an application: SQLite in a file, PostgreSQL by its address."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError, SQLAlchemyError
from sqlalchemy.pool import NullPool, StaticPool

from ledgerd.app.errors import AlreadyRunning, DatabaseRefused

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LOCK = 0x6C617070
"""The first number of the advisory lock of an application in PostgreSQL; the second is that of its schema."""
LOCK_WAIT = "2s"
LOCK_NOT_AVAILABLE = "55P03"
BUSY_SECONDS = 10
READ_SECONDS = 5
"""The longest time of a query of a method in PostgreSQL."""
_PREFIXES = ("postgresql://", "postgres://")

WRITER_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = NORMAL",  # a loss of power may undo the last blocks, their cursor with them
    "PRAGMA foreign_keys = ON",
    "PRAGMA recursive_triggers = ON",  # without it, REPLACE would delete rows behind the back of the journal
)


def url_of(address: str) -> URL:
    """The URL of an address, which names PostgreSQL or a file."""
    for prefix in _PREFIXES:
        if address.startswith(prefix):
            if find_spec("psycopg") is None:
                raise DatabaseRefused(
                    "the address is one of PostgreSQL, whose driver is not installed: "
                    "pip install 'ledgerd[app,postgres]'"
                )
            address = f"postgresql+psycopg://{address.removeprefix(prefix)}"
            break
    else:
        if "://" in address and not address.startswith("sqlite://"):
            raise DatabaseRefused("the database must be a file of SQLite, or an address such as postgresql://HOST/NAME")
        if not address.startswith("sqlite://"):
            return URL.create("sqlite", database=str(Path(address).absolute()))
    try:
        url = make_url(address)
    except ArgumentError:
        raise DatabaseRefused("the address of the database can't be read") from None
    if url.drivername == "sqlite" and not url.database:
        raise DatabaseRefused("the database is a file: give its path")
    return url


def place_of(url: URL) -> str:
    """Which database it is, without its password."""
    return str(url.database) if url.drivername == "sqlite" else url.render_as_string(hide_password=True)


@contextmanager
def open_writer(address: str) -> Iterator[Connection]:
    """The only connection that changes the database; `AlreadyRunning` if another process has it."""
    url = url_of(address)
    with reported(url):
        if url.drivername == "sqlite":
            path = Path(str(url.database))
            with locked_file(path), _sqlite(url, WRITER_PRAGMAS, "BEGIN IMMEDIATE").connect() as connection:
                yield connection
        else:
            with _postgres(url).connect() as connection:
                _lock_postgres(connection)
                yield connection


def open_readers(address: str) -> Engine:
    """Connections that can't change anything; each statement has a limit of time."""
    url = url_of(address)
    if url.drivername == "sqlite":
        return _sqlite(url, ("PRAGMA query_only = ON",), "BEGIN")
    options = f"-c default_transaction_read_only=on -c statement_timeout={READ_SECONDS * 1000} -c TimeZone=UTC"
    return create_engine(url, poolclass=NullPool, connect_args={"options": options}, isolation_level="REPEATABLE READ")


@contextmanager
def reported(url: URL) -> Iterator[None]:
    """Say in words of the operator why a database can't be opened."""
    try:
        yield
    except DBAPIError as problem:
        if not problem.connection_invalidated and problem.statement:
            raise
        raise DatabaseRefused(f"{place_of(url)} can't be opened: {database_error_text(problem)}") from problem


def database_error_text(problem: SQLAlchemyError) -> str:
    """The message of the database, on one line."""
    words = str(getattr(problem, "orig", None) or problem)
    return " ".join(words.split())[:500]


def _sqlite(url: URL, pragmas: tuple[str, ...], begin: str) -> Engine:
    engine = create_engine(
        url,
        poolclass=StaticPool if begin != "BEGIN" else NullPool,
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False},
    )

    def connected(raw: Any, _record: object) -> None:  # noqa: ANN401 - the driver's connection
        raw.isolation_level = None  # transactions begin where we say, not where the driver guesses
        for each in pragmas:
            raw.execute(each).close()

    event.listen(engine, "connect", connected)
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
    return engine


def _postgres(url: URL) -> Engine:
    options = "-c TimeZone=UTC -c synchronous_commit=on"
    return create_engine(url, poolclass=NullPool, connect_args={"options": options, "application_name": "ledgerd app"})


def _lock_postgres(connection: Connection) -> None:
    """Be the one who feeds. The server sees the end of a killed one a moment after that has ended."""
    ours = {"ours": LOCK}
    try:
        with connection.begin():
            connection.execute(text("SELECT set_config('lock_timeout', :wait, true)"), {"wait": LOCK_WAIT})
            connection.execute(text("SELECT pg_advisory_lock(:ours, hashtext(current_schema()))"), ours)
    except OperationalError as problem:
        if getattr(problem.orig, "sqlstate", "") != LOCK_NOT_AVAILABLE:
            raise
        place = place_of(connection.engine.url)
        raise AlreadyRunning(f"another process feeds {place}: stop that one, or let it run") from problem


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Hold the lock of a database of SQLite, on a file beside it."""
    beside = path.with_name(f"{path.name}.lock")
    try:
        file = beside.open("ab")
    except OSError as problem:
        raise DatabaseRefused(f"{beside} can't be written: {problem.strerror}") from problem
    with file:
        try:
            _lock(file)
        except OSError as problem:
            raise AlreadyRunning(f"another process feeds {path}: stop that one, or let it run") from problem
        yield


def _lock(file: IO[bytes]) -> None:
    if sys.platform == "win32":
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
