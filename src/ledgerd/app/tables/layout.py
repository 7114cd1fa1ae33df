"""What the tables look like: as the file declares them, and as the database has them."""

from __future__ import annotations

from sqlalchemy import Connection, MetaData, inspect, text
from sqlalchemy.engine import Dialect
from sqlalchemy.schema import CreateTable

_SQLITE = text("SELECT tbl_name, type || ' ' || name, sql FROM sqlite_master WHERE type IN ('table', 'trigger')")
_POSTGRES = text(
    "SELECT table_name, 'column ' || column_name, concat_ws(' ', data_type, is_nullable, character_maximum_length, "
    "numeric_precision, numeric_scale) FROM information_schema.columns WHERE table_schema = current_schema() "
    "UNION ALL SELECT relname, 'trigger ' || tgname, tgenabled::text FROM pg_trigger JOIN pg_class ON pg_class.oid = "
    "tgrelid WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace"
)

Layout = dict[str, dict[str, str]]
"""For each table, by its name: each of its parts, and its description."""


def declared_layout(tables: MetaData, dialect: Dialect) -> dict[str, str]:
    """The statement that makes each table."""
    return {
        str(table.name): " ".join(str(CreateTable(table).compile(dialect=dialect)).split())
        for table in tables.sorted_tables
    }


def found_layout(connection: Connection, names: frozenset[str]) -> Layout:
    """The layout of these tables in the database, without indexes, which anybody may add."""
    found: Layout = {}
    for table, thing, words in connection.execute(_SQLITE if connection.dialect.name == "sqlite" else _POSTGRES):
        if table in names:
            found.setdefault(table, {})[thing] = words or ""
    return found


def difference(before: Layout, after: Layout) -> str:
    """The first thing that differs, in words; empty if nothing does."""
    for table in sorted(before.keys() | after.keys()):
        if table not in after:
            return f"table {table} is gone"
        old, new = before.get(table, {}), after[table]
        for thing in sorted(old.keys() | new.keys()):
            if old.get(thing) != new.get(thing):
                what = "is gone" if thing not in new else "is new" if thing not in old else "is another"
                return f"{thing} of table {table} {what}"
    return ""


def lacking(connection: Connection, tables: MetaData) -> str:
    """The first thing that the file declares and the database lacks, or the other way round; empty if they agree."""
    inspector = inspect(connection)
    there = set(inspector.get_table_names())
    for table in tables.sorted_tables:
        if table.name not in there:
            return f"table {table.name} is not there"
        found = {each["name"] for each in inspector.get_columns(table.name)}
        declared = {each.name for each in table.columns}
        if found != declared:
            return f"table {table.name} has the columns {', '.join(sorted(found))}, not {', '.join(sorted(declared))}"
        keys = inspector.get_pk_constraint(table.name)["constrained_columns"]
        if set(keys) != {each.name for each in table.primary_key.columns}:
            return f"table {table.name} has the key ({', '.join(keys)})"
    return ""
