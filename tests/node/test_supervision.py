"""A node whose parts end: a real process under a real limit, and the runtime with parts that fail."""

from __future__ import annotations

import asyncio
import http.client
import json
import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.lifecycle import FATAL, live
from ledgerd.node.part_table import PARTS
from ledgerd.node.parts import snapshots
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.parts.watching.stuck import StuckPart
from ledgerd.node.runtime import Runtime
from ledgerd.node.testnet.plan import free_ports
from ledgerd.producer.loop import Producer
from ledgerd.snapshot.exchange.stalls import StallVerdict, StallWatch
from ledgerd.supervision.part import Part
from ledgerd.supervision.work import Ending, PartFailed, Work
from tests.node.processes import LOOPBACK, PROGRAM, NodeProcess, words_of_testnet
from tests.patience import PATIENCE

ONE_WORKER, TWO_WORKERS = (f"--webserver-thread-pool-size={count}" for count in (1, 2))


def workers_of(node: NodeProcess) -> list[int]:
    """The API workers of a node that is no copy."""
    children = Path(f"/proc/{node.process.pid}/task/{node.process.pid}/children").read_text(encoding="ascii").split()
    return [int(each) for each in children if b"ledgerd.rpc.worker" in Path(f"/proc/{each}/cmdline").read_bytes()]


def ready(connection: http.client.HTTPConnection) -> tuple[int, dict[str, Any]]:
    connection.request("GET", "/ready")
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def until(condition: Callable[[], object], words: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, words
        time.sleep(0.01)


def answering_worker(connection: http.client.HTTPConnection, workers: list[int]) -> int:
    """Which worker has taken this connection."""
    ours = connection.sock.getsockname()[1]
    table = Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
    [inode] = [words[9] for line in table if (words := line.split())[2].endswith(f":{ours:04X}")]
    for worker in workers:
        for each in Path(f"/proc/{worker}/fd").iterdir():
            if str(each.readlink()) == f"socket:[{inode}]":
                return worker
    raise AssertionError("nobody has it")


def test_a_worker_that_cannot_be_started_again_is_told_and_comes_back(tmp_path: Path) -> None:
    """The node makes no blocks itself: a validator that cannot open the file of its last block stops, as it should."""
    [port] = free_ports(1)
    maker_words = [each for each in words_of_testnet(tmp_path / "maker") if "p2p-endpoint" not in each]
    words = [each.replace(ONE_WORKER, TWO_WORKERS) for each in LOOPBACK]
    words += ["--data-dir", str(tmp_path / "node"), "--chain=testnet", "--plugin=database_api"]
    with ExitStack() as processes:
        maker = processes.enter_context(NodeProcess(*maker_words, f"--p2p-endpoint=127.0.0.1:{port}"))
        maker.wait_for("Validated block #1 ")
        node = processes.enter_context(NodeProcess(*words, f"--p2p-seed-node=127.0.0.1:{port}", program=PROGRAM))
        connection = http.client.HTTPConnection("127.0.0.1", node.port(), timeout=PATIENCE)
        until(lambda: ready(connection)[0] == 200, "the node is never ready")
        workers = workers_of(node)
        assert len(workers) == 2
        ours = answering_worker(connection, workers)
        [victim] = [each for each in workers if each != ours]
        before = resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE, (4, before[1]))
        os.kill(victim, signal.SIGKILL)
        until(lambda: "Too many open files" in ready(connection)[1].get("reason", ""), node.log)
        status, answer = ready(connection)
        assert status == 503
        assert answer["reason"].startswith("webserver is down: API worker ")
        node.wait_for("failed to start (Too many open files), next start in 2 s")
        resource.prlimit(node.process.pid, resource.RLIMIT_NOFILE, before)
        until(lambda: ready(connection)[0] == 200, node.log)
        assert len(workers_of(node)) == 2
        connection.close()
        assert node.stop() == 0
        assert maker.stop() == 0


class Failing(Part):
    """A part whose task a test lets fail."""

    def __init__(self, ending: Ending, problem: Exception | None) -> None:
        super().__init__(Work("failing", ending))
        self._problem = problem

    async def start(self) -> None:
        self.work.keep("task", lambda _: self._fail())

    async def _fail(self) -> None:
        if self._problem is not None:
            raise self._problem

    async def stop(self) -> None:
        """Whoever stops it ends what runs for it."""


def runtime_in(folder: Path, production: Part | None = None, without: type[Part] | None = None) -> Runtime:
    given = {"data-dir": [str(folder)], "chain": ["testnet"], "plugin": ["validator"]}
    parts = [spec for spec in PARTS if spec.kind is not without]
    if production is not None:
        parts = [spec._replace(make=lambda *_: production) if spec.kind is ProductionPart else spec for spec in parts]
    return Runtime(read_configuration(given, folder), parts=parts)


@pytest.mark.parametrize("problem", [ZeroDivisionError("a bug"), None])
def test_a_part_of_production_that_ends_ends_the_node_at_once(
    tmp_path: Path, problem: Exception | None, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    runtime = runtime_in(tmp_path, production=Failing(Ending.ENDS_PROGRAM, problem))

    assert asyncio.run(live(runtime.configuration, lambda _: runtime, str)) == FATAL

    if problem is None:
        assert isinstance(runtime.failure, PartFailed)
        assert "ledgerd: failing: task has ended\n" in capsys.readouterr().err
    else:
        assert runtime.failure is problem
        assert "internal error" in caplog.text


def test_production_that_fails_ends_the_node_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def tick(_: Producer) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Producer, "tick", tick)
    key = "5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4"
    given = {"plugin": ["validator"], "validator": ['"committee"'], "private-key": [key]}
    runtime = Runtime(read_configuration({"data-dir": [str(tmp_path)], "chain": ["testnet"], **given}, tmp_path))

    assert asyncio.run(live(runtime.configuration, lambda _: runtime, str)) == FATAL

    assert isinstance(runtime.failure, OSError)


def test_the_chain_of_a_node_that_ends_ends_the_node(tmp_path: Path) -> None:
    # The watchdog would end this process, 45 s after the chain's thread has gone.
    runtime = runtime_in(tmp_path, without=StuckPart)

    async def main() -> BaseException:
        await runtime.start()
        loop = await runtime.chain.run(asyncio.get_running_loop)
        loop.call_soon_threadsafe(loop.stop)
        async with asyncio.timeout(PATIENCE):
            await runtime.ended()
        assert runtime.failure is not None
        return runtime.failure

    assert "the loop of the chain's thread has ended" in str(asyncio.run(main()))
    runtime.chain.chain.close()  # the thread that has ended can not do it any more, and a stop would wait for it
    runtime._lock.close()  # noqa: SLF001 - (the same)


async def quick(seconds: float) -> None:
    await asyncio.sleep(seconds / 100)


def test_the_watch_for_a_chain_that_stands_still_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(snapshots, "CHECK_SECONDS", 0.001)
    checks: list[float] = []
    is_back = asyncio.Event()

    def check(_: StallWatch, now: float, *, is_master: bool) -> StallVerdict:
        assert not is_master
        checks.append(now)
        if len(checks) <= 2:
            raise OSError(24, "Too many open files")
        is_back.set()
        return StallVerdict.WAIT

    monkeypatch.setattr(StallWatch, "check", check)
    given = {"chain": ["testnet"], "plugin": ["snapshot"], "snapshot-dir": [str(tmp_path / "kept")]}
    given |= {"trusted-snapshot-peer": ["127.0.0.1:9"], "enable-stalled-sync-detection": ["true"]}
    runtime = Runtime(read_configuration({**given, "data-dir": [str(tmp_path)]}, tmp_path))
    clock = lambda: time.monotonic() * 100  # noqa: E731 - it stands once
    runtime.part(snapshots.SnapshotsPart).work = Work("snapshot", clock=clock, sleep=quick)

    async def main() -> None:
        await runtime.start()
        async with asyncio.timeout(PATIENCE):
            await is_back.wait()
        assert runtime.failure is None
        await runtime.stop()

    asyncio.run(main())
    ends = [record.getMessage() for record in caplog.records if "stands still" in record.getMessage()]
    assert ends == [
        f"snapshot: the watch for a chain that stands still ended (Too many open files), next start in {pause} s"
        for pause in (1, 2)
    ]


def test_whatever_a_part_leaves_running_is_ended_with_it(tmp_path: Path) -> None:
    class Careless(Failing):
        async def _fail(self) -> None:
            await asyncio.Event().wait()

    part = Careless(Ending.ENDS_PROGRAM, None)
    runtime = runtime_in(tmp_path, production=part)

    async def main() -> None:
        await runtime.start()
        assert len(part.work) == 1
        await runtime.stop()
        assert len(part.work) == 0
        assert runtime.failure is None

    asyncio.run(main())
