"""`ledger.ask` in hostile hands: users who may call it and nothing else, and texts that an application hands on."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege, ObjectNotInPrerequisiteState, ProgramLimitExceeded, QueryCanceled

from ledgerd.history.postgres.migrations import known_versions, migrate, opened_alone, roll_back
from tests.postgres import SharedServer, sql

ASKER = f"asker_{os.getpid()}"
FEEDER = f"feeder_{os.getpid()}"
VOTES = 20_000
CAST = (
    "INSERT INTO ledger.votes (block, place, time, voter, kind, target, weight) "
    f"SELECT number, 0, now(), 'voter' || number, 'validator', 'x', 1 FROM generate_series(1, {VOTES}) AS number"
)
PREPARED = (
    CAST,
    "CREATE SCHEMA private",
    "CREATE TABLE private.payroll AS SELECT 'secret' AS word",
    "CREATE SEQUENCE ledger.numbers",
    "DO $$ BEGIN CREATE EXTENSION dblink SCHEMA public; EXCEPTION WHEN undefined_file THEN NULL; END $$",
)
LOCKS = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()"


def as_user(address: str, user: str) -> str:
    return address.replace("ledgerd@", f"{user}@")


@pytest.fixture(scope="module")
def fed(postgres_server: SharedServer) -> Iterator[str]:
    """A database with votes, and beside them what is nobody else's business."""
    address = postgres_server.database("made")
    sql(address, *PREPARED, f"CREATE ROLE {ASKER} LOGIN", f"ALTER ROLE {ASKER} SET statement_timeout = '10s'")
    yield address
    sql(address, f"DROP OWNED BY {ASKER}", f"DROP ROLE {ASKER}")
    postgres_server.drop(address)


@pytest.fixture(scope="module")
def asker(fed: str, postgres_server: SharedServer) -> str:
    """The same for one of those who may ask."""
    postgres_server.make_readers(fed)
    sql(fed, f"GRANT ledger_asker TO {ASKER}")
    return as_user(fed, ASKER)


@contextmanager
def session(address: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


def ask(connection: psycopg.Connection[tuple[object, ...]], text: str, most: int = 1000) -> list[object]:
    return [row for (row,) in connection.execute("SELECT * FROM ledger.ask(%s, %s)", (text, most))]


def test_a_question_is_answered(asker: str) -> None:
    with session(asker) as connection:
        assert ask(connection, "SELECT voter FROM votes ORDER BY block", 2) == [
            {"voter": "voter1"},
            {"voter": "voter2"},
        ]
        assert ask(connection, "WITH all_of_them AS (TABLE votes) SELECT count(*) FROM all_of_them;") == [
            {"count": VOTES}
        ]
        assert ask(connection, "SELECT 1", 0) == ask(connection, "SELECT 1", -1) == []


@pytest.mark.parametrize("most", [10_000, 1_000_000, None])
def test_of_a_question_so_many_rows_are_taken_whatever_its_text(asker: str, most: int | None) -> None:
    with session(asker) as connection:
        for text in ("SELECT * FROM votes", "SELECT g FROM generate_series(1, 200000) AS g"):
            assert len(ask(connection, text, most)) == 10_000  # type: ignore[arg-type] # SQL knows null
        with pytest.raises(psycopg.errors.SyntaxError):
            ask(connection, "SELECT 1) AS asked LIMIT 20000 --", most)  # type: ignore[arg-type] # (the same)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM private.payroll",
        "SELECT * FROM ledger._yoyo_log",
        "SELECT setval('ledger.numbers', 77)",
        "SELECT nextval('ledger.numbers')",
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ledgerd'",
        "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE usename = 'ledgerd'",
        "SELECT pg_read_file('PG_VERSION')",
        "SELECT pg_ls_dir('.')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT lo_export(1, '/etc/passwd')",
        "SELECT pg_reload_conf()",
        "SELECT pg_switch_wal()",
        "SELECT set_config('role', 'ledgerd', false)",
        "SELECT set_config('session_authorization', 'ledgerd', false)",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SELECT set_config('log_statement', 'none', false)",
        "SELECT query_to_xml('DELETE FROM ledger.votes', true, true, '')",
        "SELECT query_to_xml('SELECT * FROM private.payroll', true, true, '')",
        "SELECT dblink_connect_u('dbname=postgres')",
        "SELECT * FROM dblink('dbname=postgres', 'SELECT 1') AS row (x integer)",
        "SELECT * FROM votes FOR UPDATE",
        "SELECT * FROM votes FOR KEY SHARE",
        "DELETE FROM votes RETURNING *",
        "WITH gone AS (DELETE FROM votes RETURNING *) SELECT * FROM gone",
        "SELECT 1; DELETE FROM votes",
        "SELECT 1) AS x; DELETE FROM votes; SELECT (1",
        "SELECT * INTO mine FROM votes",
        "COPY votes TO PROGRAM 'id'",
        "COPY votes TO STDOUT",
        "COPY votes FROM PROGRAM 'id'",
        "DO $$ BEGIN DELETE FROM ledger.votes; END $$",
        "SET ROLE ledgerd",
        "RESET ROLE",
        "SET SESSION AUTHORIZATION DEFAULT",
        "SHOW data_directory",
        "LOCK TABLE votes",
        "COMMIT",
        "CREATE TEMP TABLE mine (x integer)",
        "EXPLAIN ANALYZE SELECT 1",
        "LISTEN everything",
        "VACUUM",
        "",
    ],
)
def test_a_question_can_only_read_and_only_the_tables_of_the_ledger(fed: str, asker: str, text: str) -> None:
    with session(fed) as owner, session(asker) as connection:
        kept = "SELECT last_value, is_called FROM ledger.numbers"
        before = sql(fed, kept)
        with pytest.raises(psycopg.Error) as refused:
            ask(connection, text)
        assert not isinstance(refused.value, QueryCanceled | psycopg.OperationalError)
        assert owner.execute("SELECT count(*) FROM ledger.votes").fetchone() == (VOTES,)
        assert sql(fed, kept) == before
        assert ask(connection, "SELECT 1 AS one") == [{"one": 1}]


def test_a_question_sees_the_tables_of_the_ledger_and_not_those_of_who_asks(asker: str) -> None:
    with session(asker) as connection:
        connection.execute("CREATE TEMP TABLE votes (voter text)")
        connection.execute("CREATE TEMP TABLE pg_locks (pid integer)")
        assert ask(connection, "SELECT count(*) FROM votes") == [{"count": VOTES}]


@pytest.mark.parametrize(
    "body",
    [
        "DELETE FROM ledger.votes;",
        "PERFORM * FROM private.payroll;",
        "SET LOCAL ROLE ledgerd;",
        "SET transaction_read_only = off;",
        "CREATE TEMP TABLE mine (x integer);",
        "CREATE FUNCTION pg_temp.ledger() RETURNS integer LANGUAGE sql SECURITY DEFINER AS 'SELECT 1';",
        "GRANT SELECT ON ledger.votes TO PUBLIC;",
        "ALTER FUNCTION ledger.ask(text, integer) RESET ALL;",
        "COPY ledger.votes TO PROGRAM 'id';",
        "COMMIT;",
    ],
)
def test_a_function_of_who_asks_can_only_read_either(asker: str, body: str) -> None:
    with session(asker) as connection:
        made = f"CREATE FUNCTION pg_temp.evil() RETURNS integer LANGUAGE plpgsql AS $$ BEGIN {body} RETURN 1; END $$"
        connection.execute(made.encode())
        with pytest.raises(psycopg.Error) as refused:
            ask(connection, "SELECT pg_temp.evil()")
        assert not isinstance(refused.value, QueryCanceled | psycopg.OperationalError)


@pytest.mark.parametrize("end", ["", ", 1 / 0"], ids=["answered", "failed"])
def test_nothing_that_a_question_sets_or_locks_stays_in_the_session(fed: str, asker: str, end: str) -> None:
    """An application keeps its connections: the next question is not to find them changed."""
    settings = "SELECT name, setting FROM pg_settings WHERE name <> 'application_name' ORDER BY name"
    with session(asker) as connection, session(fed) as other:
        other.execute("LISTEN news")
        ask(connection, "SELECT 1")  # the language of the function has settings too
        before = connection.execute(settings).fetchall()
        for text in (
            "SELECT set_config('statement_timeout', '0', false)",
            "SELECT set_config('search_path', 'pg_temp', false)",
            "SELECT set_config('transaction_read_only', 'on', false)",
            "SELECT pg_advisory_lock(1818584935), pg_advisory_lock_shared(1, 2)",
            "SELECT pg_advisory_lock(g) FROM generate_series(1, 5) AS g",
            "SELECT pg_advisory_xact_lock(3)",
            "SELECT pg_notify('news', 'false')",
            "SELECT lo_create(77), lo_from_bytea(78, 'x')",
        ):
            try:
                ask(connection, text.replace(" FROM", f"{end} FROM") if " FROM" in text else text + end)
            except psycopg.errors.DivisionByZero:
                assert end
        assert connection.execute(settings).fetchall() == before
        assert connection.execute(LOCKS).fetchone() == (0,)
        connection.execute("CREATE TEMP TABLE after_that (x integer)")
        assert other.execute("SELECT count(*) FROM pg_largeobject_metadata").fetchone() == (0,)
        assert list(other.notifies(timeout=0)) == []


def test_locks_go_when_the_time_of_a_question_is_over(asker: str) -> None:
    with session(asker) as connection:
        connection.execute("SET statement_timeout = '50 ms'")
        with pytest.raises(QueryCanceled):
            ask(connection, "SELECT pg_advisory_lock(1), pg_sleep(60)")
        assert connection.execute(LOCKS).fetchone() == (0,)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT pg_sleep(600)",
        "SELECT count(*) FROM generate_series(1, 1000000000000) AS g",
        "SELECT count(*) FROM votes AS a, votes AS b, votes AS c",
        "WITH RECURSIVE endless AS (SELECT 1 AS x UNION ALL SELECT x + 1 FROM endless) SELECT max(x) FROM endless",
        "SELECT repeat('ab', 300) || 'd' ~ '^([ab]*)([ab]*)([ab]*)([ab]*)([ab]*)\\1\\2\\3\\4\\5.*d$'",
        "SELECT voter FROM votes ORDER BY md5(voter || pg_sleep(0.01)::text)",
    ],
)
def test_a_question_has_the_time_of_its_user(asker: str, text: str) -> None:
    with session(asker) as connection:
        connection.execute("SET statement_timeout = '100 ms'")
        with pytest.raises(QueryCanceled):
            ask(connection, text)


@pytest.mark.parametrize("seconds", ["0", "61s", "1d"])
def test_without_a_limit_of_time_no_question_is_answered(asker: str, seconds: str) -> None:
    with session(asker) as connection:
        connection.execute(f"SET statement_timeout = '{seconds}'".encode())
        with pytest.raises(ObjectNotInPrerequisiteState, match=f"ALTER ROLE {ASKER} SET statement_timeout = '10s'"):
            ask(connection, "SELECT 1")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT repeat('x', 30000000)",
        "SELECT array_agg(g) FROM generate_series(1, 5000000) AS g",
        "SELECT repeat('x', 100000) FROM generate_series(1, 10000)",
        "SELECT string_agg(votes::text, '') FROM votes, generate_series(1, 30)",
    ],
)
def test_an_answer_has_so_many_bytes(asker: str, text: str) -> None:
    with session(asker) as connection, pytest.raises(ProgramLimitExceeded, match="larger than 16 MB"):
        ask(connection, text, 10_000)


@pytest.mark.parametrize("is_definer", [False, True])
def test_with_the_rights_of_any_other_role_nothing_is_answered(
    postgres: str, postgres_server: SharedServer, is_definer: bool
) -> None:
    """Before the roles are made, or where a restored dump has given the function to somebody else."""
    user = f"early_{os.getpid()}"
    postgres_server.make_readers(postgres)
    sql(
        postgres,
        "ALTER FUNCTION ledger.ask(text, integer) OWNER TO ledgerd",
        f"ALTER FUNCTION ledger.ask(text, integer) SECURITY {'DEFINER' if is_definer else 'INVOKER'}",
        *PREPARED,
        f"CREATE ROLE {user} LOGIN",
        f"GRANT USAGE ON SCHEMA ledger TO {user}",
        f"GRANT EXECUTE ON FUNCTION ledger.ask(text, integer) TO {user}",
        f"ALTER ROLE {user} SET statement_timeout = '10s'",
    )
    try:
        for text in (
            "SELECT * FROM private.payroll",
            "SELECT g FROM generate_series(1, 20000) AS g) AS asked --",
            "SELECT setval('ledger.numbers', 77)",
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'ledgerd'",
            "SELECT 1",
        ):
            with (
                session(as_user(postgres, user)) as other,
                pytest.raises(InsufficientPrivilege, match="history readers"),
            ):
                ask(other, text)
    finally:
        sql(postgres, f"DROP OWNED BY {user}", f"DROP ROLE {user}")


def test_a_feeder_that_is_no_superuser_makes_the_roles_as_often_as_it_likes(postgres_server: SharedServer) -> None:
    address = postgres_server.database("template0")
    database, own = address.partition("@/")[2].partition("?")[0], as_user(address, FEEDER)
    sql(address, f"CREATE ROLE {FEEDER} LOGIN CREATEROLE", f"ALTER DATABASE {database} OWNER TO {FEEDER}")
    for _ in range(2):
        with opened_alone(own, 60, "test") as connection:
            migrate(own, connection)
        postgres_server.make_readers(own)
        postgres_server.make_readers(own)
        owner = "SELECT proowner::regrole::text, prosecdef FROM pg_proc WHERE proname = 'ask'"
        assert sql(address, owner) == [("ledger_answerer", True)]
        members = "SELECT count(*) FROM pg_auth_members WHERE 'ledger_answerer'::regrole IN (roleid, member)"
        assert sql(address, members) == [(0,)]
        assert sql(address, "SELECT has_schema_privilege('ledger_answerer', 'ledger', 'CREATE')") == [(False,)]
        roll_back(own, known_versions()[-1])
    postgres_server.drop(address)
    sql(postgres_server.database("template0"), f"DROP ROLE {FEEDER}")
