"""The history in PostgreSQL as a worker reads it: a server that is away or hangs delays one request, and the next ones
not at all.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psycopg
import pytest

from ledgerd.history.postgres import reader as readers
from ledgerd.history.postgres.connection import TimedConnection, connect
from ledgerd.history.postgres.reader import FIRST_PAUSE, LONGEST_PAUSE, PostgresHistory
from ledgerd.history.postgres.status import PostgresUnavailable
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.types.names import AccountName
from tests.history.postgres.test_feeder import grow, told
from tests.patience import PATIENCE
from tests.postgres import sql

NAME = AccountName("alice")


class Worker:
    """A worker with a clock of ours."""

    def __init__(self, address: str) -> None:
        self.now = 100.0
        self.history = PostgresHistory(address, HistorySettings(), lambda: self.now)

    def newest(self, name: str = NAME) -> list[str]:
        with self.history.reading() as view:
            page = view.page_of(AccountName(name), None, 5)
            return [] if page is None else page.entries


@pytest.fixture
def filled(postgres: str, tmp_path: Path) -> str:
    with told(postgres, tmp_path) as made:
        grow(made, 12)
        made.check()
    return postgres


@pytest.fixture
def worker(filled: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setattr(readers, "ANSWER_SECONDS", PATIENCE)
    made = Worker(filled)
    yield made
    made.history.close()


def test_a_server_that_hangs_is_waited_for_once_and_then_left_alone(
    filled: str, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = worker.newest()
    assert len(expected) == 6
    worker.history.close()
    monkeypatch.setattr(readers, "ANSWER_SECONDS", 0.2)
    with psycopg.connect(filled) as holding:
        holding.execute("LOCK ledger.account_operations IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(PostgresUnavailable, match=r"no answer within 0\.2 seconds"):
            worker.newest()
        here = "application_name = 'ledgerd api' AND datname = current_database()"  # others use the server, too
        count = f"SELECT count(*) FROM pg_stat_activity WHERE {here}"
        known = sql(filled, count)
        for _ in range(3):
            with pytest.raises(PostgresUnavailable, match=r"no answer within 0\.2 seconds"):
                worker.newest()
        assert sql(filled, count) == known
        holding.rollback()
    monkeypatch.setattr(readers, "ANSWER_SECONDS", PATIENCE)
    worker.now += FIRST_PAUSE
    assert worker.newest() == expected


def test_pauses_grow_while_a_server_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    worker, attempts = Worker(f"postgresql://ledgerd@/x?host={tmp_path}"), list[float]()

    def attempt(address: str, seconds: float, name: str, connect_seconds: int) -> TimedConnection:
        attempts.append(worker.now)
        return connect(address, seconds, name, connect_seconds)

    monkeypatch.setattr(readers, "connect", attempt)
    for _ in range(120):
        with pytest.raises(PostgresUnavailable, match="No such file"):
            worker.newest()
        worker.now += FIRST_PAUSE
    pauses = [later - earlier for earlier, later in pairwise(attempts)]
    assert pauses[:3] == [FIRST_PAUSE, 2 * FIRST_PAUSE, 4 * FIRST_PAUSE]
    assert pauses[-1] == pauses[-2] == LONGEST_PAUSE


def test_a_server_that_takes_connections_and_says_nothing_is_not_waited_for_long() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        worker = Worker(f"postgresql://ledgerd@127.0.0.1:{silent.getsockname()[1]}/x")
        with pytest.raises(PostgresUnavailable, match="timeout"):
            worker.newest()
        with pytest.raises(PostgresUnavailable, match="timeout"):
            worker.newest()


def test_sql_in_a_name_is_a_name(filled: str, worker: Worker) -> None:
    for name in ("'; DROP TABLE ledger.accounts; --", "alice' OR 'a' = 'a", "%(more)s", "%s", "\0", "\udcff"):
        assert worker.newest(name) == []
    assert len(worker.newest()) == 6
    assert sql(filled, "SELECT count(*) > 2 FROM ledger.accounts") == [(True,)]
