"""The schema: made, brought up to date, taken back; and databases that are not ours to change."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ledgerd.history.postgres import migrations
from ledgerd.history.postgres.connection import connect
from ledgerd.history.postgres.migrations import (
    applied_versions,
    known_versions,
    migrate,
    opened_alone,
    require_schema,
    roll_back,
)
from ledgerd.history.postgres.status import PostgresRefused, PostgresUnavailable
from tests.history.postgres.test_feeder import Told, grow, told
from tests.history.postgres.test_verify import compared
from tests.postgres import sql

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'ledger' AND tablename NOT LIKE '%yoyo%'"

KEYS = (
    "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'ledger'::regnamespace AND contype = 'p' ORDER BY 1, 2"
)


def versions_of(address: str) -> list[str]:
    with connect(address, 5, "test") as connection:
        return applied_versions(connection)


def brought_up(address: str) -> list[str]:
    with opened_alone(address, 60, "test") as connection:
        return migrate(address, connection)


def test_an_empty_database_gets_every_version_once(bare_postgres: str) -> None:
    assert versions_of(bare_postgres) == []
    assert brought_up(bare_postgres) == known_versions()
    assert versions_of(bare_postgres) == known_versions()
    assert brought_up(bare_postgres) == []


def test_every_version_can_be_taken_back_and_applied_again(postgres: str) -> None:
    made = sorted(sql(postgres, TABLES))
    assert len(made) > 10
    roll_back(postgres, known_versions()[0])
    assert sql(postgres, TABLES) == []
    assert versions_of(postgres) == []
    assert brought_up(postgres) == known_versions()
    assert sorted(sql(postgres, TABLES)) == made


def test_an_older_schema_is_brought_up_to_date(postgres: str) -> None:
    roll_back(postgres, known_versions()[-1])
    with connect(postgres, 5, "test") as connection, pytest.raises(PostgresUnavailable, match="lacks version"):
        require_schema(connection)
    assert brought_up(postgres) == known_versions()[-1:]


def test_a_filled_database_has_all_keys_after_an_upgrade(postgres: str, tmp_path: Path) -> None:
    """The keys of a new database are made after the first load, which this one has behind it."""
    with told(postgres, tmp_path) as made:
        grow(made, 12)
        made.check()
        made.close()
        keys = sql(postgres, KEYS)
        roll_back(postgres, "0003.balances")
        assert sql(postgres, KEYS) != keys
        assert brought_up(postgres) == known_versions()[2:]
        assert sql(postgres, KEYS) == keys
        again = Told(made.teller, postgres)
        grow(again, 3)
        again.check()
        assert list(compared(again).differences()) == []
        again.close()


def test_a_schema_of_the_future_is_not_touched(postgres: str) -> None:
    sql(
        postgres,
        "INSERT INTO ledger._yoyo_migration (migration_hash, migration_id, applied_at_utc) "
        "VALUES ('x', '9999.future', now())",
    )
    with pytest.raises(PostgresRefused, match=r"later version of this program, which has 9999\.future"):
        brought_up(postgres)
    with connect(postgres, 5, "test") as connection, pytest.raises(PostgresRefused, match="later version"):
        require_schema(connection)


def test_what_a_killed_migration_left_locked_is_not_in_the_way(postgres: str) -> None:
    roll_back(postgres, known_versions()[-1])
    sql(postgres, "INSERT INTO ledger.yoyo_lock (locked, ctime, pid) VALUES (1, now(), 1)")
    assert brought_up(postgres) == known_versions()[-1:]


def test_whoever_ends_is_waited_for(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server notices only after a moment that the process of a connection was killed."""
    monkeypatch.setattr(migrations, "LOCK_MILLISECONDS", 60_000)
    waiting = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = %s"
    with connect(postgres, 5, "test") as watcher, ThreadPoolExecutor(1) as thread:
        [(database,)] = watcher.execute("SELECT oid FROM pg_database WHERE datname = current_database()").fetchall()
        with opened_alone(postgres, 5, "test"):
            brought = thread.submit(brought_up, postgres)
            while watcher.execute(waiting, (database,)).fetchone() == (0,):
                assert not brought.done()
        assert brought.result() == []


def test_a_user_who_may_not_make_tables_is_told_so(bare_postgres: str) -> None:
    sql(bare_postgres, "DROP ROLE IF EXISTS nobody_special", "CREATE ROLE nobody_special LOGIN")
    with pytest.raises(PostgresUnavailable, match="permission denied"):
        brought_up(bare_postgres.replace("ledgerd@", "nobody_special@"))
