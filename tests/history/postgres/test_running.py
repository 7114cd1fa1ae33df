"""A feed goes on whatever PostgreSQL does: the reason is told, and nothing is missing or there twice afterwards."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.postgres.running import EndlessFeed
from ledgerd.history.postgres.status import FeedStatus
from ledgerd.history.settings import HistorySettings
from tests.history.model import assert_same
from tests.history.postgres.feeding import CHAIN, fed_view, source_of
from tests.history.test_against_model import Teller
from tests.postgres import SharedServer, sql

Action = Callable[[], object]


class Script:
    """Each time that the feed waits, the next thing happens; after the last one it is over."""

    def __init__(self, *actions: Action) -> None:
        self.actions = list(actions)
        self.waited: list[float] = []

    def wait(self, seconds: float) -> bool:
        if not seconds:
            return False
        self.waited.append(seconds)
        if self.actions:
            self.actions.pop(0)()
            return False
        return True


class Node:
    """A node whose history grows, and what the feed tells of itself."""

    def __init__(self, teller: Teller, address: str) -> None:
        self.teller = teller
        self.address = address
        self.news: list[FeedStatus] = []

    def grow(self, count: int = 3) -> None:
        for number in range(count):
            self.teller.block([[number]])
            self.teller.advance(4)
        self.teller.commit()

    def feed(self, *actions: Action) -> Script:
        source = source_of(self.teller.store, self.teller.folder, self.teller.log.read)
        script = Script(*actions)
        EndlessFeed(self.address, source, HistorySettings(), CHAIN, self.news.append).run(script)
        return script

    @property
    def reasons(self) -> list[str]:
        return list(dict.fromkeys(each.reason for each in self.news if each.reason))

    def check(self) -> None:
        with fed_view(self.address) as view:
            assert_same(view, self.teller.model, len(self.teller.trunk))


@pytest.fixture
def node(postgres: str, tmp_path: Path) -> Iterator[Node]:
    with Teller(tmp_path, HistorySettings()) as teller:
        made = Node(teller, postgres)
        made.grow(10)
        yield made


def test_blocks_are_fed_as_they_come(node: Node) -> None:
    node.feed(node.grow, lambda: node.teller.undo(2), node.grow, node.grow)
    node.check()
    assert node.reasons == []


def test_a_database_that_comes_later_is_waited_for(
    node: Node, postgres_server: SharedServer, caplog: pytest.LogCaptureFixture
) -> None:
    node.address = node.address.replace("/test_", "/later_")
    name = node.address.partition("@/")[2].partition("?")[0]
    create: Action = lambda: sql(  # noqa: E731 - one of several things that happen
        node.address.replace(name, "postgres"), f"CREATE DATABASE {name}"
    )
    with caplog.at_level(logging.INFO, "ledgerd"):
        script = node.feed(node.grow, node.grow, create, node.grow)
    node.check()
    (reason,) = node.reasons
    assert f'database "{name}" does not exist' in reason
    assert script.waited[:3] == [0.5, 1.0, 2.0]
    assert caplog.text.count("nothing is fed to PostgreSQL") == 1
    assert "the history is fed to PostgreSQL" in caplog.text
    postgres_server.drop(node.address)


def test_a_connection_that_is_cut_is_made_again(node: Node) -> None:
    cut = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE application_name = 'ledgerd feed' AND datname = current_database()"
    )
    script = node.feed(lambda: sql(node.address, cut), node.grow, node.grow)
    node.check()
    assert len(node.reasons) == 1
    assert "terminating connection" in node.reasons[0] or "closed" in node.reasons[0]
    assert 0.5 in script.waited


def test_a_full_disk_stops_the_feed_until_there_is_space(node: Node) -> None:
    full = (
        (
            "CREATE FUNCTION ledger.full() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN RAISE 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END$$"
        ),
        "CREATE TRIGGER no_space BEFORE INSERT ON ledger.blocks_reversible FOR EACH ROW EXECUTE FUNCTION ledger.full()",
    )
    node.feed(
        lambda: sql(node.address, *full),
        node.grow,
        node.grow,
        lambda: sql(node.address, "DROP FUNCTION ledger.full() CASCADE"),
        node.grow,
    )
    node.check()
    assert node.reasons == ["PostgreSQL: could not extend file: No space left on device"]


def test_a_schema_of_the_future_is_left_alone_until_it_is_gone(node: Node) -> None:
    future = "INSERT INTO ledger._yoyo_migration (migration_hash, migration_id) VALUES ('x', '9999.future')"
    sql(node.address, future)
    forget: Action = lambda: sql(  # noqa: E731 - one of several things that happen
        node.address, "DELETE FROM ledger._yoyo_migration WHERE migration_id = '9999.future'"
    )
    node.feed(node.grow, forget, node.grow)
    node.check()
    assert node.reasons == ["the schema in PostgreSQL is of a later version of this program, which has 9999.future"]


def test_a_history_that_is_not_there_yet_is_waited_for(node: Node) -> None:
    source = source_of(node.teller.store, node.teller.folder, node.teller.log.read)
    missing = [HistoryDamaged("no folder")] * 2

    def sometimes() -> object:
        if missing:
            raise missing.pop()
        return source()

    script = Script(node.grow, node.grow)
    EndlessFeed(node.address, sometimes, HistorySettings(), CHAIN, node.news.append).run(script)  # type: ignore[arg-type]
    node.check()
    assert node.reasons == ["no folder"]


def test_little_space_is_told_while_it_works(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.history.postgres.running.LITTLE", 1 << 60)
    node.feed(node.grow)
    assert "are free on the disk of PostgreSQL" in node.news[-1].warning
