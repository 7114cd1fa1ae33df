"""The disk of the server: told when little is left, and not guessed where it cannot be known."""

from __future__ import annotations

from ledgerd.history.postgres.connection import connect
from ledgerd.history.postgres.running import GIBIBYTE, LITTLE, ServerDisk, disk_of
from tests.postgres import sql


def test_a_server_of_this_machine_tells_its_disk(postgres: str) -> None:
    with connect(postgres, 5, "test") as connection:
        found = disk_of(connection)
    assert found.used > 1_000_000
    assert found.free is not None
    assert found.free > 0


def test_who_may_not_know_the_folder_is_told_the_size_alone(postgres: str) -> None:
    sql(postgres, "DROP ROLE IF EXISTS plain", "CREATE ROLE plain LOGIN")
    with connect(postgres.replace("ledgerd@", "plain@"), 5, "test") as connection:
        found = disk_of(connection)
    assert found.used > 1_000_000
    assert found.free is None
    assert found.warning == ""


def test_little_space_is_a_warning() -> None:
    assert ServerDisk(GIBIBYTE, LITTLE).warning == ""
    assert ServerDisk(3 * GIBIBYTE, GIBIBYTE // 2).warning == (
        "0.50 GiB are free on the disk of PostgreSQL, whose history takes 3.00 GiB"
    )
