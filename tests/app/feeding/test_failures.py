"""What goes wrong says what and where, loses nothing, and applies nothing twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from sqlalchemy import Column, Integer

from ledgerd.app.declaring.application import Application
from ledgerd.app.declaring.steps import ChainStep
from ledgerd.app.errors import AlreadyRunning, DatabaseLost, DatabaseRefused, HandlerHangs, TablesChanged
from ledgerd.app.feeding import following
from ledgerd.app.feeding.settings import FeedSettings
from ledgerd.app.process import ApplicationPart
from ledgerd.app.tables.opening import open_tables
from ledgerd.app.tables.store import FollowedTables
from ledgerd.protocol.errors import OperatorError
from ledgerd.supervision.part import Supervisor
from ledgerd.supervision.tasks import first_of
from tests.app.forking_nodes import ForkingNode
from tests.postgres import SharedServer, postgres_server, sql
from tests.rpc.loopback import play
from tests.sdk.recorded_nodes import RecordedNode, serving_nodes
from tests.sdk.scripted_node import ScriptedNode

__all__ = ["postgres_server"]

Handle = Callable[[ChainStep], object]


def nothing(step: ChainStep) -> None:
    """A handler of an application that has no other."""


def counting(handle: Handle = nothing) -> Application:
    """An application with a row for each block."""
    application = Application("counting")
    blocks = application.table("blocks", Column("number", Integer, primary_key=True, autoincrement=False))

    @application.on_block
    def count(step: ChainStep) -> None:
        step.execute(step.insert(blocks).values(number=step.number))
        handle(step)

    return application


def numbers(database: Path) -> list[int]:
    with sqlite3.connect(database) as connection:
        return [number for (number,) in connection.execute("SELECT number FROM blocks ORDER BY number")]


def settings_of(url: str, database: Path | str, **more: Any) -> FeedSettings:
    quick = {"poll_seconds": 0.001, "first_pause": 0.001, "longest_pause": 0.001, "stop_seconds": 0.1}
    return FeedSettings(nodes=(url,), database=str(database), **(quick | more))


def run(application: Application, node: ScriptedNode, database: Path | str, **more: Any) -> ApplicationPart:
    """Feed it up to the end, or to what ends it."""

    async def scene() -> ApplicationPart:
        async with serving_nodes([node]) as urls:
            part, supervisor = ApplicationPart(application, settings_of(urls[0], database, **more), None), Supervisor()
            supervisor.add(part)
            await part.start()
            await first_of(part.done.wait(), supervisor.failed())
            await part.stop()
            if supervisor.failure is not None:
                raise supervisor.failure
            return part

    return play(scene)


@pytest.mark.parametrize("raised", [ZeroDivisionError("nothing to divide"), SystemExit("enough")])
def test_a_handler_that_raises_is_named_with_its_block_and_tried_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, raised: BaseException
) -> None:
    failures: list[int] = []

    def fail(step: ChainStep) -> None:
        if step.number == 30 and len(failures) < 3:
            failures.append(step.number)
            raise raised

    part = run(counting(fail), RecordedNode(), tmp_path / "a.sqlite", until=40)
    assert numbers(tmp_path / "a.sqlite") == list(range(1, 41))
    assert (part.progress.failures, part.progress.failing) == (3, "")
    said = [each.getMessage() for each in caplog.records if "handler" in each.getMessage()]
    assert len(said) == 1, "the same words are said once"
    words = f"{type(raised).__name__}: {raised}"
    assert f"count fails at block 30: {words} (test_failures.py, line" in said[0]


def test_a_handler_that_hangs_ends_the_program_and_the_next_start_goes_on(tmp_path: Path) -> None:
    freed = Event()

    def hang(step: ChainStep) -> None:
        if step.number == 30:
            freed.wait()

    with pytest.raises(HandlerHangs, match=r"count has run for 1 s at block 30, line \d+, and is given up"):
        run(counting(hang), RecordedNode(), tmp_path / "a.sqlite", until=40, handler_seconds=1.0, blocks_at_once=10)
    freed.set()
    assert numbers(tmp_path / "a.sqlite") in (list(range(1, 21)), list(range(1, 31)))


def test_a_second_process_on_the_same_database_is_told_that_there_is_one(tmp_path: Path) -> None:
    with (
        open_tables(counting(), str(tmp_path / "a.sqlite")),
        pytest.raises(AlreadyRunning, match="another process feeds"),
    ):
        run(counting(), RecordedNode(), tmp_path / "a.sqlite", until=40)


def test_rows_cannot_be_changed_from_outside(tmp_path: Path) -> None:
    run(counting(), RecordedNode(), tmp_path / "a.sqlite", until=40)
    for words in (
        "DELETE FROM blocks",
        "UPDATE blocks SET number = 99 WHERE number = 1",
        "INSERT INTO blocks VALUES (0)",
    ):
        with (
            sqlite3.connect(tmp_path / "a.sqlite") as connection,
            pytest.raises(sqlite3.IntegrityError, match="blocks is written by its ledgerd application alone"),
        ):
            connection.execute(words)
    assert numbers(tmp_path / "a.sqlite") == list(range(1, 41))


def test_a_table_that_is_changed_under_a_running_application_ends_it(tmp_path: Path) -> None:
    def change(step: ChainStep) -> None:
        if step.number == 20:
            changed.set()

    changed = Event()

    class ChangingNode(ForkingNode):
        def _step(self) -> None:
            if changed.is_set():
                changed.clear()
                with sqlite3.connect(tmp_path / "a.sqlite") as connection:
                    connection.execute("ALTER TABLE blocks ADD COLUMN more TEXT")
            super()._step()

    node = ChangingNode("open-2", 60, [(0, 1)] * 30, start=10)
    with pytest.raises(TablesChanged, match="table blocks of table blocks is another: something else than its app"):
        run(counting(change), node, tmp_path / "a.sqlite", until=60)
    assert numbers(tmp_path / "a.sqlite")[-1] < 60


def test_a_fork_below_what_is_kept_says_that_the_tables_have_to_be_made_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    run(counting(), ForkingNode("open-2", 40, (), start=40), tmp_path / "a.sqlite", until=40)
    other = ForkingNode("open-2", 60, (), start=0)
    other.forks = 1
    other._grow(60, shift=5)  # noqa: SLF001 - another chain from its first block on
    other.irreversible = 54

    async def scene() -> None:
        async with serving_nodes([other]) as urls:
            part = ApplicationPart(counting(), settings_of(urls[0], tmp_path / "a.sqlite"), None)
            await part.start()

            async def failed() -> None:
                while "ledgerd app rebuild" not in part.progress.failing:
                    await part.progress.moved()

            await failed()
            await part.stop()

    play(scene)
    assert numbers(tmp_path / "a.sqlite") == list(range(1, 41))
    said = next(text for each in caplog.records if "ledgerd app rebuild" in (text := each.getMessage()))
    assert said.startswith(
        "the nodes' chain has other blocks than the tables, from below what these can undo: dev_api."
    )
    assert "the chain has block 34 (" in said


def test_a_node_of_another_chain_is_refused(tmp_path: Path) -> None:
    run(counting(), RecordedNode(), tmp_path / "a.sqlite", until=40)
    foreign = RecordedNode()
    foreign.chain = "cd" * 32

    async def scene() -> str:
        async with serving_nodes([foreign]) as urls:
            part = ApplicationPart(counting(), settings_of(urls[0], tmp_path / "a.sqlite"), None)
            await part.start()
            while "is of the chain" not in part.progress.failing:
                await part.progress.moved()
            await part.stop()
            return part.progress.failing

    assert "is of the chain cdcdcdcd" in play(scene)


def test_a_connection_to_postgres_that_is_cut_is_made_again(postgres_server: SharedServer) -> None:
    address = postgres_server.database("template0")
    cuts: list[object] = []

    class CuttingNode(ForkingNode):
        def _step(self) -> None:
            if self.reports % 10 == 5:
                words = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ledgerd app'"
                cuts.extend(sql(address, f"{words} AND datname = current_database()"))
            super()._step()

    node = CuttingNode("open-2", 60, [(0, 1)] * 30, start=10)
    part = run(counting(), node, address, until=60)
    assert part.progress.failures >= len(cuts) >= 2
    assert sql(address, "SELECT number FROM blocks ORDER BY number") == [(number,) for number in range(1, 61)]
    postgres_server.drop(address)


def test_what_is_no_address_of_a_node_ends_the_program(tmp_path: Path) -> None:
    async def scene() -> None:
        part = ApplicationPart(counting(), settings_of("127.0.0.1:8090", tmp_path / "a.sqlite"), None)
        with pytest.raises(OperatorError, match=r"127\.0\.0\.1:8090 is no address of a node: http://localhost:8090 is"):
            await part.start()

    play(scene)


def test_a_database_that_another_program_has_locked_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.app.tables.databases.BUSY_SECONDS", 0)
    file = tmp_path / "a.sqlite"
    run(counting(), RecordedNode(), file, until=10)
    with closing(sqlite3.connect(file, isolation_level=None, check_same_thread=False)) as other:
        advance, opened, starts = FollowedTables.advance, open_tables, list[str]()

        def locked_at_first(tables: FollowedTables, *more: Any) -> None:
            if len(starts) == 1:
                other.execute("BEGIN IMMEDIATE")
            advance(tables, *more)

        def released_at_last(application: Application, address: str) -> AbstractContextManager[FollowedTables]:
            starts.append(address)
            if len(starts) == 4:
                other.execute("ROLLBACK")
            return opened(application, address)

        monkeypatch.setattr(FollowedTables, "advance", locked_at_first)
        monkeypatch.setattr(following, "open_tables", released_at_last)
        part = run(counting(), RecordedNode(), file, until=40)
        assert (len(starts), part.progress.failures, part.progress.failing) == (4, 3, "")
        assert numbers(file) == list(range(1, 41))

        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseRefused, match="the database: database is locked"):
            run(counting(), RecordedNode(), file, until=40)


def test_a_database_that_is_locked_before_the_first_block_is_waited_for_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.app.tables.databases.BUSY_SECONDS", 0)
    file = tmp_path / "a.sqlite"
    with open_tables(counting(), str(file)) as tables, closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(DatabaseLost, match="the database: database is locked"):
            tables.keep_chain("ab" * 32)
        other.execute("ROLLBACK")
        tables.keep_chain("ab" * 32)
        assert tables.chain == "ab" * 32


def test_an_application_that_is_at_the_head_is_ready_before_the_next_block(tmp_path: Path) -> None:
    run(counting(), RecordedNode(), tmp_path / "a.sqlite", until=40)

    async def scene() -> None:
        async with serving_nodes([ForkingNode("open-2", 40, ())]) as urls:
            part = ApplicationPart(counting(), settings_of(urls[0], tmp_path / "a.sqlite"), None)
            await part.start()
            assert part.progress.failing == "the first block is awaited"
            await part.progress.moved()
            assert (part.progress.failing, part.progress.blocks, part.progress.behind) == ("", 0, 0)
            await part.stop()

    play(scene)
