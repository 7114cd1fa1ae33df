"""Every question of `docs/sql.md` has the answer that stands there, of a recorded chain in PostgreSQL.

`python -m tests.docs.test_sql ADDRESS` writes the answers of a database into the page.
"""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime
from pathlib import Path

import psycopg
import pytest

from ledgerd.history.columns.source import HistorySource
from ledgerd.history.settings import HistorySettings
from tests.history.postgres.feeding import feed_all, feeding
from tests.postgres import TEMPLATE, SharedServer, sql
from tests.recorded import ANSWERED
from tests.rpc.api.serving import copy_followed

PAGE = Path(__file__).resolve().parents[2] / "docs" / "sql.md"
CHAIN = "open-main"
QUESTION = re.compile(r"(### \d+\. [^\n]+\n(?:\n[^\n]+\n)*\n```sql\n(.*?);\n```\n\n```\n)(.*?)(```\n)", re.DOTALL)


def shown(value: object) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    return "" if value is None else str(value).replace("\n", " ")


def answer(connection: psycopg.Connection[tuple[object, ...]], question: str) -> str:
    """The rows as a table of text."""
    cursor = connection.execute(question.encode())
    names = [each.name for each in cursor.description or ()]
    rows = [names, *([shown(value) for value in row] for row in cursor.fetchall())]
    widths = [max(len(row[place]) for row in rows) for place in range(len(names))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "".join(f"{line}\n" for line in lines)


def answered(page: str, address: str) -> str:
    """The page with the answers of a database."""
    with psycopg.connect(address, autocommit=True, options="-c search_path=ledger -c TimeZone=UTC") as connection:
        return QUESTION.sub(lambda found: f"{found[1]}{answer(connection, found[2])}{found[4]}", page)


@pytest.fixture(scope="module")
def fed(postgres_server: SharedServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder, address = tmp_path_factory.mktemp(CHAIN), postgres_server.database(TEMPLATE)
    copy_followed(CHAIN, ANSWERED[CHAIN], folder)
    source = HistorySource(folder, HistorySettings())
    with feeding(address, source) as feeder:
        feed_all(feeder)
    source.close()
    postgres_server.make_readers(address)
    return address


def test_every_question_has_the_answer_of_the_page(fed: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(QUESTION.findall(page)) == page.count("```sql") >= 20
    assert answered(page, fed) == page


def as_role(address: str, role: str) -> str:
    sql(
        address,
        f"DROP ROLE IF EXISTS some_{role}",
        f"CREATE ROLE some_{role} LOGIN IN ROLE ledger_{role}",
        f"ALTER ROLE some_{role} SET statement_timeout = '10s'",
    )
    return address.replace("ledgerd@", f"some_{role}@")


def test_a_reader_reads_and_changes_nothing(fed: str) -> None:
    reader = as_role(fed, "reader")
    assert sql(reader, "SELECT count(*) > 100 FROM ledger.operations") == [(True,)]
    for command in ("DELETE FROM ledger.votes", "DROP TABLE ledger.votes", "CREATE TABLE ledger.mine (x int)"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            sql(reader, command)


def test_a_reader_has_the_limits_of_the_page(fed: str) -> None:
    (commands,) = re.findall(r"\n\n((?:    [A-Z].* ROLE explorer .*;\n)+)\n", PAGE.read_text(encoding="utf-8"))
    sql(fed, "DROP ROLE IF EXISTS explorer", *commands.splitlines())
    explorer = fed.replace("ledgerd@", "explorer@")
    limits = ("statement_timeout", "idle_in_transaction_session_timeout", "default_transaction_read_only")
    assert [sql(explorer, f"SHOW {each}")[0][0] for each in limits] == ["10s", "30s", "on"]
    assert sql(fed, "SELECT rolconnlimit FROM pg_roles WHERE rolname = 'explorer'") == [(10,)]
    assert sql(explorer, "SELECT count(*) > 100 FROM operations") == [(True,)]
    with pytest.raises(psycopg.errors.QueryCanceled):
        sql(explorer, "SET statement_timeout = '50ms'", "SELECT pg_sleep(60)")


def test_who_asks_gets_only_so_many_rows_and_changes_nothing(fed: str) -> None:
    asker = as_role(fed, "asker")
    asked = "SELECT count(*), min(row ->> 'type') FROM ledger.ask($$SELECT type FROM operations$$, 7) AS row"
    assert sql(asker, asked)[0][0] == 7
    unlimited = "SELECT count(*) FROM ledger.ask($$SELECT 1 FROM generate_series(1, 100000)$$, 1000000)"
    assert sql(asker, unlimited) == [(10_000,)]
    for command in (
        "SELECT * FROM ledger.operations",
        "SELECT * FROM ledger.ask($$DELETE FROM votes RETURNING *$$)",
        "SELECT * FROM ledger.ask($$SELECT 1) AS x; DELETE FROM votes; SELECT (1$$)",
    ):
        with pytest.raises(psycopg.Error):
            sql(asker, command)
    assert sql(fed, "SELECT count(*) > 0 FROM ledger.votes") == [(True,)]


if __name__ == "__main__":
    PAGE.write_text(answered(PAGE.read_text(encoding="utf-8"), sys.argv[1]), encoding="utf-8")
