"""Workers that end and cannot be started again at once: by descriptors, by memory, for good. Real processes and limits.

The pauses are those of the node at twenty times its pace.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import Workers
from ledgerd.supervision.part import Part, Supervisor
from ledgerd.supervision.work import Ending, PartFailed, Work
from tests.house.source_tree import ROOT
from tests.rpc.loopback import Client, Server, clients_of, play
from tests.rpc.sample_api import Little
from tests.rpc.test_workers import ANY, LIMITS, PROCESS, client_of, worker_of
from tests.supervision.limits import no_descriptor_left

PACE = 20


@pytest.fixture(autouse=True)
def _at_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers find the modules of the tests from where they start."""
    monkeypatch.chdir(ROOT)


async def quick(seconds: float) -> None:
    await asyncio.sleep(seconds / PACE)


class Web(Part):
    """API workers as a part."""

    def __init__(self, settings: Little | None, count: int) -> None:
        clock = lambda: time.monotonic() * PACE  # noqa: E731 - it stands once
        super().__init__(Work("webserver", Ending.COMES_BACK, is_needed=True, clock=clock, sleep=quick))
        parts = "tests.rpc.sample_api:parts"
        self.workers = Workers(Switchboard({}), [ANY], parts, settings, count=count, limits=LIMITS, work=self.work)

    async def start(self) -> None:
        await self.workers.start()

    async def stop(self) -> None:
        await self.workers.stop()


@asynccontextmanager
async def working(
    settings: Little | None = None, silent_seconds: float = 20.0
) -> AsyncIterator[tuple[Workers, Server, Supervisor]]:
    supervisor, web = Supervisor(), Web(settings, 2)
    supervisor.add(web)
    web.workers.silent_seconds = silent_seconds
    await web.start()
    try:
        async with clients_of(web.workers.addresses[0][1]) as server:
            yield web.workers, server, supervisor
    finally:
        await web.stop()


@contextmanager
def little_memory(file: Path) -> Iterator[None]:
    """Every worker that is started meanwhile has too little memory."""
    file.touch()
    try:
        yield
    finally:
        file.unlink()


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


async def answered_until(client: Client, worker: int, caplog: pytest.LogCaptureFixture, words: str) -> None:
    """Every request of this client is answered by its worker, until the log has a line with these words."""
    while not any(words in line for line in lines(caplog)):
        assert int(json.loads(await client.ask(PROCESS))["result"]) == worker


@pytest.mark.parametrize("limit", ["descriptors", "memory"])
def test_a_worker_whose_restart_fails_comes_back_and_the_other_one_answers_throughout(
    limit: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "little"
    reason = "Too many open files" if limit == "descriptors" else "exit code 1"

    async def scene() -> None:
        async with working(Little(str(file))) as (running, server, supervisor):
            victim, other = running.processes
            bystander = await client_of(server, other)
            with no_descriptor_left() if limit == "descriptors" else little_memory(file):
                os.kill(victim, signal.SIGKILL)
                await answered_until(bystander, other, caplog, "next start in 4 s")
                assert supervisor.health.down == {"webserver": f"API worker 0: {reason}"}
                assert running.processes == [other]
            while len(running.processes) < 2 or supervisor.health.down:
                assert await worker_of(bystander) == other
            newcomers = [await server.connect() for _ in range(16)]
            answers = set(await asyncio.gather(*(worker_of(each) for each in newcomers)))
            assert answers == set(running.processes)
            assert victim not in answers
            assert supervisor.failure is None

    play(scene)

    assert lines(caplog)[:3] == [
        "webserver: API worker 0 ended (exit code -9), next start in 1 s",
        f"webserver: API worker 0 failed to start ({reason}), next start in 2 s",
        f"webserver: API worker 0 failed to start ({reason}), next start in 4 s",
    ]


def test_a_worker_that_fails_to_start_ten_times_ends_the_node(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> BaseException:
        async with working() as (running, _, supervisor):
            with no_descriptor_left():
                os.kill(running.processes[0], signal.SIGKILL)
                return await supervisor.failed()

    reason = play(scene)

    assert isinstance(reason, PartFailed)
    assert str(reason) == "webserver: API worker 0 failed to start 10 times in 10 minutes: Too many open files"
    assert len(lines(caplog)) == 10


def test_a_worker_that_hangs_is_down_until_another_has_taken_its_place(caplog: pytest.LogCaptureFixture) -> None:
    async def scene() -> None:
        async with working(silent_seconds=5.0) as (running, _, supervisor):
            hanging = running.processes[0]
            down = asyncio.Event()
            supervisor.health.on_change.append(lambda _: down.set())
            os.kill(hanging, signal.SIGSTOP)
            await down.wait()
            down.clear()
            await down.wait()
            assert supervisor.health.down == {}
            assert hanging not in running.processes

    play(scene)

    assert lines(caplog) == ["webserver: API worker 0 ended (it hangs and is killed), next start in 1 s"]
