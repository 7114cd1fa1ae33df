"""The tasks, threads and processes of a part, and their restarts, on a clock that the tests move."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from ledgerd.supervision.line_rates import LineRate
from ledgerd.supervision.part import Part, Supervisor
from ledgerd.supervision.work import LINE_SECONDS, MOST_FAILURES, MOST_LINES, Ended, Ending, PartFailed, Work, Working
from tests.patience import PATIENCE
from tests.supervision.clocks import Clock


class Station(Part):
    """A part whose work a test decides over."""

    def __init__(self, ending: Ending, clock: Clock, *, is_needed: bool = True) -> None:
        work = Work("station", ending, is_needed=is_needed, restarted=("reports",), clock=clock, sleep=clock.sleep)
        super().__init__(work)

    async def start(self) -> None:
        """Nothing by itself."""

    async def stop(self) -> None:
        await self.work.stop()


Scene = Callable[[Station, Supervisor, Clock], Awaitable[None]]


def play(scene: Scene, ending: Ending = Ending.COMES_BACK, *, is_needed: bool = True) -> None:
    async def body() -> None:
        clock, supervisor = Clock(), Supervisor()
        station = Station(ending, clock, is_needed=is_needed)
        supervisor.add(station)
        async with asyncio.timeout(PATIENCE):
            await scene(station, supervisor, clock)
            await station.stop()

    asyncio.run(body())


@pytest.mark.parametrize("reason", [OSError(24, "Too many open files"), None])
def test_what_comes_back_is_started_again_with_growing_pauses_and_a_line_each(
    reason: OSError | None, caplog: pytest.LogCaptureFixture
) -> None:
    async def scene(station: Station, supervisor: Supervisor, clock: Clock) -> None:
        done = asyncio.Event()

        async def life(working: Working) -> None:
            working()
            if len(clock.slept) == 4:
                done.set()
                await asyncio.Event().wait()
            if reason is not None:
                raise reason

        station.work.keep("reporter", life)
        await done.wait()
        assert clock.slept == [1, 2, 4, 8]
        assert supervisor.failure is None

    play(scene)
    words = "Too many open files" if reason else "it has ended"
    lines = [f"station: reporter ended ({words}), next start in {pause} s" for pause in (1, 2, 4, 8)]
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == lines


def test_what_ends_while_the_program_stops_is_no_news(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(station: Station, supervisor: Supervisor, clock: Clock) -> None:
        asked_to_stop, slept = asyncio.Event(), asyncio.Event()

        async def life(working: Working) -> None:
            working()
            if clock.slept:
                slept.set()
            await asked_to_stop.wait()

        station.work.keep("reporter", life)
        await asyncio.sleep(0)
        supervisor.expect_ends()
        asked_to_stop.set()
        await slept.wait()

    play(scene)
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_ten_failed_starts_end_the_program_with_the_reason() -> None:
    async def scene(station: Station, supervisor: Supervisor, clock: Clock) -> None:
        starts: list[float] = []

        async def life(_: Working) -> None:
            starts.append(clock.now)
            raise OSError(24, "Too many open files")

        station.work.keep("reporter", life)
        failure = await supervisor.failed()
        assert isinstance(failure, PartFailed)
        assert str(failure) == "station: reporter failed to start 10 times in 10 minutes: Too many open files"
        assert isinstance(failure.__cause__, OSError)
        assert len(starts) == MOST_FAILURES
        assert starts[-1] <= 600

    play(scene)


@pytest.mark.parametrize("reason", [ZeroDivisionError("a bug"), None])
def test_what_the_program_cannot_go_on_without_ends_it_at_once(reason: Exception | None) -> None:
    async def scene(station: Station, supervisor: Supervisor, clock: Clock) -> None:
        async def life(_: Working) -> None:
            if reason is not None:
                raise reason

        station.work.keep("production", life)
        failure = await supervisor.failed()
        if reason is None:
            assert str(failure) == "station: production has ended"
        else:
            assert failure is reason
        assert clock.slept == []

    play(scene, Ending.ENDS_PROGRAM)


def test_a_task_of_a_part_that_ends_the_program_may_come_back_itself() -> None:
    async def scene(station: Station, supervisor: Supervisor, clock: Clock) -> None:
        done = asyncio.Event()

        async def life(working: Working) -> None:
            working()
            if clock.slept:
                done.set()
                await asyncio.Event().wait()

        station.work.keep("reports", life)
        await done.wait()
        assert supervisor.failure is None

    play(scene, Ending.ENDS_PROGRAM)


def test_a_task_that_may_end_is_no_failure_unless_it_raises() -> None:
    async def scene(station: Station, supervisor: Supervisor, _: Clock) -> None:
        async def fail() -> None:
            raise ZeroDivisionError("a bug")

        await station.work.begin(asyncio.sleep(0))
        assert supervisor.failure is None
        station.work.begin(fail())
        assert isinstance(await supervisor.failed(), ZeroDivisionError)

    play(scene)


def test_the_first_failure_is_the_reason() -> None:
    async def scene(station: Station, supervisor: Supervisor, _: Clock) -> None:
        station.work.fail(OSError("first"))
        station.work.fail(OSError("second"))
        assert str(await supervisor.failed()) == "first"

    play(scene)


def test_a_failure_before_anybody_watches_is_not_lost() -> None:
    async def scene() -> None:
        station, supervisor = Station(Ending.COMES_BACK, Clock()), Supervisor()
        station.work.fail(OSError("early"))
        supervisor.add(station)
        assert str(await supervisor.failed()) == "early"

    asyncio.run(scene())


def test_a_thread_may_end_and_one_that_fails_ends_the_program() -> None:
    async def scene(station: Station, supervisor: Supervisor, _: Clock) -> None:
        def fail() -> None:
            raise ZeroDivisionError("a bug")

        station.work.thread("walk", lambda: None).join()
        assert supervisor.failure is None
        station.work.thread("walk", fail)
        assert isinstance(await supervisor.failed(), ZeroDivisionError)

    play(scene)


@pytest.mark.parametrize("is_needed", [True, False])
def test_a_needed_part_is_down_from_its_end_until_it_works_again(*, is_needed: bool) -> None:
    seen: list[dict[str, str]] = []

    async def scene(station: Station, supervisor: Supervisor, clock: Clock) -> None:
        done = asyncio.Event()
        supervisor.health.on_change.append(lambda status: seen.append(dict(status.down)))

        async def life(working: Working) -> None:
            if len(clock.slept) == 1:
                raise OSError(24, "Too many open files")
            working()
            if clock.slept:
                done.set()
                await asyncio.Event().wait()

        station.work.keep("reporter", life)
        await done.wait()
        assert supervisor.health.down == {}

    play(scene, is_needed=is_needed)
    down = [{"station": "reporter: it has ended"}, {"station": "reporter: Too many open files"}, {}]
    assert seen == (down if is_needed else [])


def test_the_lines_of_a_part_have_a_rate_of_their_own(caplog: pytest.LogCaptureFixture) -> None:
    async def scene(station: Station, _: Supervisor, __: Clock) -> None:
        restarts = station.work.restart_schedule("worker")
        restarts.working()
        restarts.ended(Ended("exit code -9"))

    play(scene)
    rates = [getattr(record, "rate", None) for record in caplog.records if record.levelno >= logging.WARNING]
    assert rates == [LineRate("restarts of station", MOST_LINES, MOST_LINES / LINE_SECONDS)]


def test_what_is_started_by_hand_waits_for_its_pause() -> None:
    clock = Clock()
    restarts = Work("station", clock=clock).restart_schedule("helper")
    assert restarts.may_start
    restarts.working()
    assert restarts.ended(Ended("exit code -9")) == 1
    assert not restarts.may_start
    clock.now += 1
    assert restarts.may_start
