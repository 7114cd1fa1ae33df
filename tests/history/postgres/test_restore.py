"""A backup of the database is restored, and the feed continues where that ended."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.history.postgres.test_feeder import Told, grow, told
from tests.history.postgres.test_verify import compared
from tests.postgres import SharedServer, sql
from tests.server_watch import SCRIPT


def test_a_restored_dump_is_fed_on(postgres: str, postgres_server: SharedServer, tmp_path: Path) -> None:
    programs = Path(subprocess.run([SCRIPT, "programs"], capture_output=True, text=True, check=True).stdout.strip())  # noqa: S603 - ours
    with told(postgres, tmp_path) as made:
        grow(made, 20)
        made.check()
        dump = subprocess.run([programs / "pg_dump", postgres], capture_output=True, check=True, timeout=60).stdout  # noqa: S603 - PostgreSQL's
        grow(made, 15)
        made.teller.undo(2)
        grow(made, 3)
        made.check()
        restored = postgres_server.database("template0")
        subprocess.run([programs / "psql", "-q", restored], input=dump, check=True, timeout=60, capture_output=True)  # noqa: S603 - PostgreSQL's
        assert sql(restored, "SELECT head FROM ledger.feed") == [(20,)]
        again = Told(made.teller, restored)
        again.check()
        assert list(compared(again).differences()) == []
        again.close()
    postgres_server.drop(restored)
