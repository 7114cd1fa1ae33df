"""Every question of `docs/export.md` has the answer that stands there, of a recorded chain in Parquet files.

`python -m tests.docs.test_export FOLDER` makes the files there, and writes columns and answers into the page.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import duckdb
import pytest

from ledgerd.history.columns.source import HistorySource
from ledgerd.history.parquet.schema import SCHEMAS
from ledgerd.history.settings import HistorySettings
from tests.chain.recorded_chains import advance, open_chain
from tests.docs.test_sql import QUESTION, shown
from tests.history.histories import followed
from tests.history.parquet.exporting import exported
from tests.history.postgres.feeding import feed_all, feeding
from tests.postgres import sql
from tests.recorded import ANSWERED

PAGE = Path(__file__).resolve().parents[2] / "docs" / "export.md"
CHAIN = "open-main"
SETTINGS = HistorySettings(balances=True)
COLUMNS = re.compile(r"(<!-- schema -->\n).*?(<!-- end of schema -->\n)", re.DOTALL)
ODD_IN_SQL = {"id": "encode(id, 'hex')", "transaction_id": "encode(transaction_id, 'hex')", "body": "body::text"}


def make(folder: Path) -> tuple[Path, Path]:
    """The history of the chain, and its files."""
    node, files = folder / "node", folder / "files"
    node.mkdir()
    with open_chain(CHAIN, node) as chain, followed(chain, node, SETTINGS):
        advance(chain, CHAIN, ANSWERED[CHAIN])
    exported(node, files, blocks_per_file=500)
    return node, files


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return make(tmp_path_factory.mktemp("export"))


def columns() -> str:
    """The schema as a table of the page."""
    rows = ["| table | columns |", "|---|---|"]
    for table, schema in SCHEMAS.items():
        rows.append(f"| `{table}` | {', '.join(f'`{each.name}` {each.type}' for each in schema)} |")
    return "\n" + "\n".join(rows) + "\n\n"


def opened(page: str, files: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB with the views of the page."""
    connection = duckdb.connect()
    for view in re.findall(r"^CREATE VIEW .*;$", page, re.MULTILINE):
        connection.execute(view.replace("FROM '", f"FROM '{files}/"))
    return connection


def answer(connection: duckdb.DuckDBPyConnection, question: str) -> str:
    """The rows as a table of text."""
    cursor = connection.execute(question)
    names = [each[0] for each in cursor.description or ()]
    rows = [names, *([shown(value) for value in row] for row in cursor.fetchall())]
    widths = [max(len(row[place]) for row in rows) for place in range(len(names))]
    lines = ["  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "".join(f"{line}\n" for line in lines)


def answered(page: str, files: Path) -> str:
    """The page with the columns, and the answers of some files."""
    with opened(page, files) as connection:
        page = QUESTION.sub(lambda found: f"{found[1]}{answer(connection, found[2])}{found[4]}", page)
    return COLUMNS.sub(lambda found: f"{found[1]}{columns()}{found[2]}", page)


def test_every_question_has_the_answer_of_the_page(made: tuple[Path, Path]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(QUESTION.findall(page)) == page.count("```sql") - 1 >= 12
    assert answered(page, made[1]) == page


def test_every_table_is_that_of_the_history_in_sql(made: tuple[Path, Path], postgres: str) -> None:
    node, files = made
    source = HistorySource(node, SETTINGS)
    with feeding(postgres, source, SETTINGS) as feeder:
        feed_all(feeder)
    source.close()
    with opened(PAGE.read_text(encoding="utf-8"), files) as connection:
        for table, schema in SCHEMAS.items():
            names = [name for name in schema.names if name != "body"]
            wanted = ", ".join(ODD_IN_SQL.get(name, name) for name in names).replace("time", "time AT TIME ZONE 'UTC'")
            expected = sql(postgres, f"SELECT {wanted} FROM ledger.{table}")
            found = connection.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall()
            assert sorted(found, key=repr) == sorted(_comparable(expected), key=repr), table
            assert len(found) > 0 or table in {"penalties", "votes"}


def _comparable(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [tuple(bytes(each) if isinstance(each, memoryview) else each for each in row) for row in rows]


if __name__ == "__main__":
    _, place = make(Path(sys.argv[1]))
    PAGE.write_text(answered(PAGE.read_text(encoding="utf-8"), place), encoding="utf-8")
