"""Threads with an owner, and calls on other threads."""

from __future__ import annotations

import asyncio

import pytest

from ledgerd.supervision.threads import begin_thread, in_thread


def test_the_end_of_a_thread_is_told_with_its_failure() -> None:
    ends: list[BaseException | None] = []

    def divide() -> None:
        _ = 1 // 0

    begin_thread("well", lambda: None, ends.append).join()
    begin_thread("ill", divide, ends.append).join()

    assert ends[0] is None
    assert isinstance(ends[1], ZeroDivisionError)


def test_a_call_on_a_thread_gives_its_result_or_its_failure_to_the_loop() -> None:
    async def scene() -> None:
        assert await in_thread(int, "ff", base=16) == 255
        with pytest.raises(ValueError, match="invalid literal"):
            await in_thread(int, "x")

    asyncio.run(scene())
