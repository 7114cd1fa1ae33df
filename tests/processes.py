"""A run of the tests in several processes (`--processes`), all of them copies of one that has collected the tests.

To collect them takes a process longer than most files of tests do, and pytest-xdist has each of its processes do it.
Here one does, whose copies then ask for a file, or a folder, after the other, and send the reports back.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection, Pipe, wait
from multiprocessing.context import ForkProcess
from typing import Any, NoReturn

import pytest

TOGETHER = ("tests/house/", "tests/packaging/")
"""Folders whose files share what takes long to make: all sources parsed, and the programs that were built."""

FORK = get_context("fork")


def unit_of(test: str) -> str:
    """What a test, by its id, is run with in one process: its file or its folder."""
    file = test.partition("::")[0]
    return next((folder for folder in TOGETHER if file.startswith(folder)), file)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--processes", type=int, default=1, help="how many processes share the tests")


def pytest_configure(config: pytest.Config) -> None:
    if (count := config.getoption("processes")) > 1:
        config.pluginmanager.register(SeveralProcesses(count))


class SeveralProcesses:
    """The plugin of the process that has collected the tests and shows what became of them."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._units: deque[range] = deque()
        self._begun: dict[Connection, range] = {}
        """What each process runs: the places of its tests, from the one that has not ended on."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None
        folders: pytest.TempPathFactory = vars(session.config)["_tmp_path_factory"]
        folders.getbasetemp()  # made now: one for all copies
        self._units.extend(_units(session.items))
        processes = [self._begin(session) for _ in range(min(self._count, len(self._units)))]
        try:
            while self._begun:
                for connection in wait(list(self._begun)):
                    assert isinstance(connection, Connection)
                    self._receive(session, connection)
        except BaseException:
            for each in processes:
                each.terminate()
            raise
        if self._units and not _is_to_stop(session):
            self._fail(session, f"all processes have ended, and {len(self._units)} files are left")
        for each in processes:
            each.join()
        if any(each.exitcode for each in processes):
            self._fail(session, "a process has failed after its last test, as its errors say")
        return True

    @staticmethod
    def _fail(session: pytest.Session, why: str) -> NoReturn:
        session.shouldfail = why
        raise session.Failed(why)

    def _begin(self, session: pytest.Session) -> ForkProcess:
        ours, theirs = Pipe()
        process = FORK.Process(target=_run, args=(session, theirs, [*self._begun, ours]))
        process.start()
        theirs.close()
        self._begun[ours] = range(0)
        return process

    def _receive(self, session: pytest.Session, connection: Connection) -> None:
        """One message of a process: it wants the next unit, has ended a test, or there is a report to show."""
        try:
            kind, content = connection.recv()
        except EOFError:
            self._lose(session, connection)
            return
        if kind == "next":
            is_left = self._units and not _is_to_stop(session)
            self._begun[connection] = self._units.popleft() if is_left else range(0)
            connection.send(self._begun[connection])
        elif kind == "ended":
            self._begun[connection] = self._begun[connection][1:]
        else:
            hook = session.config.hook
            report = hook.pytest_report_from_serializable(config=session.config, data=content)
            hook.pytest_runtest_logreport(report=report)

    def _lose(self, session: pytest.Session, connection: Connection) -> None:
        """A process has ended: without a unit, or in the middle of one, whose tests have failed then."""
        for place in self._begun.pop(connection):
            item = session.items[place]
            why = "the process that ran this test, or one before it in its file, has ended"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
            session.config.hook.pytest_runtest_logreport(report=report)
        connection.close()


def _is_to_stop(session: pytest.Session) -> bool:
    return bool(session.shouldstop or session.shouldfail)


def _units(items: Sequence[pytest.Item]) -> Iterator[range]:
    """The places of tests that go to one process together."""
    for _, places in groupby(range(len(items)), lambda place: unit_of(items[place].nodeid)):
        first, *others = places
        yield range(first, first + len(others) + 1)


# -- in the processes that run the tests


class _AnyOther(pytest.Item):
    """The test after the last one of a unit, which is not known yet: what is for the whole run stays made."""

    def runtest(self) -> None:
        raise NotImplementedError


class _Reports:
    """The plugin that sends on what otherwise would be shown."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        content = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", content))


def _run(session: pytest.Session, connection: Connection, of_others: Sequence[Connection]) -> None:
    """Run units of tests until there is none."""
    for each in of_others:
        each.close()
    random.seed()
    plugins = session.config.pluginmanager
    plugins.unregister(name="terminalreporter")
    _capture_anew(session.config)
    plugins.register(_Reports(session.config, connection))
    other = _AnyOther.from_parent(session, name="any other")
    while unit := _next_unit(connection):
        for place in unit:
            item = session.items[place]
            following = session.items[place + 1] if place + 1 in unit else other
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            connection.send(("ended", None))
    _plugin(session.config, "runner").pytest_sessionfinish(session)  # fixtures of the whole run


def _next_unit(connection: Connection) -> range:
    connection.send(("next", None))
    unit: range = connection.recv()
    return unit


def _capture_anew(config: pytest.Config) -> None:
    """What tests print goes to files, and copies would write to the same."""
    capturing = _plugin(config, "capturemanager")
    capturing.stop_global_capturing()
    capturing.start_global_capturing()
    capturing.suspend_global_capture()


def _plugin(config: pytest.Config, name: str) -> Any:
    """A plugin of pytest itself."""
    return config.pluginmanager.get_plugin(name)
