"""Keys recovered in other processes: the right ones, in time, and without harm when a process fails."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from ledgerd.codec import codec_of
from ledgerd.node.workers.recovery import MOST_FAILURES, Recovery, spare_processors
from ledgerd.protocol import block
from ledgerd.protocol.block import Block
from ledgerd.protocol.parameters import TESTNET
from tests.recorded import recorded_blocks

PATIENCE = 20
"""Seconds until a test that hangs is given up."""


def recorded(count: int = 40) -> list[Block]:
    return [codec_of(Block).decode(packed) for packed in recorded_blocks("open-1")[:count]]


def run(main: Callable[[Recovery], Awaitable[None]], **more: float) -> None:
    async def body() -> None:
        recovery = Recovery(TESTNET.chain_id, 2, **more)
        try:
            await asyncio.wait_for(asyncio.ensure_future(main(recovery)), PATIENCE)
        finally:
            await recovery.stop()
        assert recovery.processes == []

    asyncio.run(body())


@pytest.mark.parametrize(("processors", "spare"), [(1, 0), (2, 1), (3, 2), (64, 2)])
def test_the_chain_keeps_a_processor_to_itself(monkeypatch: pytest.MonkeyPatch, processors: int, spare: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert spare_processors() == spare


def test_blocks_come_back_with_their_signers(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [each.signee for each in recorded()]
    monkeypatch.setattr(block, "recover", None)

    async def main(recovery: Recovery) -> None:
        first, second = recorded(), recorded()
        await asyncio.gather(recovery.recover(first), recovery.recover(second), recovery.recover(()))
        assert [each.signee for each in first] == [each.signee for each in second] == expected
        assert len(recovery.processes) == 2

    run(main)


def test_the_work_is_shared() -> None:
    async def main(recovery: Recovery) -> None:
        await recovery.recover(recorded())
        before = [helper.answers for helper in recovery.helpers]
        await recovery.recover(recorded())
        assert [helper.answers for helper in recovery.helpers] == [count + 1 for count in before]

    run(main)


def test_a_process_that_dies_costs_nothing_but_time() -> None:
    async def main(recovery: Recovery) -> None:
        for _ in range(MOST_FAILURES + 1):
            await recovery.recover(recorded())
            for process in recovery.processes:
                os.kill(process, signal.SIGKILL)
            blocks = recorded()
            await recovery.recover(blocks)
            assert blocks[0].signee == recorded()[0].signee
        assert recovery.processes == []

    run(main)


def test_one_loss_counts_once_however_many_waited() -> None:
    async def main(recovery: Recovery) -> None:
        await recovery.recover(recorded())
        first = recovery.processes
        waiting = [asyncio.ensure_future(recovery.recover(recorded())) for _ in range(2 * MOST_FAILURES)]
        for process in first:
            os.kill(process, signal.SIGKILL)
        await asyncio.gather(*waiting)
        await recovery.recover(recorded())
        assert len(recovery.processes) == 2
        assert not set(first) & set(recovery.processes)

    run(main)


def test_a_process_that_hangs_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    async def main(recovery: Recovery) -> None:
        await recovery.recover(recorded())
        monkeypatch.setattr("ledgerd.node.workers.recovery.SILENT_SECONDS", 0.2)
        stopped = recovery.processes
        assert len(stopped) == 2
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        await recovery.recover(recorded())
        assert not set(stopped) & set(recovery.processes)

    run(main)


def test_processes_end_when_there_is_nothing_to_do_and_come_back() -> None:
    async def main(recovery: Recovery) -> None:
        await recovery.recover(recorded())
        before = recovery.processes
        assert len(before) == 2
        for process in before:
            with suppress(ChildProcessError):  # it has ended already, and nobody asks for it any more
                await asyncio.to_thread(os.waitid, os.P_PID, process, os.WEXITED | os.WNOWAIT)
        await recovery.recover(recorded())
        assert len(recovery.processes) == 2
        assert not set(before) & set(recovery.processes)

    run(main, idle_seconds=0.05)
