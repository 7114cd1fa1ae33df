"""One PostgreSQL server for all tests of a run, and a database of its own for each test that asks for one.

In CI a missing server fails the tests; elsewhere they are skipped, which the end of the run says, with their number.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import IO

import pytest

from ledgerd.history.postgres.migrations import make_readers, migrate, opened_alone, partition
from tests.memory import memory_folder
from tests.server_watch import SCRIPT, begin_watch, use

QUICK = ("fsync=off", "shared_buffers=32MB", "autovacuum=off", "max_connections=50")
TEMPLATE = "made"
DIVIDED = "divided"
"""The same with tables that are partitioned by hash."""
PARTS = 3
MISSING = 3
ENOUGH = 1 << 30

_numbers = count(1)
_left_out: list[str] = []


def address_of(folder: Path, database: str) -> str:
    """How a database of the server in a folder is reached."""
    return f"postgresql://ledgerd@/{database}?host={folder}"


def run_script(action: str, folder: Path, *settings: str) -> None:
    """Start or stop a server; skips, or fails in CI, where there is none to start."""
    done = subprocess.run(  # noqa: S603 - our own script
        [str(SCRIPT), action, str(folder), *settings], capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode == MISSING and not os.environ.get("CI"):
        _left_out.append(os.environ.get("PYTEST_CURRENT_TEST", "a test"))
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr


def new_folder() -> Path:
    """A folder for a server: short, as names of sockets must be, and open to the user whom the server runs as."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir=memory_folder(ENOUGH)))
    folder.chmod(0o755)
    return folder


def sql(address: str, *commands: str) -> list[tuple[object, ...]]:
    """Run commands, and return the rows of the last one."""
    import psycopg  # noqa: PLC0415 - only where a server runs

    with psycopg.connect(address, autocommit=True) as connection:
        found: list[tuple[object, ...]] = []
        for command in commands:
            cursor = connection.execute(command)
            found = cursor.fetchall() if cursor.description else []
        return found


class SharedServer:
    """A server that the processes of a run share: the first one starts it, and it goes with the last one."""

    def __init__(self, note: Path) -> None:
        self._note = note
        self._use: IO[str] | None = None
        self.folder = Path()

    def start(self) -> None:
        with self._note.with_suffix(".lock").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            self._use = use(self._note.with_suffix(".users"))
            if self._note.exists():
                self.folder = Path(self._note.read_text())
                return
            self.folder = new_folder()
            begin_watch(self.folder, self._note.with_suffix(".users"), self._note)
            run_script("start", self.folder, *QUICK)
            sql(address_of(self.folder, "postgres"), f"CREATE DATABASE {TEMPLATE}")
            with opened_alone(template := address_of(self.folder, TEMPLATE), 60, "test") as connection:
                migrate(template, connection)
            sql(address_of(self.folder, "postgres"), f"CREATE DATABASE {DIVIDED} TEMPLATE {TEMPLATE}")
            partition(address_of(self.folder, DIVIDED), PARTS)
            self._note.write_text(str(self.folder))

    def stop(self) -> None:
        if self._use is not None:
            self._use.close()

    def database(self, template: str) -> str:
        """The address of a new database, made like another one."""
        name = f"test_{os.getpid()}_{next(_numbers)}"
        sql(address_of(self.folder, "postgres"), f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return address_of(self.folder, name)

    def make_readers(self, address: str) -> None:
        """Make the roles for people who ask: those of all databases are the same, so one process does at a time."""
        with self._note.with_suffix(".lock").open("w") as door:
            fcntl.flock(door, fcntl.LOCK_EX)
            make_readers(address)

    def drop(self, address: str) -> None:
        name = address.partition("@/")[2].partition("?")[0]
        sql(address_of(self.folder, "postgres"), f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SharedServer]:
    """The server of the run."""
    server = SharedServer(tmp_path_factory.getbasetemp() / "postgres")
    try:
        server.start()
        yield server
    finally:
        server.stop()


@pytest.fixture
def postgres(postgres_server: SharedServer) -> Iterator[str]:
    """The address of an empty database with today's schema."""
    address = postgres_server.database(TEMPLATE)
    yield address
    postgres_server.drop(address)


@pytest.fixture
def bare_postgres(postgres_server: SharedServer) -> Iterator[str]:
    """The address of a database without anything."""
    address = postgres_server.database("template0")
    yield address
    postgres_server.drop(address)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out."""
    if _left_out:
        terminalreporter.write_line(f"PostgreSQL is not installed: {len(_left_out)} tests of history in SQL left out")
