"""A whole node: time from start to first answer, idle memory, and its blocks under load by clients.

A slot counts as missed when the head falls behind the slots that passed. What is timed of a block is all of
`push_block` on the thread of the chain: its rules, the commit, and what is told of it.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Collection, Iterator
from functools import partial
from itertools import count
from pathlib import Path
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, NamedTuple

from bench.bench_api import request
from bench.bench_chain import verdict
from bench.bench_rpc import Asker
from bench.nodes import start_node
from ledgerd.chain.forks.outcome import Outcome
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.dev.development import DevOptions, DevRuntime
from ledgerd.node.dev.founding import PUBLISHED_ACCOUNTS_KEY, dev_producers
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.supervision.this_process import on_a_loop
from tests.node.processes import NodeProcess

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.protocol.blocks.block import Block

WORKERS = 2
CLIENTS = 64
BLOCKS = 12
TRANSFERS = 20
"""A second, so that the blocks have something in them."""

FIRST_ANSWER_SECONDS = 1.5
IDLE_BYTES = 250_000_000
APPLY_SECONDS = 0.150
PROPERTIES = ("database_api", "get_dynamic_global_properties")
ALICE, BOB = AccountName("alice"), AccountName("bob")


def dev(folder: Path) -> NodeProcess:
    """The command line of `ledgerd dev`."""
    words = ("--http=127.0.0.1:0", "--ws=127.0.0.1:0", f"--workers={WORKERS}", "--block-time=3600")
    return start_node("dev", "--data-dir", str(folder), *words)


class Start(NamedTuple):
    """From the start of the process to its first answer."""

    seconds: float
    processor_seconds: float
    """Of the node and all its workers, so that the figure says something on a busy machine too."""


def start_of(folder: Path) -> Start:
    """Start a node, ask it, and stop it."""
    began = monotonic()
    with dev(folder) as node:
        node.call(*PROPERTIES)
        start = Start(monotonic() - began, sum(map(processor_seconds, tree(node.process.pid))))
        node.stop()
    return start


def processor_seconds(process: int) -> float:
    """What all threads of a process have used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tree(process: int) -> Iterator[int]:
    """A process and all its descendants."""
    if not Path(f"/proc/{process}/task").exists():
        return  # the system does not show it
    yield process
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in children.read_text().split():
            yield from tree(int(child))


def proportional_bytes(process: int) -> int:
    """The proportional set size of a process: memory that it shares counts in part."""
    for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return 0


def show_start_and_rest(folder: Path) -> None:
    """The first two figures; the second only where the system shows it."""
    start_of(folder)
    spent, processor = min(start_of(folder) for _ in range(3))
    print(
        f"  start to first answer, existing state  {spent:.2f} s ({verdict(spent, FIRST_ANSWER_SECONDS, 's')}), "
        f"with {processor:.2f} s of processor time"
    )
    if not Path("/proc/self/smaps_rollup").exists():
        return
    with dev(folder) as node:
        for _ in range(4 * WORKERS):
            node.call(*PROPERTIES)
        sizes = [proportional_bytes(process) for process in tree(node.process.pid)]
        node.stop()
    held = " + ".join(f"{each / 1e6:.0f}" for each in sizes)
    target = verdict(sum(sizes) / 1e6, IDLE_BYTES / 1e6)
    print(f"  idle memory, node and {WORKERS} workers (PSS)   {sum(sizes) / 1e6:.0f} MB = {held} ({target} MB)")


def configured(folder: Path) -> Configuration:
    """A chain to develop on, in real time."""
    name, key = next(iter(dev_producers(TESTNET).items()))
    return read_configuration(
        {
            "data-dir": [str(folder)],
            "chain": ["testnet"],
            "plugin": ["chain webserver json_rpc database_api validator_api block_info validator operation_history"],
            "shared-file-size": ["256M"],
            "webserver-http-endpoint": ["127.0.0.1:0"],
            "webserver-thread-pool-size": [str(WORKERS)],
            "validator": [f'"{name}"'],
            "private-key": [key],
            "enable-stale-production": ["true"],
            "required-participation": ["0"],
        },
        folder,
    )


def hammer(port: int) -> None:
    """Send requests without pause on all connections until the process is killed; run in a child process."""
    bodies = (
        request(*PROPERTIES),
        request("database_api", "get_accounts", ["viz", "committee", "alice", "bob", "charlie", "dan", "eve", "frank"]),
        request("database_api", "get_block", 5),
        request("database_api", "lookup_accounts", "", 100),
        request("validator_api", "get_validators_by_vote", "", 50),
        request("block_info", "get_block_info", 5, 10),
    )
    head = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n"
    requests = [head % len(body) + body for body in bodies]

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(CLIENTS):
            await loop.create_connection(lambda: Whole(requests), "127.0.0.1", port)
        await loop.run_in_executor(None, sys.stdin.read)
        print(Asker.answers)

    os.nice(10)  # other people's clients use other people's processors
    on_a_loop(main)


class Whole(Asker):
    """Sends the next request as soon as an answer is complete."""

    def __init__(self, requests: list[bytes]) -> None:
        super().__init__(requests)
        self._came = b""

    def data_received(self, data: bytes) -> None:
        self._came += data
        head, _, body = self._came.partition(b"\r\n\r\n")
        length = next((line for line in head.split(b"\r\n") if line.startswith(b"Content-Length:")), b"")
        if body and len(body) >= int(length.partition(b":")[2]):
            self._came = b""
            super().data_received(b"}")


class Watched:
    """A running node whose `push_block` is timed."""

    def __init__(self) -> None:
        self.applied: list[float] = []

    def time(self, chain: Chain) -> None:
        """Time every block from now on; on the thread of the chain."""
        push = chain.push_block

        def timed(
            block: Block,
            skip: SkipFlags = Skip.NOTHING,
            *,
            commit: bool = True,
            instead_of: Collection[BlockId] = (),
        ) -> Outcome:
            began = perf_counter()
            outcome = push(block, skip, commit=commit, instead_of=instead_of)
            self.applied.append(perf_counter() - began)
            return outcome

        chain.push_block = timed  # type: ignore[method-assign]


def transfer(chain: Chain, number: int) -> None:
    """A transfer from one known account to another."""
    operation = Transfer(ALICE, BOB, tokens(1), str(number))
    draft = unsigned_transaction(chain.head_id, chain.head_time + 60, (operation,))
    chain.push_transaction(draft.signed(chain.network.chain_id, [PrivateKey.from_wif(PUBLISHED_ACCOUNTS_KEY)]))


async def produce(folder: Path) -> None:
    """Make blocks under load by clients, and print the figures of both."""
    runtime = DevRuntime(configured(folder), DevOptions())
    await runtime.start()
    chain, watched = runtime.chain.chain, Watched()
    await runtime.chain.run(partial(watched.time, chain))
    port = runtime.webserver.addresses[0][1]
    asker = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        f"from bench.bench_node import hammer; hammer({port})",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    began, first, first_slot = monotonic(), chain.head_number, chain.globals.current_aslot
    for number in count():
        await asyncio.sleep(1 / TRANSFERS)
        await runtime.chain.run(partial(transfer, chain, number))
        if chain.head_number >= first + BLOCKS or monotonic() > began + 2 * BLOCKS * BLOCK_INTERVAL:
            break
    blocks, slots = chain.head_number - first, chain.globals.current_aslot - first_slot
    spent = monotonic() - began
    said, _ = await asker.communicate(b"")
    await runtime.stop()
    slowest = max(watched.applied)
    print(f"  answers to {CLIENTS} clients meanwhile          {int(said) / spent:,.0f}/s by {WORKERS} workers")
    print(f"  slots missed of {slots}                     {slots - blocks} ({verdict(slots - blocks, 0)})")
    print(
        f"  slowest block of {len(watched.applied)}, with {TRANSFERS * BLOCK_INTERVAL} transfers each   "
        f"{slowest * 1000:.0f} ms ({verdict(slowest * 1000, APPLY_SECONDS * 1000, 'ms')})"
    )


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        show_start_and_rest(Path(folder) / "rest")
        on_a_loop(partial(produce, Path(folder) / "busy"))


if __name__ == "__main__":
    main()
