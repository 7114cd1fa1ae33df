"""The tables may be spread over machines: what Citus refuses is not in the schema, and each query says whom it asks.

Citus itself is not run here: the schema is read from PostgreSQL's catalogue, and held to the list below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pytest

from ledgerd.history.postgres.migrations import partition
from ledgerd.history.postgres.queries import QUERIES
from ledgerd.history.postgres.status import PostgresUnavailable
from tests.history.postgres.test_feeder import grow, told
from tests.postgres import sql

DISTRIBUTED_BY = {
    "blocks": "block_range",
    "transactions": "id",
    "operations": "block_range",
    "account_operations": "account",
    "accounts": "account",
    "missed_slots": "block_range",
    "penalties": "block_range",
    "votes": "voter",
    "balances": "account",
}
"""Of each table that grows, and of its reversible twin."""

ON_ONE_MACHINE = {"feed", "_yoyo_log", "_yoyo_migration", "_yoyo_version", "yoyo_lock"}
"""Tables of a few rows, which stay on the machine that is asked."""

FAN_OUTS = {
    "counts up": "pages through all blocks",
    "counts down": "pages through all blocks",
    "between": "pages through all blocks: a page is of one range of blocks, or of two",
    "since": "a search by time, once for a page that has a time",
    "since, reversible": "the same",
}
"""Queries that ask every machine, and why that is right."""

KEYS = """
    SELECT c.relname, i.relname, array_agg(a.attname::text ORDER BY a.attname)
    FROM pg_index AS x
    JOIN pg_class AS c ON c.oid = x.indrelid
    JOIN pg_class AS i ON i.oid = x.indexrelid
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (x.indkey)
    WHERE c.relnamespace = 'ledger'::regnamespace AND (x.indisunique OR x.indisexclusion)
    GROUP BY 1, 2 ORDER BY 1, 2
"""
COLUMNS = """
    SELECT c.relname, a.attname, a.attnotnull, a.attgenerated::text
    FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'ledger'::regnamespace AND c.relkind IN ('r', 'p') AND a.attnum > 0
"""
REFUSED = """
    SELECT conrelid::regclass::text, 'a foreign key' FROM pg_constraint
    WHERE connamespace = 'ledger'::regnamespace AND contype = 'f'
    UNION ALL SELECT tgrelid::regclass::text, 'a trigger' FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = t.tgrelid
    WHERE c.relnamespace = 'ledger'::regnamespace AND NOT tgisinternal
    UNION ALL SELECT oid::regclass::text, 'not kept after a crash' FROM pg_class
    WHERE relnamespace = 'ledger'::regnamespace AND relkind = 'r' AND relpersistence <> 'p'
    UNION ALL SELECT inhrelid::regclass::text, 'a parent' FROM pg_inherits AS h JOIN pg_class AS c ON c.oid = h.inhrelid
    WHERE c.relnamespace = 'ledger'::regnamespace AND NOT c.relispartition
"""
_NAMED = re.compile(r"%\(\w+\)s")
_PART = re.compile(r"FROM (\w+)((?: WHERE .*?)?)(?=\)| UNION| ORDER| LIMIT|$)")


def column_of(table: str) -> str | None:
    return DISTRIBUTED_BY.get(table.removesuffix("_reversible"))


def faults_of_schema(address: str) -> Iterator[str]:
    """What would keep the tables from being spread."""
    columns = {(str(table), str(name)): rest for table, name, *rest in sql(address, COLUMNS)}
    for table in sorted({table for table, _ in columns} - ON_ONE_MACHINE):
        column = column_of(table)
        if column is None:
            yield f"{table} is in no list"
        elif columns.get((table, column)) != [True, ""]:
            yield f"{table} cannot be spread by {column}"
    for owner, key, names in sql(address, KEYS):
        column = column_of(str(owner))
        if column is not None and column not in list(names):  # type: ignore[call-overload]
            yield f"{key} of {owner} is unique without {column}"
    for owner, what in sql(address, REFUSED):
        yield f"{owner} has {what}"


def faults_of_queries(queries: Mapping[str, str]) -> Iterator[str]:
    """Queries that ask every machine without being listed for it, and listed ones that do not."""
    for name, query in queries.items():
        parts = [
            (table, conditions) for table, conditions in _PART.findall(_NAMED.sub("%s", query)) if column_of(table)
        ]
        is_local = all(f"{column_of(table)} = %s" in conditions for table, conditions in parts)
        if is_local == (name in FAN_OUTS):
            yield name
    yield from set(FAN_OUTS) - set(queries)


@pytest.fixture
def indexed(postgres: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    with told(postgres, tmp_path_factory.mktemp("indexed")) as made:
        grow(made, 2)
        made.check()
    return postgres


def test_the_schema_has_nothing_that_keeps_it_from_being_spread(indexed: str) -> None:
    assert list(faults_of_schema(indexed)) == []
    assert {table for table, *_ in sql(indexed, KEYS)} >= {"operations", "account_operations", "transactions"}


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        (
            "CREATE UNIQUE INDEX bad ON ledger.operations (block, place)",
            "bad of operations is unique without block_range",
        ),
        (
            "CREATE UNIQUE INDEX bad ON ledger.votes_reversible (block, place)",
            "bad of votes_reversible is unique without voter",
        ),
        ("CREATE TABLE ledger.other (x int)", "other is in no list"),
        ("ALTER TABLE ledger.blocks RENAME block_range TO elsewhere", "blocks cannot be spread by block_range"),
        (
            (
                "ALTER TABLE ledger.missed_slots DROP CONSTRAINT missed_slots_pkey; "
                "ALTER TABLE ledger.missed_slots ALTER block_range DROP NOT NULL"
            ),
            "missed_slots cannot be spread by block_range",
        ),
        (
            "ALTER TABLE ledger.votes ADD FOREIGN KEY (voter) REFERENCES ledger.accounts (account) NOT VALID",
            "ledger.votes has a foreign key",
        ),
        ("ALTER TABLE ledger.votes SET UNLOGGED", "ledger.votes has not kept after a crash"),
        (
            (
                "CREATE TRIGGER t BEFORE UPDATE ON ledger.votes FOR EACH ROW "
                "EXECUTE FUNCTION suppress_redundant_updates_trigger()"
            ),
            "ledger.votes has a trigger",
        ),
    ],
)
def test_what_would_keep_it_from_being_spread_is_found(indexed: str, planted: str, found: str) -> None:
    sql(indexed, planted)
    assert found in list(faults_of_schema(indexed))


def test_each_query_asks_one_machine_or_says_why_not() -> None:
    assert list(faults_of_queries(QUERIES)) == []


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("entries", "SELECT entry FROM account_operations WHERE sequence BETWEEN %s AND %s"),
        (
            "entries",
            "SELECT 1 FROM accounts WHERE account = %s UNION ALL SELECT 2 FROM account_operations WHERE block = %s",
        ),
        ("between", "SELECT packed FROM operations WHERE block_range = %s AND block = %s"),
    ],
)
def test_a_query_of_every_machine_is_found(name: str, query: str) -> None:
    assert list(faults_of_queries({**QUERIES, name: query})) == [name]


def test_tables_that_are_filled_are_not_divided(indexed: str) -> None:
    with pytest.raises(PostgresUnavailable, match="filled already"):
        partition(indexed, 4)
