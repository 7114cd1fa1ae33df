"""The watchdog of the chain's thread: a stuck one ends the node; a reopening or a suspended machine does not."""

from __future__ import annotations

import asyncio
import os
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.watching import stuck
from ledgerd.node.parts.watching.stuck import MOST_UNANSWERED, STUCK, Calls, StuckPart, record_restart
from ledgerd.node.time_source import MICRO
from tests.node.contexts import context_of


def test_nine_calls_without_an_answer_are_too_many() -> None:
    calls = Calls()

    assert not any(calls.count(is_answered=False, is_excused=False) for _ in range(MOST_UNANSWERED - 1))
    assert calls.count(is_answered=False, is_excused=False)


def test_an_answer_and_a_reopening_reset_the_count() -> None:
    calls = Calls()
    for answered, excused in ((True, False), (False, True)):
        assert not any(calls.count(is_answered=False, is_excused=False) for _ in range(MOST_UNANSWERED - 1))
        assert not calls.count(is_answered=answered, is_excused=excused)
    assert not any(calls.count(is_answered=False, is_excused=False) for _ in range(MOST_UNANSWERED - 1))


def test_ends_are_remembered_for_half_an_hour(tmp_path: Path) -> None:
    assert record_restart(tmp_path, 10_000) == 1
    assert record_restart(tmp_path, 11_000) == 2
    assert record_restart(tmp_path, 11_801) == 2
    assert (tmp_path / "deadlock_restarts").read_text() == "11000\n11801\n"


def test_an_unreadable_restarts_file_is_ignored(tmp_path: Path) -> None:
    (tmp_path / "deadlock_restarts").write_bytes(b"\xff\n-1\nx\n9990\n")

    assert record_restart(tmp_path, 10_000) == 2


class DeadChain:
    """A chain whose thread answers nothing."""

    is_reopening = False

    def call_soon(self, _call: object) -> None:
        pass


def test_a_stuck_node_ends_and_writes_that_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, codes = threading.Event(), list[int]()
    configuration = read_configuration({"data-dir": [str(tmp_path)]}, tmp_path)
    context = context_of(StuckPart, configuration, SimpleNamespace(wall=lambda: 10_000 * MICRO))
    part = StuckPart(context, cast("ChainPart", DeadChain()))

    def end(code: int) -> None:
        codes.append(code)
        part._is_ended.set()  # noqa: SLF001 - a process would end here
        ended.set()

    monkeypatch.setattr(stuck, "CALL_EVERY", 0.001)
    monkeypatch.setattr(os, "_exit", end)

    async def run() -> None:
        await part.start()
        assert await asyncio.to_thread(ended.wait, 20)
        await part.stop()

    asyncio.run(run())

    assert codes == [STUCK]
    assert (tmp_path / "deadlock_restarts").read_text() == "10000\n"
    assert capsys.readouterr().err.startswith("FATAL: database write lock held for ")
