"""Tables of an application are found as they were left, come to new versions by migrations, or are refused."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest
from sqlalchemy import Column, Computed, Connection, ForeignKey, Integer, String, Text, text

from ledgerd.app.declaring.application import Application
from ledgerd.app.declaring.steps import ChainStep
from ledgerd.app.errors import AlreadyRunning, DatabaseRefused, TablesChanged, WrongDeclaration
from ledgerd.app.tables.opening import open_tables, read_status, remove_tables
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.app.random_applications import block_behind, content
from tests.postgres import SharedServer, postgres_server

__all__ = ["postgres_server"]


def first() -> Application:
    application = Application("shop")
    sales = application.table("sales", Column("number", Integer, primary_key=True, autoincrement=False))

    @application.on_block
    def sell(step: ChainStep) -> None:
        step.execute(step.insert(sales).values(number=step.number))

    return application


def second() -> Application:
    """With one more column, and another table."""
    application = Application("shop", version=2)
    sales = application.table(
        "sales", Column("number", Integer, primary_key=True, autoincrement=False), Column("note", Text)
    )
    application.table("notes", Column("word", String(20), primary_key=True))

    @application.migration(2)
    def add_notes(connection: Connection) -> None:
        connection.execute(text("ALTER TABLE sales ADD COLUMN note TEXT"))
        connection.execute(text("UPDATE sales SET note = 'old'"))

    @application.on_block
    def sell(step: ChainStep) -> None:
        step.execute(step.insert(sales).values(number=step.number, note="new"))

    return application


def fail(connection: Connection) -> None:
    connection.execute(text("UPDATE nowhere SET a = 1"))


def apply(application: Application, address: str, numbers: Sequence[int], irreversible: int) -> None:
    previous, blocks = NO_BLOCK, []
    for _ in range(max(numbers)):
        blocks.append(block_behind(previous, []))
        previous = blocks[-1].id
    with open_tables(application, address) as tables:
        for number in numbers:
            tables.advance([blocks[number - 1]], irreversible)


def migrate_and_compare(address: str) -> None:
    apply(first(), address, [1, 2, 3, 4, 5], irreversible=3)
    with open_tables(second(), address) as tables:
        assert tables.next == 4, "blocks that can be undone are applied again by the new handlers"
    apply(second(), address, [4, 5], irreversible=3)
    rows = content(address, second().tables)["sales"]
    assert [words for _, (_, words) in rows] == ["'old'", "'old'", "'old'", "'new'", "'new'"]
    with pytest.raises(WrongDeclaration, match="are of version 2 of shop, and the file declares version 1"):
        apply(first(), address, [5], irreversible=3)


def test_a_new_version_of_the_tables_is_reached_by_its_migration(tmp_path: Path) -> None:
    migrate_and_compare(str(tmp_path / "a.sqlite"))


def test_the_same_in_postgres(postgres_server: SharedServer) -> None:
    address = postgres_server.database("template0")
    migrate_and_compare(address)
    with open_tables(second(), address), pytest.raises(AlreadyRunning), open_tables(second(), address):
        pass
    postgres_server.drop(address)


def test_a_migration_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    address = str(tmp_path / "a.sqlite")
    apply(first(), address, [1, 2, 3], irreversible=3)
    failing = second()
    failing.migrations[2] = fail
    with pytest.raises(WrongDeclaration, match="the migration of shop to version 2 fails: no such table: nowhere"):
        apply(failing, address, [4], irreversible=3)
    incomplete = second()
    incomplete.migrations.clear()
    with pytest.raises(WrongDeclaration, match="after the migrations to version 2, table sales has the columns number"):
        apply(incomplete, address, [4], irreversible=3)
    apply(first(), address, [4], irreversible=3)
    assert len(content(address, first().tables)["sales"]) == 4


def test_tables_that_are_declared_otherwise_need_a_version(tmp_path: Path) -> None:
    address = str(tmp_path / "a.sqlite")
    apply(first(), address, [1], irreversible=1)
    other = Application("shop")
    other.table("sales", Column("number", Integer, primary_key=True, autoincrement=False), Column("more", Text))
    with pytest.raises(WrongDeclaration, match="table sales of shop is declared otherwise than it was made: raise the"):
        apply(other, address, [2], irreversible=1)


def test_a_database_of_another_application_or_of_something_else_is_refused(tmp_path: Path) -> None:
    address = str(tmp_path / "a.sqlite")
    apply(first(), address, [1], irreversible=1)
    with pytest.raises(DatabaseRefused, match="has the tables of shop, not of other"):
        apply(Application("other"), address, [1], irreversible=1)
    with pytest.raises(DatabaseRefused, match="has the tables of shop, not of other"):
        remove_tables(Application("other"), address)

    with sqlite3.connect(tmp_path / "b.sqlite") as connection:
        connection.execute("CREATE TABLE sales (a)")
    with pytest.raises(DatabaseRefused, match="has a table sales, which the application has not made"):
        apply(first(), str(tmp_path / "b.sqlite"), [1], irreversible=1)
    with pytest.raises(DatabaseRefused, match="must be a file of SQLite, or an address such as"):
        apply(first(), "mysql://nowhere/a", [1], irreversible=1)
    (tmp_path / "c.sqlite").write_text("no database of any kind" * 100)
    with pytest.raises(DatabaseRefused, match="can't be opened: file is not a database"):
        apply(first(), str(tmp_path / "c.sqlite"), [1], irreversible=1)


def test_a_table_that_is_gone_is_said(tmp_path: Path) -> None:
    address = str(tmp_path / "a.sqlite")
    apply(first(), address, [1], irreversible=1)
    with sqlite3.connect(address) as connection:
        connection.execute("DROP TABLE sales")
    with pytest.raises(TablesChanged, match="table sales is gone: something else than its application has changed it"):
        apply(first(), address, [2], irreversible=1)
    remove_tables(first(), address)
    apply(first(), address, [1, 2], irreversible=1)
    status = read_status(first(), address)
    assert status.block is not None
    assert (status.block.number, status.reversible) == (2, 1)


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ((Column("a", Integer),), "needs a primary key"),
        ((Column("a", Integer, primary_key=True), Column("_ledgerd_b", Text)), "can't be named"),
        ((Column("a", ForeignKey("t.a", onupdate="CASCADE"), primary_key=True),), "neither `onupdate`"),
    ],
)
def test_what_could_not_be_undone_is_refused_where_it_is_declared(columns: Sequence[Column[int]], words: str) -> None:
    with pytest.raises(WrongDeclaration, match=words):
        Application("shop").table("t", *columns)


def test_generated_columns_are_undone_with_those_that_they_come_from(tmp_path: Path) -> None:
    application = Application("doubles")
    doubles = application.table(
        "doubles", Column("a", Integer, primary_key=True), Column("b", Integer), Column("c", Integer, Computed("b * 2"))
    )

    @application.on_block
    def double(step: ChainStep) -> None:
        step.execute("UPDATE doubles SET b = b + 1")
        step.execute(step.insert(doubles).values(b=step.number))

    address = str(tmp_path / "a.sqlite")
    apply(application, address, [1, 2], irreversible=0)
    before = content(address, application.tables)["doubles"]
    block = block_behind(block_behind(block_behind(NO_BLOCK, []).id, []).id, [])
    with open_tables(application, address) as tables:
        tables.advance([block], 0)
        tables.undo_reversible()
        assert tables.next == 1
    apply(application, address, [1, 2], irreversible=0)
    assert content(address, application.tables)["doubles"] == before
