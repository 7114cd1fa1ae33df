"""Connections: what is said when there is no server, a hanging one, or an address that is none."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from ledgerd.history.postgres import connection as connections
from ledgerd.history.postgres.connection import attempted, connect, place_of
from ledgerd.history.postgres.status import PostgresRefused, PostgresUnavailable


def test_a_server_that_is_not_there_is_named_as_the_reason(tmp_path: Path) -> None:
    with pytest.raises(PostgresUnavailable, match=r"PostgreSQL: connection .*No such file"):
        connect(f"postgresql://ledgerd@/x?host={tmp_path}", 1, "test")


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(PostgresRefused, match="not an address of PostgreSQL"):
        connect("postgresql://ledgerd@/x?colour=blue", 1, "test")


def test_no_command_is_waited_for_without_an_end(postgres: str) -> None:
    with connect(postgres, 0.2, "test") as connection:
        with pytest.raises(PostgresUnavailable, match=r"no answer within 0\.2 seconds"):
            attempted(lambda: connection.execute("SELECT pg_sleep(30)"))
        assert connection.closed


def test_what_the_server_refuses_is_told_in_its_words(postgres: str) -> None:
    with (
        connect(postgres, 5, "test") as connection,
        pytest.raises(PostgresUnavailable, match='"nothing" does not exist'),
    ):
        attempted(lambda: connection.execute("SELECT * FROM nothing"))


def test_a_server_of_a_former_version_is_refused(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "OLDEST_SERVER", 99)
    with pytest.raises(PostgresRefused, match="too old for the history: 99 or later"):
        connect(postgres, 5, "test")


def test_the_log_never_has_a_password() -> None:
    assert place_of("postgresql://me:secret@example.org/ledger") == "ledger at example.org"
    assert "secret" not in place_of("postgresql://me:secret@/?x=y")
    assert "secret" not in str(attempt_failure())


def attempt_failure() -> PostgresUnavailable:
    try:
        attempted(lambda: psycopg.connect("postgresql://me:secret@127.0.0.1:1/ledger"))
    except PostgresUnavailable as problem:
        return problem
    raise AssertionError
