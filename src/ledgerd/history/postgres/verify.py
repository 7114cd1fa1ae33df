"""Compares the tables with the history that they were fed from: every row of every block, and every sequence number."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

from psycopg import ServerCursor, sql

from ledgerd.history.columns.rows import COLUMNS, ENTRY, BlockRows, TableRow
from ledgerd.history.embedded.kept_facts import KeptFacts, KeptSource
from ledgerd.history.postgres.connection import TimedConnection, attempted, connect
from ledgerd.history.postgres.feeder import INDEX_SECONDS, is_full
from ledgerd.history.postgres.migrations import require_schema
from ledgerd.history.postgres.status import PostgresRefused
from ledgerd.history.settings import HistorySettings

BLOCKS_AT_ONCE = 500
"""Blocks that are compared at once."""
ROWS_AT_ONCE = 2_000
"""Rows that are read at once."""

ORDERS = {
    "blocks": ("block",),
    "transactions": ("block", "trx_in_block"),
    "operations": ("block", "place"),
    "account_operations": ("block", "place", "account"),
    "missed_slots": ("block", "validator"),
    "balances": ("block", "ordinal"),
    "penalties": ("block", "validator"),
    "votes": ("block", "place"),
}

_FEED = "SELECT chain_id, first, head, head_id, irreversible FROM feed"


class StoreComparison:
    """One walk through both, over one commit of PostgreSQL."""

    def __init__(self, address: str, source: KeptSource, settings: HistorySettings, chain_id: bytes) -> None:
        self._address = address
        self._source = source
        self._settings = settings
        self._chain_id = chain_id
        self._following: defaultdict[str, int] = defaultdict(int)
        self._first = 0
        self.compared = 0
        self.head = 0

    def differences(self, progress: Callable[[int], None] = lambda _block: None) -> Iterator[str]:
        with attempted(lambda: connect(self._address, INDEX_SECONDS, "ledgerd verify")) as connection:
            require_schema(connection)
            connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            row = connection.execute(_FEED).fetchone()
            if row is None:
                return
            chain_id, first, head, head_id, irreversible = row
            if chain_id != self._chain_id:
                raise PostgresRefused(f"the database has the history of another chain, {chain_id.hex()[:16]}...")
            with self._source() as facts:
                if facts.first != first:
                    yield f"PostgreSQL begins with block {first}, the node with block {facts.first}"
                if head <= facts.head and facts.id_of(head) != head_id:
                    head = irreversible  # the branch was switched in between
                head = min(head, facts.head)
            yield from self._compared(connection, first, head, progress)
            yield from self._counts(connection, irreversible)

    def _compared(
        self, connection: TimedConnection, first: int, head: int, progress: Callable[[int], None]
    ) -> Iterator[str]:
        self._following.clear()
        self._first = first
        end = first - 1
        with ExitStack() as cursors:
            stored = {table: cursors.enter_context(closing(_Stored(connection, table, head))) for table in COLUMNS}
            while end < head:
                with self._source() as facts:
                    expected, end = self._rows(facts, end + 1, min(head, end + BLOCKS_AT_ONCE))
                for table, rows in expected.tables.items():
                    yield from _difference(table, _sorted(table, rows), stored[table].up_to(end))
                self.head = end
                self.compared += expected.operations
                progress(end)

    def _rows(self, facts: KeptFacts, first: int, last: int) -> tuple[BlockRows, int]:
        rows, end = BlockRows(self._settings), first - 1
        while end < last and not is_full(rows):
            end = number = end + 1
            rows.add(facts.block(number))
            begins = facts.balances.begins
            if begins is not None and (number == begins or begins < number == self._first):
                rows.add_standing(facts)
        rows.number_entries(self._following)
        return rows, end

    def _counts(self, connection: TimedConnection, irreversible: int) -> Iterator[str]:
        wanted = (
            "SELECT account, entries, last FROM accounts FULL JOIN (SELECT account, max(sequence) + 1 AS last "
            "FROM account_operations GROUP BY account) AS counted USING (account) WHERE entries IS DISTINCT FROM last"
        )
        for account, entries, last in connection.execute(wanted):
            yield f"accounts: {account} has {entries} entries, of which {last} are there up to block {irreversible}"


class _Stored:
    """The rows of a table in order, of irreversible and reversible blocks."""

    def __init__(self, connection: TimedConnection, table: str, head: int) -> None:
        columns = sql.SQL(", ").join(map(sql.Identifier, COLUMNS[table]))
        command = sql.SQL(
            "SELECT {columns} FROM {table} UNION ALL SELECT {columns} FROM {reversible} WHERE block <= {head} "
            "ORDER BY {order}"
        ).format(
            columns=columns,
            table=sql.Identifier(table),
            reversible=sql.Identifier(f"{table}_reversible"),
            head=head,
            order=sql.SQL(", ").join(map(sql.Identifier, ORDERS[table])),
        )
        self._cursor = ServerCursor(connection, f"compared {table}")
        self._cursor.itersize = ROWS_AT_ONCE
        self._cursor.execute(command)
        self._rows: Iterator[tuple[Any, ...]] = iter(self._cursor)
        self._place = COLUMNS[table].index("block")
        self._next = next(self._rows, None)

    def close(self) -> None:
        self._cursor.close()

    def up_to(self, block: int) -> list[TableRow]:
        found: list[TableRow] = []
        while self._next is not None and self._next[self._place] <= block:
            found.append(self._next)
            self._next = next(self._rows, None)
        return found


def _sorted(table: str, rows: list[TableRow]) -> list[TableRow]:
    places = [COLUMNS[table].index(column) for column in ORDERS[table]]
    return sorted(rows, key=lambda row: [row[place] for place in places])


def _difference(table: str, expected: list[TableRow], stored: list[TableRow]) -> Iterator[str]:
    if table == "operations":
        body = COLUMNS[table].index("body")
        expected = [(*row[:body], json.loads(str(row[body])), *row[body + 1 :]) for row in expected]
    if table == "account_operations":
        stored = _as_fed_now(expected, stored)
    if expected == stored:
        return
    block = COLUMNS[table].index("block")
    for mine, its in zip(expected, stored, strict=False):
        if mine != its:
            names = [name for name, one, other in zip(COLUMNS[table], mine, its, strict=True) if one != other]
            yield f"{table}: a row of block {mine[block]} has another {', '.join(names)}"
            return
    longer, what = (expected, "is missing") if len(expected) > len(stored) else (stored, "should not be there")
    yield f"{table}: a row of block {longer[min(len(expected), len(stored))][block]} {what}"


def _as_fed_now(expected: list[TableRow], stored: list[TableRow]) -> list[TableRow]:
    """Entries that an earlier version has fed repeat the operation for however many accounts."""
    entry = COLUMNS["account_operations"].index("entry")
    bare = {row[entry] for row in expected if _is_bare(row[entry])}
    return [_cut(row, entry, bare) for row in stored] if bare else stored


def _cut(row: TableRow, entry: int, bare: set[object]) -> TableRow:
    raw = row[entry]
    short = raw[: ENTRY.size] if isinstance(raw, bytes) else raw
    return (*row[:entry], short, *row[entry + 1 :]) if short in bare else row


def _is_bare(entry: object) -> bool:
    return isinstance(entry, bytes) and len(entry) == ENTRY.size
