"""Catching up on a recorded chain with four transactions of all kinds a block, and on one with two transfers a block:
by replay, from one peer, from three of which one is slow and one lies, and with `assume-valid`. Used by `bench
network`, also to compare two revisions.

The serving node is always of this revision, and its processor time is shown apart. A rate is that of the whole catch-up
between two commits; start and end are not in it.
"""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import NamedTuple

from bench.bench_chain import recovery_seconds
from bench.chains_to_sync import ChainToSync, chain_of_transfers, recorded_chain
from bench.nodes import start_node
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.codec import codec_of
from ledgerd.node.workers.precompute_pool import spare_processors
from ledgerd.p2p.wire.messages import GetBlockRange
from ledgerd.protocol.blocks.block import Block
from tests.node.processes import PROGRAM, NodeProcess
from tests.p2p.socket_peers import SocketPeer, honest, lying
from tests.patience import PATIENCE
from tests.ports import free_port

CHAIN = "open-1"
BEGUN = 400
"""The blocks that are skipped before the measurement: in both chains all hardforks are in them."""
ROUNDS = 5
POLL_SECONDS = 0.02
SLOW_SECONDS = 2.0
MODELLED_CORES = 4
LEAST, MOST_REPLAY, MOST_SLOWER = 1_900, 10, 1.2
LEAST_OF_TRANSFERS, LEAST_ASSUMED = 2_500, 3_700

ROOT = Path(__file__).parents[1]
SERVED = ("--plugin=p2p", "--shared-file-size=128M")


class Figures(NamedTuple):
    """Of one way to catch up; all but the first are seconds a block."""

    wall: float
    chain: float = 0.0
    """Processor time of the process that applies the blocks."""
    helpers: float = 0.0
    """Of the processes that compute ahead, from their start: they are far ahead when the measurement begins."""
    server: float = 0.0


def middle(rounds: list[Figures]) -> Figures:
    """The middle of each figure."""
    return Figures(*(median(part) for part in zip(*rounds, strict=True)))


# -- processes


def used_by(pid: int) -> float:
    """The processor time of all threads of a process that runs."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def helpers_of(pid: int) -> list[int]:
    """The processes that compute ahead for a node, of this revision or of an older one."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    others = [Path(f"/proc/{pid}/task/{each.name}/children") for each in Path(f"/proc/{pid}/task").iterdir()]
    children += [child for file in others if file.parent.name != str(pid) for child in file.read_text().split()]
    commands = {int(child): Path(f"/proc/{child}/cmdline").read_bytes() for child in children}
    return [child for child, command in commands.items() if b"precompute" in command or b"recovery_worker" in command]


@contextmanager
def of_revision(source: Path | None) -> Iterator[None]:
    """Start processes of another revision, whose files are there, or of this one."""
    before = os.environ.get("PYTHONPATH")
    if source is not None:
        os.environ["PYTHONPATH"] = str(source / "src")
    try:
        yield
    finally:
        os.environ.pop("PYTHONPATH", None)
        if before is not None:
            os.environ["PYTHONPATH"] = before


def unpacked(revision: str, folder: Path) -> Path:
    """The files of a revision."""
    archive = folder / "revision.tar"
    command = ("git", "archive", f"--output={archive}", revision, "src")
    subprocess.run(command, cwd=ROOT, check=True)  # noqa: S603 - the revision is the caller's
    with tarfile.open(archive) as files:
        files.extractall(folder / "revision", filter="data")
    return folder / "revision"


# -- a replay


def write_log(chain: ChainToSync, folder: Path) -> Path:
    """The chain as a block log."""
    log = BlockLog.open(folder)
    for number, packed in enumerate(chain.packed, start=1):
        log.append(number, packed)
    log.close()
    return folder / "block_log"


def run_replay(chain: ChainToSync, log: Path, folder: Path, *more: str) -> tuple[float, float]:
    """Wall time of the command, and processor time of all its processes."""
    words = ("replay", "--block-log", str(log), "--data-dir", str(folder), f"--chain={chain.option}", *more)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = perf_counter()
    subprocess.run((*PROGRAM, *words), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    return perf_counter() - began, now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime


def replayed(chain: ChainToSync, log: Path, folder: Path) -> Figures:
    """A replay with all checks, less what the command takes for nothing."""
    run_replay(chain, log, folder, f"--to={BEGUN}")
    wall, used = run_replay(chain, log, folder)
    idle_wall, idle_used = run_replay(chain, log, folder)
    count = len(chain.packed) - BEGUN
    return Figures((wall - idle_wall) / count, (used - idle_used) / count)


# -- a sync


async def slow(peer: SocketPeer, request: GetBlockRange) -> bytes:
    """Everything, but late."""
    await asyncio.sleep(SLOW_SECONDS)
    return await honest(peer, request)


@contextmanager
def bad_peers(chain: ChainToSync, *answers: Callable[[SocketPeer, GetBlockRange], object]) -> Iterator[list[str]]:
    """Peers in a thread of this process; their endpoints."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    peers = [
        SocketPeer(name, chain.packed, answer)  # type: ignore[arg-type]
        for name, answer in enumerate(answers, start=1)
    ]
    try:
        endpoints = [asyncio.run_coroutine_threadsafe(peer.start(), loop).result() for peer in peers]
        yield [f"{each.host}:{each.port}" for each in endpoints]
    finally:
        for peer in peers:
            asyncio.run_coroutine_threadsafe(peer.stop(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def serving(chain: ChainToSync, folder: Path) -> Iterator[tuple[NodeProcess, str]]:
    """A node that has the chain, and its endpoint."""
    port = free_port()
    words = ("--data-dir", str(folder), f"--chain={chain.option}", *SERVED, f"--p2p-endpoint=127.0.0.1:{port}")
    with start_node(*words) as server:
        server.wait_for("listening for peers")
        yield server, f"127.0.0.1:{port}"


def synced(
    chain: ChainToSync, source: Path, folder: Path, revision: Path | None, *more: str, with_bad: bool = False
) -> Figures:
    """One sync of a fresh node."""
    height = len(chain.packed)
    with ExitStack() as running:
        server, endpoint = running.enter_context(serving(chain, source))
        seeds = [endpoint, *(running.enter_context(bad_peers(chain, slow, lying)) if with_bad else ())]
        words = ("--data-dir", str(folder), f"--chain={chain.option}", "--plugin=p2p", "--plugin=database_api", *more)
        listens = ("--webserver-http-endpoint=127.0.0.1:0", "--webserver-ws-endpoint=127.0.0.1:0")
        with of_revision(revision):
            node = running.enter_context(start_node(*words, *listens, *(f"--p2p-seed-node={seed}" for seed in seeds)))
            node.port()
            begun, ended = [watch(node, server, until) for until in (BEGUN, height)]
    count = ended[0] - begun[0]
    since = Figures(*((after - before) / count for before, after in zip(begun[1], ended[1], strict=True)))
    return since._replace(helpers=ended[1].helpers / ended[0])


def watch(node: NodeProcess, server: NodeProcess, height: int) -> tuple[int, Figures]:
    """The head once a node has reached a height, and the time and the processor time used until then."""
    deadline = perf_counter() + PATIENCE
    while (head := node.head) < height:
        if perf_counter() > deadline:
            raise TimeoutError(f"block {head} after {PATIENCE:.0f} s\n{node.log}")
        sleep(POLL_SECONDS)
    pid = node.process.pid
    helpers = sum(map(used_by, helpers_of(pid)))
    return head, Figures(perf_counter(), used_by(pid), helpers, used_by(server.process.pid))


# -- what is measured


def assumed(chain: ChainToSync) -> str:
    """The option that names the last block."""
    last = codec_of(Block).decode(chain.packed[-1])
    return f"--assume-valid={last.number}:{last.id.hex()}"


class Bench:
    """The source of a chain, and a fresh folder for each run."""

    def __init__(self, chain: ChainToSync, folder: Path) -> None:
        self.chain = chain
        self._folder = folder
        self._count = 0
        self.log = write_log(chain, folder / "log")
        self.source = folder / "source"
        run_replay(chain, self.log, self.source)

    def run(self, kind: str, revision: Path | None = None) -> Figures:
        """One run of a kind."""
        self._count += 1
        fresh = self._folder / f"run-{self._count}"
        try:
            if kind == REPLAY:
                with of_revision(revision):
                    return replayed(self.chain, self.log, fresh)
            more = (assumed(self.chain),) if kind == ASSUMED else ()
            return synced(self.chain, self.source, fresh, revision, *more, with_bad=kind == THREE)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)


REPLAY, ONE, THREE = "a replay", "a sync from one peer", "three, one slow, one lies"
ASSUMED = "one peer, assume-valid"
KINDS = (REPLAY, ONE, THREE, ASSUMED)
KINDS_OF_TRANSFERS = (REPLAY, ONE, ASSUMED)


def shown(kind: str, figures: Figures, unit: float) -> str:
    """A line of figures."""
    text = (
        f"  {kind + ':':<27}{1 / figures.wall:7,.0f} blocks/s, {figures.wall / unit:5.1f} recoveries of wall time each"
    )
    if kind == REPLAY:
        return f"{text}; {figures.chain / unit:.1f} of all processes"
    return (
        f"{text}; processor time: chain {figures.chain / unit:.1f}, helpers {figures.helpers / unit:.1f}, "
        f"serving peer {figures.server / unit:.2f}"
    )


def model(figures: Figures, unit: float) -> str:
    """What more processors would give: chain and serving peer are one thread each, the helpers share their work."""
    cores = len(os.sched_getaffinity(0))
    parts = []
    for count in (cores, MODELLED_CORES):
        helpers = max(1, min(2, count - 1))
        least = max(figures.chain, figures.helpers / helpers, figures.server, sum(figures[1:]) / count)
        parts.append(f"{count} processors {1 / least:,.0f} blocks/s ({least / unit:.1f} recoveries)")
    return f"  by these shares, with nobody else at work: {', '.join(parts)}; the chain alone is the limit beyond"


def rate_verdict(kind: str, figures: Figures, least: float) -> str:
    """The target of a rate."""
    rate = 1 / figures.wall
    return f"{kind}: {rate:,.0f} blocks/s, >= {least:,} {'met' if rate >= least else 'MISSED'}"


def verdicts(found: dict[str, Figures], unit: float) -> Iterator[str]:
    """The targets for the recorded chain."""
    yield rate_verdict(ONE, found[ONE], LEAST)
    replay = found[REPLAY].wall / unit
    yield f"{REPLAY}: {replay:.1f} recoveries, <= {MOST_REPLAY} {'met' if replay <= MOST_REPLAY else 'MISSED'}"
    slower = found[THREE].wall / found[ONE].wall
    yield f"three take {slower:.2f} of one, <= {MOST_SLOWER} {'met' if slower <= MOST_SLOWER else 'MISSED'}"


def verdicts_of_transfers(found: dict[str, Figures], _unit: float) -> Iterator[str]:
    """The targets for the chain of transfers."""
    yield rate_verdict(ONE, found[ONE], LEAST_OF_TRANSFERS)
    yield rate_verdict(ASSUMED, found[ASSUMED], LEAST_ASSUMED)


def measured() -> Iterator[tuple[ChainToSync, Sequence[str], Callable[[dict[str, Figures], float], Iterator[str]]]]:
    """The chains, what is measured of each, and what is wanted of it."""
    yield recorded_chain(CHAIN), KINDS, verdicts
    yield chain_of_transfers(), KINDS_OF_TRANSFERS, verdicts_of_transfers


def main() -> None:
    """Print every figure."""
    for chain, kinds, wanted in measured():
        with tempfile.TemporaryDirectory() as temporary:
            bench = Bench(chain, Path(temporary))
            rounds = [{kind: bench.run(kind) for kind in kinds} for _ in range(ROUNDS)]
        unit = recovery_seconds()
        found = {kind: middle([each[kind] for each in rounds]) for kind in kinds}
        counts = f"{len(chain.packed):,} blocks, {spare_processors()} helpers"
        print(f"  {chain.title}, {counts}, the middle of {ROUNDS} runs:")
        for kind in kinds:
            print(shown(kind, found[kind], unit))
        print(model(found[ONE], unit))
        for verdict in wanted(found, unit):
            print(f"  {verdict}")


def compare(revision: str) -> None:
    """Print two revisions side by side: their runs alternate, and the middle of each five counts."""
    for chain, kinds, _ in measured():
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            bench, other = Bench(chain, folder), unpacked(revision, folder)
            rounds = [
                {(kind, which): bench.run(kind, which) for kind in kinds for which in (other, None)}
                for _ in range(ROUNDS)
            ]
        unit = recovery_seconds()
        print(f"  {chain.title}:")
        for kind in kinds:
            before, after = (middle([each[kind, which] for each in rounds]) for which in (other, None))
            print(f"{shown(kind, before, unit)}  [{revision}]")
            print(f"{shown(kind, after, unit)}  [here]")
            print(f"  {'here to there:':<27}{before.wall / after.wall:7.2f} times the rate")
