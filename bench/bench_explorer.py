"""How fast the explorer shows pages that nobody has asked for before, and what its live pages cost the node.

A node of the testnet kind with `explorer-endpoint`, over a chain in which one account has very many operations
(`EXPLORER_OPERATIONS=1000000`; 20,000 are usual). Eight clients ask for pages, each as soon as it has the last one;
every address is new. Beside the times stands the processor time of a page, which needs no idle machine. Then blocks
come, every three seconds, and fifty pages are open: how long after the node tells of a block they have it, and what a
block takes of the node's processor time with and without them (`EXPLORER_BLOCKS=20` for a longer look).
"""

from __future__ import annotations

import asyncio
import os
import re
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random

from websockets.asyncio.client import connect

from bench.bench_chain import users, verdict
from bench.nodes import start_node
from ledgerd.history.settings import HistorySettings
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from tests.chain.networks import BOB, VIZ, Network
from tests.history.histories import followed
from tests.node.processes import NodeProcess, words_of_testnet
from tests.rpc.loopback import Client

OPERATIONS = int(os.environ.get("EXPLORER_OPERATIONS", "20000"))
BLOCKS = int(os.environ.get("EXPLORER_BLOCKS", "3"))
AT_ONCE = 500
"""Transfers of a transaction, and of a block."""
CLIENTS, PAGES = 8, 400
VIEWERS = 50
MILLISECONDS, LIVE_MILLISECONDS = 20, 300
TICKS = os.sysconf("SC_CLK_TCK")
LISTENS = re.compile(r"the explorer of \S+ listens on http://127\.0\.0\.1:([0-9]+)/")
BLOCK = b"event: block"


def fill(folder: Path) -> tuple[int, list[str]]:
    """A chain that ends now, in which `viz` has so many operations; its blocks, and ids of transactions."""
    blocks, ids = -(-OPERATIONS // AT_ONCE), []
    net = Network(folder, genesis=int(time.time()) - 3 * (blocks + 60))
    with followed(net.chain, folder, HistorySettings()):
        net.start()
        users(net)
        for round_ in range(blocks):
            memo = f"payment {round_}"
            sent = net.send(*(Transfer(VIZ, BOB, tokens(1 + place), memo) for place in range(AT_ONCE)))
            ids.append(sent.id.hex())
            net.produce()
        net.produce(20)
        height = net.chain.head_number
    net.chain.close()
    return height, ids


def kinds(height: int, ids: Sequence[str]) -> dict[str, list[str]]:
    """Addresses of each kind, none of them twice."""
    random = Random(19)  # noqa: S311 - the same pages in each run
    names = [f"user-{number}" for number in range(100)]
    places = random.sample(range(100, OPERATIONS), PAGES)
    plain, filtered = places[::2], places[1::2]
    return {
        "an account of many operations": [f"/account/viz?cursor=before:{each}" for each in plain],
        "the same with a filter": [f"/account/viz?show=transfers&cursor=before:{each}" for each in filtered],
        "accounts": [f"/account/{name}{tab}" for tab in ("", "/rights", "/shares") for name in names],
        "blocks": [f"/block/{each}" for each in random.sample(range(1, height - 20), min(height - 30, PAGES))],
        "transactions": [f"/tx/{each}" for each in ids[:PAGES]],
        "lists": [f"/blocks?before={each}" for each in range(30, height, max(1, height // 200))]
        + [f"/accounts?from={name}" for name in names],
    }


def children_of(pid: int) -> dict[str, list[int]]:
    """The processes of a node: the explorer, and the others with the node itself."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii").split()
    found: dict[str, list[int]] = {"explorer": [], "node": [pid]}
    for each in children:
        is_explorer = b"explorer_worker" in Path(f"/proc/{each}/cmdline").read_bytes()
        found["explorer" if is_explorer else "node"].append(int(each))
    return found


def spent(processes: Sequence[int]) -> float:
    """The processor time that processes have taken."""
    fields = [Path(f"/proc/{each}/stat").read_text(encoding="ascii").rpartition(")")[2].split() for each in processes]
    return sum(int(each[11]) + int(each[12]) for each in fields) / TICKS


@contextmanager
def serving(folder: Path, *more: str) -> Iterator[NodeProcess]:
    """A node over the chain that was made."""
    with start_node(*words_of_testnet(folder, *more)) as node:
        node.port("ws")
        yield node
        node.stop()


async def connected(port: int) -> Client:
    """A connection of a browser."""
    return Client(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 24))


async def asked(port: int, addresses: Sequence[str]) -> list[float]:
    """How long each page takes while eight clients ask."""
    waiting, times = list(reversed(addresses)), []

    async def ask() -> None:
        client = await connected(port)
        while waiting:
            address = waiting.pop()
            began = time.perf_counter()
            await client.say(f"GET {address} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            status, _, _ = await client.answer()
            times.append(time.perf_counter() - began)
            if " 200 " not in status:
                raise AssertionError(f"{address}: {status}")
        client.writer.close()

    await asyncio.gather(*(ask() for _ in range(CLIENTS)))
    return sorted(times)


async def show_pages(node: NodeProcess, port: int, wanted: dict[str, list[str]]) -> None:
    """Times of first views by kind of page, and of all of them mixed."""
    for title, addresses in wanted.items():
        processes = children_of(node.process.pid)
        before = {name: spent(each) for name, each in processes.items()}
        times = await asked(port, addresses)
        took = {name: (spent(each) - before[name]) * 1000 / len(times) for name, each in processes.items()}
        p50, p99 = (times[int(len(times) * part)] * 1000 for part in (0.5, 0.99))
        print(f"  {title:30} {len(times):4} pages: p50 {p50:5.1f} ms, p99 {p99:5.1f} ms", end="")
        print(f" ({verdict(round(p99, 1), MILLISECONDS, 'ms')}), of the processor ", end="")
        print(f"{took['explorer']:.2f} ms of the explorer and {took['node']:.2f} ms of the node")


async def delays(node: NodeProcess, port: int, blocks: int) -> list[float]:
    """How much later than a client of the node's own fifty open pages have a block."""
    told: dict[str, float] = {}
    found: list[float] = []
    news = asyncio.Event()

    async def view() -> None:
        client = await connected(port)
        await client.say(b"GET /live?lang=en&front=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        count = -1  # what a page is told at once is no block
        while count < blocks:
            line = await client.reader.readline()
            if line.startswith(BLOCK):
                count += 1
                if count:
                    await news.wait() if not told else None
                    found.append(time.perf_counter() - told["last"])
        client.writer.close()

    async def hear() -> None:
        async with connect(f"ws://127.0.0.1:{node.port('ws')}", max_size=1 << 24) as socket:
            await socket.send(
                '{"jsonrpc":"2.0","method":"call","params":["database_api","set_block_applied_callback",[0]],"id":1}'
            )
            async for _ in socket:
                told["last"] = time.perf_counter()
                news.set()

    hearing = asyncio.ensure_future(hear())
    await asyncio.gather(*(view() for _ in range(VIEWERS)))
    hearing.cancel()
    return sorted(found)


async def at_blocks(node: NodeProcess, during: Callable[[], Awaitable[object]]) -> float:
    """What the node takes of the processor for a block, while something goes on."""
    await next_block(node)
    processes = children_of(node.process.pid)["node"]
    first, before = node.head, spent(processes)
    await during()
    await next_block(node)
    return (spent(processes) - before) * 1000 / (node.head - first)


async def next_block(node: NodeProcess) -> None:
    """Wait until a block has come."""
    first = node.head
    while node.head == first:  # noqa: ASYNC110 - another process makes it
        await asyncio.sleep(0.05)


async def show_live(node: NodeProcess, port: int) -> float:
    """Delays of open pages; what a block takes of the node meanwhile."""
    found: list[float] = []

    async def look() -> None:
        found.extend(await delays(node, port, BLOCKS))

    cost = await at_blocks(node, look)
    p50, p99 = (found[int(len(found) * part)] * 1000 for part in (0.5, 0.99))
    print(
        f"  {VIEWERS} open pages, {BLOCKS} blocks: p50 {p50:.1f} ms, p99 {p99:.1f} ms after the node tells of one",
        end="",
    )
    print(f" ({verdict(round(p99, 1), LIVE_MILLISECONDS, 'ms')})")
    return cost


def main() -> None:
    """Print all figures, and the load of the machine beside them."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        began = time.process_time()
        height, ids = fill(folder)
        load = " ".join(f"{each:.1f}" for each in os.getloadavg())
        made = f"made in {time.process_time() - began:.0f} s"
        print(f"  {OPERATIONS:,} operations of an account, {height:,} blocks, {made}; ", end="")
        print(f"load of the machine {load}")
        with serving(folder, "--explorer-endpoint=127.0.0.1:0") as node:
            node.wait_for("its head block")
            found = LISTENS.search(node.log)
            if found is None:
                raise AssertionError(node.log)
            port = int(found[1])
            asyncio.run(asked(port, ["/", "/validators", "/committee"]))
            asyncio.run(show_pages(node, port, kinds(height, ids)))
            with_pages = asyncio.run(show_live(node, port))
        with serving(folder) as node:
            alone = asyncio.run(at_blocks(node, lambda: asyncio.sleep(3 * BLOCKS)))
        print(f"  a block takes {with_pages:.1f} ms of the node's processor time with them, {alone:.1f} ms without")


if __name__ == "__main__":
    main()
