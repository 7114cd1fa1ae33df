"""Computing ahead in child processes: results, restarts, hangs and failures."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from ledgerd.codec import codec_of
from ledgerd.node.workers.precompute_pool import IDLE_SECONDS, PrecomputePool, spare_processors
from ledgerd.protocol.blocks import block
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.supervision.work import MOST_FAILURES, PartFailed, Work
from tests.patience import PATIENCE
from tests.recorded import recorded_blocks
from tests.supervision.clocks import Clock
from tests.supervision.limits import no_descriptor_left


def recorded(count: int = 40) -> list[Block]:
    return [codec_of(Block).decode(packed) for packed in recorded_blocks("open-1")[:count]]


def run(
    main: Callable[[PrecomputePool], Awaitable[None]], clock: Clock | None = None, idle_seconds: float = IDLE_SECONDS
) -> None:
    async def body() -> None:
        pool = PrecomputePool(TESTNET, 2, Work("p2p", clock=clock or Clock()), idle_seconds)
        try:
            await asyncio.wait_for(asyncio.ensure_future(main(pool)), PATIENCE)
        finally:
            await pool.stop()
        assert pool.processes == []

    asyncio.run(body())


@pytest.mark.parametrize(("processors", "spare"), [(1, 0), (2, 1), (3, 2), (64, 2)])
def test_the_chain_keeps_a_processor_to_itself(monkeypatch: pytest.MonkeyPatch, processors: int, spare: int) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(processors)), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: processors)
    assert spare_processors() == spare


def test_blocks_come_back_with_their_signers(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [each.signee for each in recorded()]
    monkeypatch.setattr(block, "recover", None)

    async def main(pool: PrecomputePool) -> None:
        first, second = recorded(), recorded()
        await asyncio.gather(pool.precompute(first), pool.precompute(second), pool.precompute(()))
        assert [each.signee for each in first] == [each.signee for each in second] == expected
        assert len(pool.processes) == 2

    run(main)


def test_signatures_are_spread_over_the_processes() -> None:
    async def main(pool: PrecomputePool) -> None:
        await pool.precompute(recorded())
        before = [worker.answers for worker in pool.workers]
        await pool.precompute(recorded())
        assert [worker.answers for worker in pool.workers] == [count + 1 for count in before]

    run(main)


def test_processes_that_die_come_back_after_a_pause_that_grows(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()

    async def main(pool: PrecomputePool) -> None:
        for pause in (1, 2, 4, 8):
            await pool.precompute(recorded())
            killed = pool.processes
            assert len(killed) == 2
            for process in killed:
                os.kill(process, signal.SIGKILL)
            blocks = recorded()
            await pool.precompute(blocks)
            assert blocks[0].signee == recorded()[0].signee  # the chain does it itself
            clock.now += pause - 0.1
            await pool.precompute(recorded())
            assert pool.processes == []
            clock.now += 0.1

    run(main, clock)
    ends = [record.getMessage() for record in caplog.records if "key recovery ended" in record.getMessage()]
    assert [line.rpartition(", ")[2] for line in ends] == [f"next start in {pause} s" for pause in (1, 2, 4, 8)]


def test_processes_that_cannot_be_started_come_back_when_there_is_room() -> None:
    clock = Clock()

    async def main(pool: PrecomputePool) -> None:
        with no_descriptor_left():
            await pool.precompute(recorded())
        assert pool.processes == []
        await pool.precompute(recorded())
        assert pool.processes == []
        clock.now += 1
        await pool.precompute(recorded())
        assert len(pool.processes) == 2

    run(main, clock)


def test_processes_that_cannot_be_started_ten_times_end_the_node() -> None:
    clock = Clock()

    async def main(pool: PrecomputePool) -> None:
        with no_descriptor_left():
            for _ in range(MOST_FAILURES - 1):
                await pool.precompute(recorded())
                clock.now += 60
            with pytest.raises(PartFailed, match="p2p: key recovery failed to start 10 times in 10 minutes: Too many"):
                await pool.precompute(recorded())

    run(main, clock)


def test_one_loss_counts_once_however_many_waited() -> None:
    clock = Clock()

    async def main(pool: PrecomputePool) -> None:
        await pool.precompute(recorded())
        first = pool.processes
        waiting = [asyncio.ensure_future(pool.precompute(recorded())) for _ in range(6)]
        for process in first:
            os.kill(process, signal.SIGKILL)
        await asyncio.gather(*waiting)
        clock.now += 1
        await pool.precompute(recorded())
        assert len(pool.processes) == 2
        assert not set(first) & set(pool.processes)

    run(main, clock)


def test_a_process_that_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()

    async def main(pool: PrecomputePool) -> None:
        await pool.precompute(recorded())
        monkeypatch.setattr("ledgerd.node.workers.precompute_pool.SILENT_SECONDS", 0.2)
        stopped = pool.processes
        assert len(stopped) == 2
        for process in stopped:
            os.kill(process, signal.SIGSTOP)
        await pool.precompute(recorded())
        clock.now += 1
        await pool.precompute(recorded())
        assert not set(stopped) & set(pool.processes)

    run(main, clock)


def test_processes_end_when_there_is_nothing_to_do_and_come_back() -> None:
    async def main(pool: PrecomputePool) -> None:
        await pool.precompute(recorded())
        before = pool.processes
        assert len(before) == 2
        for process in before:
            with suppress(ChildProcessError):  # it has ended already, and nobody asks for it any more
                await asyncio.to_thread(os.waitid, os.P_PID, process, os.WEXITED | os.WNOWAIT)
        await pool.precompute(recorded())
        assert len(pool.processes) == 2
        assert not set(before) & set(pool.processes)

    run(main, idle_seconds=0.05)
