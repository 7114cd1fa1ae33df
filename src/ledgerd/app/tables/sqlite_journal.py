"""The journal in SQLite. Values are kept in columns without a type, so that they stay exactly what they are."""

from __future__ import annotations

from ledgerd.app.declaring.application import OWN_PREFIX
from ledgerd.app.tables.journal import JOURNAL, JournaledTable, UndoJournal, listed, quoted, written_alone

NOW = f"{OWN_PREFIX}_now"
"""The block whose changes these are; NULL between transactions, when nobody may change rows."""


def _numbered(letter: str, count: int) -> list[str]:
    return [f"{letter}{place}" for place in range(count)]


class SqliteJournal(UndoJournal):
    """Triggers write the old row, and the key of the new one."""

    def make(self) -> None:
        run = self._connection.exec_driver_sql
        keys = _numbered("k", max((len(each.keys) for each in self._tables.values()), default=0))
        columns = _numbered("c", max((len(each.columns) for each in self._tables.values()), default=0))
        run(f"CREATE TABLE {NOW} (block INTEGER, keep INTEGER NOT NULL)")
        run(f"INSERT INTO {NOW} VALUES (NULL, 0)")  # noqa: S608 - names of ours
        own = ("seq INTEGER PRIMARY KEY", "block INTEGER NOT NULL", "kind TEXT NOT NULL", "relation TEXT NOT NULL")
        run(f"CREATE TABLE {JOURNAL} ({', '.join([*own, *keys, *columns])})")
        run(f"CREATE INDEX {JOURNAL}_block ON {JOURNAL} (block)")
        for table in self._tables.values():
            for kind in ("insert", "update", "delete"):
                run(_trigger(table, kind))

    def remove(self) -> None:
        run = self._connection.exec_driver_sql
        for table in self._tables:
            for kind in ("insert", "update", "delete"):
                run(f"DROP TRIGGER IF EXISTS {_trigger_name(table, kind)}")
        run(f"DROP TABLE IF EXISTS {JOURNAL}")
        run(f"DROP TABLE IF EXISTS {NOW}")

    def begin(self, block: int, *, keep: bool) -> None:
        self._connection.exec_driver_sql(f"UPDATE {NOW} SET block = ?, keep = ?", (block, int(keep)))  # noqa: S608

    def end(self) -> None:
        self._connection.exec_driver_sql(f"UPDATE {NOW} SET block = NULL, keep = 0")  # noqa: S608

    def undo(self, block: int) -> None:
        run = self._connection.exec_driver_sql
        self.begin(block, keep=False)
        run("PRAGMA defer_foreign_keys = ON")
        changes = run(f"SELECT seq, kind, relation FROM {JOURNAL} WHERE block = ? ORDER BY seq DESC", (block,))  # noqa: S608
        for seq, kind, relation in changes.all():
            done = run(_reversal(kind, self._tables[relation]), {"seq": seq})
            self._require_one(done.rowcount, relation, block)
        run(f"DELETE FROM {JOURNAL} WHERE block = ?", (block,))  # noqa: S608
        run("PRAGMA defer_foreign_keys = OFF")

    def forget(self, block: int) -> None:
        self._connection.exec_driver_sql(f"DELETE FROM {JOURNAL} WHERE block <= ?", (block,))  # noqa: S608


def _reversal(kind: str, table: JournaledTable) -> str:
    """The values go from table to table: none has to be a value of Python's in between."""
    name, of_change = quoted(table.name), f"FROM {JOURNAL} WHERE seq = :seq"
    where = f"({listed(table.keys)}) = (SELECT {', '.join(_numbered('k', len(table.keys)))} {of_change})"
    columns, values = listed(table.columns), f"SELECT {', '.join(_numbered('c', len(table.columns)))} {of_change}"
    if kind == "insert":
        return f"DELETE FROM {name} WHERE {where}"  # noqa: S608
    if kind == "update":
        return f"UPDATE {name} SET ({columns}) = ({values}) WHERE {where}"  # noqa: S608
    return f"INSERT INTO {name} ({columns}) {values}"


def _trigger_name(table: str, kind: str) -> str:
    return quoted(f"{OWN_PREFIX}_{table}_{kind}")


def _trigger(table: JournaledTable, kind: str) -> str:
    columns, values = ["block", "kind", "relation"], ["block", f"'{kind}'", f"'{table.name}'"]
    if kind != "delete":
        columns += _numbered("k", len(table.keys))
        values += [f"NEW.{quoted(each)}" for each in table.keys]
    if kind != "insert":
        columns += _numbered("c", len(table.columns))
        values += [f"OLD.{quoted(each)}" for each in table.columns]
    return (
        f"CREATE TRIGGER {_trigger_name(table.name, kind)} AFTER {kind.upper()} ON {quoted(table.name)} BEGIN "  # noqa: S608
        f"SELECT RAISE(ABORT, '{written_alone(table.name)}') WHERE (SELECT block FROM {NOW}) IS NULL; "
        f"INSERT INTO {JOURNAL} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {NOW} WHERE keep; END"
    )
