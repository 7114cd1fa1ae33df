"""The cost of the network: a sync against a replay of the same blocks, a block over one hop, 200 peers.

Nodes are processes on loopback, with every check on. Rounds of all kinds alternate and the middle one of each counts;
processor time is shown beside the rate, for it needs no idle machine.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, sleep, time
from typing import NamedTuple

from bench import catching_up
from bench.bench_chain import TRANSFERS, recovery_seconds, send_transfers, users, verdict
from bench.nodes import start_node
from ledgerd.p2p.driver import Driver
from ledgerd.p2p.network_state import NetworkState
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.frames import FrameReader
from ledgerd.p2p.wire.messages import BlockReply, Hello, HelloReply, NodeId, read_message
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from tests.chain.networks import Network
from tests.node.processes import LOOPBACK, NodeProcess
from tests.ports import free_port

BLOCKS, BEGUN = 6_000, 600
"""The blocks of a sync, and how many are skipped before the measurement."""
ROUNDS = 3
POLL_SECONDS = 0.1
PEERS = 200
PUSHES = 15
PATIENCE = 120.0

SMALL = "--shared-file-size=128M"

SYNC_SHARE, HOP_SECONDS = 0.80, 0.150
PEERS_MEGABYTES, RELAY_SECONDS = 100, 0.300

REPLAY = """
import sys, time
from pathlib import Path
from ledgerd.chain.chain import Chain
from ledgerd.chain.log.source import LogSource
from ledgerd.chain.offline.replay import replay
from ledgerd.protocol.networks.parameters import TESTNET
with LogSource(Path(sys.argv[1])) as log, Chain.open(Path(sys.argv[2]), TESTNET, clock=time.monotonic) as chain:
    replay(chain, log, to=int(sys.argv[3]))
    began, used = time.perf_counter(), time.process_time()
    count = replay(chain, log)
    print(count / (time.perf_counter() - began), (time.process_time() - used) / count)
"""


class Figures(NamedTuple):
    """Of one round: blocks a second, and seconds of processor time that the process of the chain took for each."""

    rate: float
    cost: float


def grow(folder: Path, count: int) -> Network:
    """Make a network whose blocks are all in the past."""
    net = Network(folder, genesis=int(time()) // 3 * 3 - 3 * count - 3_600)
    net.start()
    while net.chain.head_number < count:
        for _ in range(100):
            net.chain.push_block(net.make(), commit=False).or_raise()
        net.chain.commit()
    return net


def words_of(folder: Path, *more: str) -> list[str]:
    """The command line of a testnet node with peers."""
    return ["--data-dir", str(folder), "--chain=testnet", "--plugin=p2p", *more]


# -- sync beside replay


def replayed(log: Path, folder: Path) -> Figures:
    """One replay, in a process of its own."""
    command = [sys.executable, "-c", REPLAY, str(log), str(folder), str(BEGUN)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own interpreter
    return Figures(*(float(word) for word in said.split()))


def synced(source: Path, folder: Path, peers: int, height: int) -> Figures:
    """One sync of a fresh node from so many others that have the same blocks."""
    with ExitStack() as running:
        ports = [free_port() for _ in range(peers)]
        servers = []
        for number, port in enumerate(ports):
            shutil.copytree(source, folder / f"peer-{number}")
            words = words_of(folder / f"peer-{number}", SMALL, f"--p2p-endpoint=127.0.0.1:{port}")
            servers.append(running.enter_context(start_node(*words)))
        for server in servers:
            server.wait_for("listening for peers")
        seeds = [f"--p2p-seed-node=127.0.0.1:{port}" for port in ports]
        words = words_of(folder / "fresh", "--plugin=database_api", *LOOPBACK, *seeds)
        node = running.enter_context(start_node(*words))
        node.port()
        begun = watch(node, BEGUN)
        ended = watch(node, height)
    count = ended[0] - begun[0]
    return Figures(count / (ended[1] - begun[1]), (ended[2] - begun[2]) / count)


def watch(node: NodeProcess, height: int) -> tuple[int, float, float]:
    """When a node has reached a height: its head, the time, and the processor time that it has used."""
    deadline = perf_counter() + PATIENCE
    while (head := node.head) < height:
        if perf_counter() > deadline:
            raise TimeoutError(f"block {head} after {PATIENCE:.0f} s\n{node.log}")
        sleep(POLL_SECONDS)
    return head, perf_counter(), processor_seconds(node)


def processor_seconds(node: NodeProcess) -> float:
    """What all threads of a process have used so far."""
    threads = Path(f"/proc/{node.process.pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def bench_sync() -> None:
    """The same near-empty blocks from a log, from one peer and from three."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        net = grow(folder / "source", BLOCKS)
        height = net.chain.head_number
        net.chain.close()
        rounds = []
        for number in range(ROUNDS):
            place = folder / f"round-{number}"
            place.mkdir()
            log = folder / "source" / "state" / "block_log"
            one = synced(folder / "source", place / "one", 1, height)
            three = synced(folder / "source", place / "three", 3, height)
            rounds.append((replayed(log, place / "replay"), one, three))
            shutil.rmtree(place)
    replay, one, three = (
        Figures(*(median(part) for part in zip(*kind, strict=True))) for kind in zip(*rounds, strict=True)
    )
    unit = recovery_seconds()
    for name, figures in (("a replay", replay), ("a sync from one peer", one), ("a sync from three", three)):
        cost = f"{figures.cost / unit:5.2f} recoveries of processor time each"
        print(f"  {name + ':':<22}{figures.rate:6,.0f} blocks/s, {cost}")
    print(f"  one peer does {share(one.rate, replay.rate, SYNC_SHARE)} of a replay, ", end="")
    print(f"{share(replay.cost, one.cost, SYNC_SHARE)} by processor time of the node")
    print(f"  three do {share(three.rate, one.rate, 1.0)} of one, {share(one.cost, three.cost, 1.0)} by processor time")


def share(value: float, of: float, limit: float) -> str:
    """A share, and whether it is large enough."""
    return f"{value / of:.2f} ({verdict(value / of, limit, at_most=False)})"


# -- a block on its way


class Maker:
    """A node in this process: it makes blocks, and its peers are as those of any other."""

    def __init__(self, net: Network) -> None:
        self.net = net
        now = float(net.chain.head_time)
        random = Random(1)  # noqa: S311 - nothing to hide
        state = NetworkState(
            ChainAccess(net.chain, now), Settings(max_connections=10), NodeId(bytes([2] * 33)), random, time()
        )
        self.driver = Driver(state, time)

    def make(self) -> tuple[BlockId, float]:
        """Make the next block and push it; its id, and when it was signed."""
        block = self.net.make()
        signed_at = perf_counter()
        self.net.chain.push_block(block).or_raise()
        self.driver.network.broadcast_block(time(), block)
        self.driver.run_actions()
        return block.id, signed_at


class Listener(asyncio.Protocol):
    """A peer that only does the handshake and records when each block arrives."""

    def __init__(self, number: int, head: tuple[BlockId, int]) -> None:
        self._hello = Hello(
            head_block_id=head[0],
            head_block_num=head[1],
            dlt_latest_block=head[1],
            node_status=Mode.FORWARD,
            node_id=NodeId(b"\3" + number.to_bytes(32, "big")),
        )
        self._frames = FrameReader()
        self.is_met = asyncio.Event()
        self.heard: asyncio.Queue[tuple[BlockId, float]] = asyncio.Queue()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self._transport = transport
            transport.write(self._hello.frame)

    def data_received(self, data: bytes) -> None:
        came = perf_counter()
        self._frames.receive(data, 0)
        while (frame := self._frames.next_frame(0)) is not None:
            match read_message(frame):
                case Hello():
                    head = self._hello.head_block_num
                    reply = HelloReply(True, True, NO_BLOCK, NO_BLOCK, 0, head, 0, Mode.FORWARD)
                    self._transport.write(reply.frame)
                case HelloReply():
                    self.is_met.set()
                case BlockReply(block):
                    self.heard.put_nowait((block.id, came))

    async def when(self, block_id: BlockId) -> float:
        """When a block arrived."""
        while True:
            heard, came = await asyncio.wait_for(self.heard.get(), PATIENCE)
            if heard == block_id:
                return came


async def listeners(port: int, count: int, net: Network) -> list[Listener]:
    """So many peers of a node, past their handshake."""
    loop, head = asyncio.get_running_loop(), (net.chain.head_id, net.chain.head_number)
    made = []
    for number in range(count):
        _, listener = await loop.create_connection(lambda n=number: Listener(n, head), "127.0.0.1", port)  # type: ignore[misc]
        await asyncio.wait_for(listener.is_met.wait(), PATIENCE)
        made.append(listener)
    return made


@asynccontextmanager
async def making(net: Network) -> AsyncIterator[Maker]:
    """The node in this process, listening."""
    maker = Maker(net)
    await maker.driver.start(Endpoint("127.0.0.1", free_port()))
    try:
        yield maker
    finally:
        await maker.driver.stop()


async def started(
    running: AsyncExitStack, folder: Path, source: Path, seed: int, *more: str
) -> tuple[NodeProcess, int]:
    """A node process that has the same chain and has met its seed; and its port."""
    shutil.copytree(source, folder)
    port = free_port()
    words = words_of(folder, SMALL, f"--p2p-endpoint=127.0.0.1:{port}", f"--p2p-seed-node=127.0.0.1:{seed}", *more)
    node = running.enter_context(start_node(*words))
    await asyncio.to_thread(node.wait_for, "SYNC -> FORWARD")
    return node, port


async def bench_hop(folder: Path, source: Path, net: Network) -> None:
    """A makes a block, B relays it, C applies it; C passes on what it has applied, and that is when it is noted."""
    names = users(net)
    net.produce()
    shutil.copytree(net.folder, source)
    async with making(net) as maker, AsyncExitStack() as running:
        _, relay = await started(running, folder / "b", source, maker.driver.port)
        _, last = await started(running, folder / "c", source, relay)
        (listener,) = await listeners(last, 1, net)
        for kind in ("near-empty", f"{TRANSFERS} transfers"):
            times = []
            for round_ in range(PUSHES):
                if kind != "near-empty":
                    send_transfers(net, names, round_)
                block_id, signed_at = maker.make()
                times.append(await listener.when(block_id) - signed_at)
            middle, slowest = median(times) * 1_000, max(times) * 1_000
            print(
                f"  a block, {kind + ',':<15} from its signature to the head behind one hop: {middle:5.1f} ms ",
                end="",
            )
            print(f"({verdict(middle, HOP_SECONDS * 1_000)}), {slowest:.0f} ms at most")


async def bench_peers(folder: Path, source: Path, net: Network) -> None:
    """Two hundred peers of one node: their memory, and when the last of them has a new block."""
    async with making(net) as maker, AsyncExitStack() as running:
        limit = f"--p2p-max-connections={PEERS + 50}"
        node, port = await started(running, folder / "hub", source, maker.driver.port, limit)
        before = resident_megabytes(node)
        crowd = await listeners(port, PEERS, net)
        times = []
        for _ in range(PUSHES):
            block_id, signed_at = maker.make()
            times.append(max([await listener.when(block_id) for listener in crowd]) - signed_at)
        grown = resident_megabytes(node) - before
    print(f"  {PEERS} peers: {grown:.1f} MB ({verdict(grown, PEERS_MEGABYTES)}), {grown / PEERS * 1_024:.0f} KB each")
    middle, slowest = median(times) * 1_000, max(times) * 1_000
    print(f"  a block from its signature to the last of {PEERS} peers of another node: {middle:.1f} ms ", end="")
    print(f"({verdict(middle, RELAY_SECONDS * 1_000)}), {slowest:.0f} ms at most")


def resident_megabytes(node: NodeProcess) -> float:
    """The memory of a process."""
    pages = int(Path(f"/proc/{node.process.pid}/statm").read_text().split()[1])
    return pages * 4_096 / (1 << 20)


async def bench_blocks() -> None:
    """Figures about the propagation of blocks."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        net = grow(folder / "maker", 100)
        await bench_hop(folder / "hop", folder / "hop-source", net)
        shutil.copytree(net.folder, folder / "peers-source")
        await bench_peers(folder / "peers", folder / "peers-source", net)
        net.chain.close()


def main() -> None:
    """Print every figure."""
    bench_sync()
    catching_up.main()
    asyncio.run(bench_blocks())


def compare(revision: str) -> None:
    """Print catching up of this revision beside another one."""
    catching_up.compare(revision)


if __name__ == "__main__":
    main()
