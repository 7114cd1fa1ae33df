"""Task groups with an owner."""

from __future__ import annotations

import asyncio

import pytest

from ledgerd.supervision.tasks import Tasks, all_of, first_of, stream_server


async def fail(problem: Exception) -> None:
    raise problem


async def forever(ended: list[str]) -> None:
    try:
        await asyncio.Event().wait()
    finally:
        ended.append("ended")


def test_a_task_that_fails_is_told_to_its_owner() -> None:
    async def scene() -> list[BaseException]:
        told: list[BaseException] = []
        tasks, problem = Tasks(told.append), OSError("no room")
        tasks.begin(fail(problem))
        await tasks.ended()
        assert told == [problem]
        assert len(tasks) == 0
        return told

    asyncio.run(scene())


def test_tasks_that_are_stopped_are_no_failures() -> None:
    async def scene() -> None:
        told: list[BaseException] = []
        ended: list[str] = []
        tasks = Tasks(told.append)
        for _ in range(3):
            tasks.begin(forever(ended))
        await asyncio.sleep(0)
        assert len(tasks) == 3
        await tasks.stop()
        assert (told, ended, len(tasks)) == ([], ["ended"] * 3, 0)

    asyncio.run(scene())


def test_a_task_may_stop_its_own_group() -> None:
    async def scene() -> None:
        told: list[BaseException] = []
        tasks = Tasks(told.append)
        tasks.begin(tasks.stop())
        tasks.begin(forever([]))
        await tasks.ended()
        assert told == []

    asyncio.run(scene())


def test_results_come_together_and_a_failure_ends_the_others() -> None:
    async def double(number: int) -> int:
        await asyncio.sleep(0)
        return 2 * number

    async def scene() -> None:
        assert await all_of(double(number) for number in range(3)) == [0, 2, 4]
        ended: list[str] = []
        with pytest.raises(OSError, match="no room"):
            await all_of([forever(ended), fail(OSError("no room"))])
        assert ended == ["ended"]

    asyncio.run(scene())


def test_the_first_to_end_ends_the_others_and_its_failure_is_passed_on() -> None:
    async def scene() -> None:
        ended: list[str] = []
        await first_of(asyncio.sleep(0), forever(ended))
        with pytest.raises(OSError, match="no room"):
            await first_of(fail(OSError("no room")), forever(ended))
        assert ended == ["ended"] * 2

    asyncio.run(scene())


def test_a_stream_server_hands_over_its_connections() -> None:
    async def scene() -> bytes:
        def accept(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"hello")
            writer.close()

        server = await stream_server(accept, "127.0.0.1", 0)
        async with server:
            reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
            heard = await reader.read()
            writer.close()
        return heard

    assert asyncio.run(scene()) == b"hello"
