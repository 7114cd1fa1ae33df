"""What callers of an application may cost: threads, memory, lines of the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path
from typing import cast

import pytest

from ledgerd.app.feeding.threads import JobThread
from ledgerd.app.serving import server
from ledgerd.app.serving.calling import CallError
from ledgerd.app.serving.turns import AT_ONCE_OF_ONE, MOST_OF_ONE, MOST_WAITING, CallTurns
from ledgerd.supervision.tasks import Tasks
from tests.app.serving.test_server import asking
from tests.rpc.loopback import play

ATTACKER, HONEST = "62.7.7.7", "62.8.8.8"
THREADS = 4


class HeldThread:
    """A thread whose calls end when they are told to."""

    def __init__(self) -> None:
        self.made = 0
        self.may_end = asyncio.Event()

    async def run(self, call: Callable[[], bytes]) -> bytes:
        self.made += 1
        await self.may_end.wait()
        return call()


def fail(problem: BaseException) -> None:
    raise AssertionError from problem


class Turns:
    """Threads that are held, and calls of many."""

    def __init__(self) -> None:
        self.tasks = Tasks(fail)
        self.threads = [HeldThread() for _ in range(THREADS)]
        self.turns = CallTurns(cast("list[JobThread]", self.threads), self.tasks)

    @property
    def made(self) -> int:
        return sum(each.made for each in self.threads)

    async def begin(self, share: str, count: int) -> list[asyncio.Task[bytes]]:
        calls = [self.tasks.begin(self.turns.run(share, lambda: b"1")) for _ in range(count)]
        for _ in range(5):
            await asyncio.sleep(0)
        return calls

    async def end(self) -> None:
        for each in self.threads:
            each.may_end.set()
        await self.tasks.ended()


def test_calls_of_one_address_leave_threads_for_others() -> None:
    async def scene() -> None:
        turns = Turns()
        await turns.begin(ATTACKER, MOST_OF_ONE)
        assert turns.made == AT_ONCE_OF_ONE
        await turns.begin(HONEST, 1)
        assert turns.made == AT_ONCE_OF_ONE + 1
        await turns.end()
        assert turns.made == MOST_OF_ONE + 1

    play(scene)


def test_of_one_address_so_many_calls_wait_and_all_have_so_many_places() -> None:
    async def scene() -> None:
        turns = Turns()
        await turns.begin(ATTACKER, MOST_OF_ONE)
        with pytest.raises(CallError, match="too many calls"):
            await turns.turns.run(ATTACKER, lambda: b"1")
        for number in range(MOST_WAITING - MOST_OF_ONE):
            await turns.begin(f"62.9.9.{number}", 1)
        with pytest.raises(CallError, match="too many calls"):
            await turns.turns.run(HONEST, lambda: b"1")
        await turns.end()
        assert await turns.turns.run(HONEST, lambda: b"1") == b"1"

    play(scene)


def test_whoever_leaves_while_a_call_waits_takes_it_along() -> None:
    async def scene() -> None:
        turns = Turns()
        for call in await turns.begin(ATTACKER, MOST_OF_ONE):
            call.cancel()
        await turns.end()
        assert turns.made == AT_ONCE_OF_ONE
        (again,) = await turns.begin(ATTACKER, 1)
        assert await again == b"1"

    play(scene)


def test_the_answers_of_a_batch_are_made_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "LARGEST_ANSWER", 200)

    async def scene() -> None:
        async with asking(tmp_path) as asked:
            answers = await asked.call([{"id": number, "method": "newest"} for number in range(20)])

            assert [each["id"] for each in answers] == list(range(20))
            made = ["result" in each for each in answers]
            assert made == sorted(made, reverse=True)
            assert 1 < sum(made) < 4
            assert answers[-1]["error"]["message"] == server.TOO_LARGE

    play(scene)


def test_batches_that_are_made_count_among_the_answers_that_wait(tmp_path: Path) -> None:
    async def scene() -> None:
        async with asking(tmp_path) as asked:
            serving = asked.part._server  # noqa: SLF001 - what its clients do not take is not shown otherwise
            assert serving is not None
            batch = [{"id": number, "method": "newest"} for number in range(2)]
            full = serving.limits.held_answer_bytes
            serving.unsent_answers.change(ATTACKER, full)
            first, second = await asked.call(batch)
            assert ("result" in first, second["error"]["message"]) == (True, server.TOO_LARGE)
            assert serving.unsent_answers.total == full
            serving.unsent_answers.change(ATTACKER, -full)
            assert all("result" in each for each in await asked.call(batch))
            assert serving.unsent_answers.total == 0

    play(scene)


def test_a_wrong_call_is_no_fault_of_the_server_and_leaves_no_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene() -> None:
        async with asking(tmp_path) as asked:
            before = len(caplog.records)
            for method, params in (("nothing", ()), ("newest", ("x",)), ("write", ())):
                assert (await asked.result(method, params))["code"] < 0
            assert caplog.records[before:] == []

    with caplog.at_level(logging.DEBUG, "ledgerd"):
        play(scene)
