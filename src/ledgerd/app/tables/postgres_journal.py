"""The journal in PostgreSQL. Rows are kept as the text of their whole, which reads back as exactly the same row."""

from __future__ import annotations

from sqlalchemy import text

from ledgerd.app.declaring.application import OWN_PREFIX
from ledgerd.app.tables.journal import JOURNAL, UndoJournal, listed, quoted, written_alone

FUNCTION = f"{OWN_PREFIX}_keep"

_MAKE = f"""
CREATE FUNCTION {FUNCTION}() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    at text := current_setting('ledgerd.block', true);
BEGIN
    IF at IS NULL OR at = '' THEN
        RAISE EXCEPTION '{written_alone("%")}', TG_TABLE_NAME;
    END IF;
    IF TG_OP = 'TRUNCATE' THEN
        RAISE EXCEPTION 'TRUNCATE of table % could not be undone: DELETE its rows', TG_TABLE_NAME;
    END IF;
    IF current_setting('ledgerd.keep', true) = '1' THEN
        INSERT INTO {JOURNAL} (block, kind, relation, before, after) VALUES (
            at::bigint, lower(TG_OP), TG_TABLE_NAME,
            CASE WHEN TG_OP <> 'INSERT' THEN OLD::text END,
            CASE WHEN TG_OP <> 'DELETE' THEN NEW::text END);
    END IF;
    RETURN NULL;
END $$
"""  # noqa: S608 - names of ours


class PostgresJournal(UndoJournal):
    """One function is the trigger of all tables."""

    def make(self) -> None:
        run = self._connection.exec_driver_sql
        run(
            f"CREATE TABLE {JOURNAL} (seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, block bigint NOT NULL, "
            "kind text NOT NULL, relation text NOT NULL, before text, after text)"
        )
        run(f"CREATE INDEX {JOURNAL}_block ON {JOURNAL} (block)")
        run(_MAKE.replace("%", "%%"))
        for table in self._tables:
            name, trigger = quoted(table), f"{OWN_PREFIX}_keep"
            run(
                f"CREATE TRIGGER {trigger} AFTER INSERT OR UPDATE OR DELETE ON {name} "
                f"FOR EACH ROW EXECUTE FUNCTION {FUNCTION}()"
            )
            run(f"CREATE TRIGGER {trigger}_all BEFORE TRUNCATE ON {name} EXECUTE FUNCTION {FUNCTION}()")

    def remove(self) -> None:
        run = self._connection.exec_driver_sql
        run(f"DROP FUNCTION IF EXISTS {FUNCTION}() CASCADE")
        run(f"DROP TABLE IF EXISTS {JOURNAL}")

    def begin(self, block: int, *, keep: bool) -> None:
        """Numbers go on after the highest row: sequences stay where they were when a block is undone or cut short."""
        self._set(str(block), str(int(keep)))
        for table in self._tables.values():
            if table.numbered:
                column = quoted(table.numbered)
                self._connection.execute(
                    text(
                        "SELECT setval(pg_get_serial_sequence(:table, :column), "  # noqa: S608
                        f"(SELECT coalesce(max({column}), 0) + 1 FROM {quoted(table.name)}), false)"
                    ),
                    {"table": quoted(table.name), "column": table.numbered},
                )

    def end(self) -> None:
        self._set("", "0")

    def _set(self, block: str, keep: str) -> None:
        self._connection.execute(
            text("SELECT set_config('ledgerd.block', :block, true), set_config('ledgerd.keep', :keep, true)"),
            {"block": block, "keep": keep},
        )

    def undo(self, block: int) -> None:
        self._set(str(block), "0")
        run = self._connection.execute
        run(text("SET CONSTRAINTS ALL DEFERRED"))
        asked = text(f"SELECT kind, relation, before, after FROM {JOURNAL} WHERE block = :block ORDER BY seq DESC")  # noqa: S608
        for row in run(asked, {"block": block}).mappings().all():
            done = run(text(self._reversal(row["kind"], row["relation"])), dict(row))
            self._require_one(done.rowcount, row["relation"], block)
        run(text(f"DELETE FROM {JOURNAL} WHERE block = :block"), {"block": block})  # noqa: S608
        run(text("SET CONSTRAINTS ALL IMMEDIATE"))

    def _reversal(self, kind: str, relation: str) -> str:
        table = self._tables[relation]
        name = quoted(relation)
        old = f"(SELECT (CAST(:before AS {name})).*) AS old"
        new = f"(SELECT (CAST(:after AS {name})).*) AS new"
        where = " AND ".join(f"here.{quoted(each)} = new.{quoted(each)}" for each in table.keys)
        if kind == "insert":
            return f"DELETE FROM {name} AS here USING {new} WHERE {where}"  # noqa: S608
        if kind == "update":
            assigned = ", ".join(f"{quoted(each)} = old.{quoted(each)}" for each in table.columns)
            return f"UPDATE {name} AS here SET {assigned} FROM {old}, {new} WHERE {where}"  # noqa: S608
        return f"INSERT INTO {name} ({listed(table.columns)}) SELECT {listed(table.columns, 'old.')} FROM {old}"  # noqa: S608

    def forget(self, block: int) -> None:
        self._connection.execute(text(f"DELETE FROM {JOURNAL} WHERE block <= :block"), {"block": block})  # noqa: S608
