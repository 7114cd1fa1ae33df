"""Feeds the tables in batches, each in one transaction with the position it leads to: a kill loses and repeats nothing.
Reversible blocks have tables that are cut at a switch of the branch. The first load makes the indexes last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

from psycopg import sql

from ledgerd.history.columns.rows import BLOCKS_A_RANGE, COLUMNS, BlockRows, TableRow
from ledgerd.history.embedded.kept_facts import KeptFacts, KeptSource
from ledgerd.history.postgres.connection import TimedConnection, attempted
from ledgerd.history.postgres.migrations import migrate, opened_alone
from ledgerd.history.postgres.status import PostgresRefused, PostgresUnavailable
from ledgerd.history.settings import HistorySettings

MOST_BLOCKS = 2_000
"""Blocks of one batch."""
MOST_ROWS = 30_000
"""Rows of one batch: operations, and the accounts that they touch."""
MOST_BYTES = 4 << 20
"""Bytes of packed operations in one batch; their JSON and columns may take more than ten times as many."""

COMMAND_SECONDS = 60.0
INDEX_SECONDS = 86_400.0
"""The longest wait for PostgreSQL, and for all indexes of a large chain."""

MOST_ACCOUNTS = 1 << 20
"""Accounts whose following sequence numbers are remembered."""

INDEXES = Path(__file__).parent / "sql" / "indexes.sql"


class FeedPosition(NamedTuple):
    """The last block up to which the tables are filled."""

    first: int
    head: int
    head_id: bytes
    irreversible: int
    is_indexed: bool
    balances_from: int | None = None
    """The block behind which changes of balances and penalties are known, and after which all of them are known."""


class FeedBatch(NamedTuple):
    """The rows for one transaction."""

    common: int
    """The last block in PostgreSQL that the chain has too."""
    irreversible: int
    rows: BlockRows
    head: int
    head_id: bytes
    balances_from: int | None

    def changes(self, position: FeedPosition) -> bool:
        is_same = self.common == position.head == self.head
        is_same &= self.balances_from == position.balances_from
        return not is_same or self.irreversible != position.irreversible


class Feeder:
    """One connection that feeds; only one feeds a database at a time."""

    def __init__(
        self, connection: TimedConnection, source: KeptSource, settings: HistorySettings, chain_id: bytes
    ) -> None:
        self.connection = connection
        self._source = source
        self._settings = settings
        self._chain_id = chain_id
        self._following: dict[str, int] = {}
        self.position: FeedPosition | None = self._read_position()
        self._ids: dict[int, bytes] = self._read_ids()
        """The ids of reversible blocks, and of the last irreversible one."""

    @classmethod
    @contextmanager
    def connected(cls, address: str, source: KeptSource, settings: HistorySettings, chain_id: bytes) -> Iterator[Self]:
        with opened_alone(address, COMMAND_SECONDS, "ledgerd feed") as connection:
            migrate(address, connection)
            yield attempted(lambda: cls(connection, source, settings, chain_id))

    def _read_position(self) -> FeedPosition | None:
        wanted = "SELECT chain_id, first, head, head_id, irreversible, is_indexed, balances_from FROM feed"
        row = self.connection.execute(wanted).fetchone()
        if row is None:
            return None
        chain_id, *rest = row
        if chain_id != self._chain_id:
            raise PostgresRefused(f"the database has the history of another chain, {chain_id.hex()[:16]}...")
        return FeedPosition(*rest)

    def _read_ids(self) -> dict[int, bytes]:
        if self.position is None:
            return {}
        last = self.position.irreversible
        ids = {self.position.head: self.position.head_id}
        if self.position.head > last:
            wanted = (
                "SELECT block, id FROM blocks_reversible "
                "UNION ALL SELECT block, id FROM blocks WHERE block_range = %s AND block = %s"
            )
            ids |= dict(self.connection.execute(wanted, (last // BLOCKS_A_RANGE, last)).fetchall())
        return ids

    def step(self) -> bool:
        """Feed what there is to feed next, a batch at most; whether there was anything."""
        with self._source() as facts:
            if self.position is None:
                return self._begin(facts)
            if facts.head < self.position.irreversible:
                return False  # the node goes again through blocks that were irreversible before it was killed
            if not self.position.is_indexed and self.position.head >= facts.irreversible:
                batch = None
            else:
                batch = self._read(facts, self.position)
                if not batch.changes(self.position):
                    return False
        attempted(self._make_indexes if batch is None else lambda: self._write(batch))
        return True

    def _begin(self, facts: KeptFacts) -> bool:
        first = facts.first
        if not first:
            return False
        begun = FeedPosition(first, first - 1, b"", first - 1, is_indexed=False)
        wanted = "INSERT INTO feed VALUES (1, %s, %s, %s, %s, %s, %s, now())"
        attempted(lambda: self.connection.execute(wanted, (self._chain_id, *begun[:-1])))
        self.position, self._ids = begun, {first - 1: b""}
        return True

    def _read(self, facts: KeptFacts, position: FeedPosition) -> FeedBatch:
        common = min(position.head, facts.head)
        while common > position.irreversible and facts.id_of(common) != self._ids[common]:
            common -= 1
        last = facts.head if position.is_indexed else min(facts.head, facts.irreversible)
        rows, head, head_id = BlockRows(self._settings), common, self._ids[common]
        while head < min(last, common + MOST_BLOCKS) and not is_full(rows):
            block = facts.block(head + 1)
            if head_id and block.header.previous != head_id:
                raise PostgresRefused(f"the database has another block {head} than this node, and it is irreversible")
            rows.add(block)
            head, head_id = block.number, block.header.id
        begins = facts.balances.begins
        if begins is not None and begins > head:
            begins = None
        elif begins != position.balances_from:
            rows.add_standing(facts)
        irreversible = max(position.irreversible, min(facts.irreversible, head))
        return FeedBatch(common, irreversible, rows, head, head_id, begins)

    def _write(self, batch: FeedBatch) -> None:
        before = self.position
        if before is None:
            raise ValueError("nothing was begun")
        with self.connection.transaction():
            if batch.common < before.head:
                self._undo(batch.common)
            moved = min(batch.irreversible, batch.common)
            if moved > before.irreversible:
                self._move(moved)
            if before.balances_from not in {None, batch.balances_from}:
                self._forget_changes()
            self._load_following({touch.account for touch in batch.rows.touches})
            batch.rows.number_entries(self._following)
            self._insert(batch)
            self._advance(before, batch)
        ids = {number: key for number, key in self._ids.items() if batch.irreversible <= number <= batch.common}
        self._ids = ids | {number: key for number, key in batch.rows.ids.items() if number >= batch.irreversible}
        self.position = FeedPosition(
            before.first, batch.head, batch.head_id, batch.irreversible, before.is_indexed, batch.balances_from
        )

    def _undo(self, common: int) -> None:
        for table in COLUMNS:
            self.connection.execute(_named("DELETE FROM {reversible} WHERE block > %s", table), (common,))
        self._following.clear()

    def _forget_changes(self) -> None:
        for table in ("balances", "balances_reversible", "penalties", "penalties_reversible"):
            self.connection.execute(sql.SQL("DELETE FROM {}").format(sql.Identifier(table)))

    def _move(self, number: int) -> None:
        counted = (
            "INSERT INTO accounts SELECT account, max(sequence) + 1 FROM account_operations_reversible "
            "WHERE block <= %s GROUP BY account ON CONFLICT (account) DO UPDATE SET entries = excluded.entries"
        )
        self.connection.execute(counted, (number,))
        moved = (
            "WITH moved AS (DELETE FROM {reversible} WHERE block <= %s RETURNING *) "
            "INSERT INTO {table} SELECT * FROM moved"
        )
        for table in COLUMNS:
            self.connection.execute(_named(moved, table), (number,))

    def _load_following(self, accounts: set[str]) -> None:
        if len(self._following) > MOST_ACCOUNTS:
            self._following.clear()
        unknown = sorted(accounts.difference(self._following))
        if unknown:
            wanted = (
                "SELECT a, coalesce((SELECT max(sequence) + 1 FROM account_operations_reversible WHERE account = a), "
                "(SELECT entries FROM accounts WHERE account = a), 0) FROM unnest(%s::text[]) AS a"
            )
            self._following |= dict(self.connection.execute(wanted, (unknown,)).fetchall())

    def _insert(self, batch: FeedBatch) -> None:
        for table, rows in batch.rows.tables.items():
            place = COLUMNS[table].index("block")
            final = [row for row in rows if row[place] <= batch.irreversible]  # type: ignore[operator]
            self._copy("{table}", table, final)
            if len(final) < len(rows):
                later = [row for row in rows if row[place] > batch.irreversible]  # type: ignore[operator]
                self._copy("{reversible}", table, later)
            if table == "account_operations":
                self._count(final)

    def _copy(self, into: str, table: str, rows: list[TableRow]) -> None:
        if rows:
            command = _named(f"COPY {into} FROM STDIN", table)
            with self.connection.cursor() as cursor, cursor.copy(command) as copy:
                for row in rows:
                    copy.write_row(row)

    def _count(self, entries: list[TableRow]) -> None:
        last = {entry[0]: entry[1] + 1 for entry in entries}  # type: ignore[operator]
        if last:
            counted = (
                "INSERT INTO accounts SELECT * FROM unnest(%s::text[], %s::bigint[]) "
                "ON CONFLICT (account) DO UPDATE SET entries = excluded.entries"
            )
            self.connection.execute(counted, ([*last], [*last.values()]))

    def _advance(self, before: FeedPosition, batch: FeedBatch) -> None:
        wanted = (
            "UPDATE feed SET head = %s, head_id = %s, irreversible = %s, balances_from = %s, fed_at = now() "
            "WHERE head = %s AND head_id = %s"
        )
        reached = (batch.head, batch.head_id, batch.irreversible, batch.balances_from)
        given = (*reached, before.head, before.head_id)
        if self.connection.execute(wanted, given).rowcount != 1:
            raise PostgresUnavailable("the database was fed by another process")

    def _make_indexes(self) -> None:
        before, self.connection.seconds = self.connection.seconds, INDEX_SECONDS
        with self.connection.transaction():
            self.connection.execute("SET LOCAL maintenance_work_mem = '256MB'")
            self.connection.execute(INDEXES.read_bytes())
            self.connection.execute("UPDATE feed SET is_indexed = true")
        self.connection.seconds = before
        if self.position is not None:
            self.position = self.position._replace(is_indexed=True)


def is_full(rows: BlockRows) -> bool:
    return rows.operations + len(rows.touches) >= MOST_ROWS or rows.packed_bytes >= MOST_BYTES


def _named(command: str, table: str) -> sql.Composed:
    return sql.SQL(command).format(table=sql.Identifier(table), reversible=sql.Identifier(f"{table}_reversible"))
