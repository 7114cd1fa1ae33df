"""The history in PostgreSQL: how fast a long chain is fed, how soon a new block is there, and how fast it is read.

A server of its own runs beside, with `fsync` on; its settings are printed. Chains are made up, as long as the
environment says: `OPERATIONS=1000000` (the default) in blocks of ten operations, and `BLOCKS` near-empty blocks, also
a million by default; 0 leaves one of the two out.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import perf_counter, process_time, sleep

import msgspec
import psycopg

from bench.bench_chain import verdict
from bench.bench_history import fill, request
from bench.market_clients import Client, http_request
from ledgerd.chain.ledger.events import Event, IrreversibleAdvanced
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.histories import History
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.postgres.feeder import Feeder
from ledgerd.history.postgres.reader import PostgresHistory
from ledgerd.history.settings import HistorySettings
from ledgerd.node.workers.settings import FeedOrder
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.rpc.api.history.operation_history import ACCOUNT_HISTORY
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import ClientEndpoint, Workers
from ledgerd.supervision.this_process import on_a_loop
from ledgerd.supervision.work import Work
from tests.history.made_blocks import block_on, told
from tests.server_watch import SCRIPT, begin_watch, use

OPERATIONS = int(os.environ.get("OPERATIONS", "1000000"))
BLOCKS = int(os.environ.get("BLOCKS", "1000000"))
A_BLOCK = 10
BLOCKS_A_COMMIT = 2_000
SETTINGS = ("fsync=on", "synchronous_commit=on", "shared_buffers=512MB", "max_wal_size=4GB", "autovacuum=on")

FED_A_SECOND = 5_000
LIVE_SECONDS = 0.2
PAGES_A_SECOND = 1_000
SLOWEST = 0.015
CONNECTIONS = 8
PAGE = 100
PAGES = 2_000
LIVE_BLOCKS = 40
LIVE_PAUSE = 0.25

SIZES = """
    SELECT relname, pg_table_size(oid), pg_indexes_size(oid) FROM pg_class
    WHERE relnamespace = 'ledger'::regnamespace AND relkind = 'r' AND pg_table_size(oid) > 100000 ORDER BY 2 DESC
"""


@contextmanager
def server() -> Iterator[str]:
    """The address of a database on a server of its own."""
    folder = Path(tempfile.mkdtemp(prefix="bench-", dir=os.environ.get("TMPDIR", "/var/tmp")))  # noqa: S108 - its own
    folder.chmod(0o755)
    with use(folder.with_suffix(".users")):
        begin_watch(folder, folder.with_suffix(".users"), folder.with_suffix(".users"))
        subprocess.run([str(SCRIPT), "start", str(folder), *SETTINGS], check=True)  # noqa: S603 - our own script
        address = f"postgresql://ledgerd@/ledger?host={folder}"
        with psycopg.connect(address.replace("/ledger?", "/postgres?"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE ledger")
            print(f"  PostgreSQL {connection.info.server_version // 10_000}, {', '.join(SETTINGS)}")
        yield address


def fill_near_empty(folder: Path, blocks: int) -> None:
    """A history of blocks without transactions, in each of which two virtual operations happened."""
    log, previous, events = BlockLog.open(folder / STATE_FOLDER), NO_BLOCK, list[Event]()
    with EmbeddedStore(folder / "history", HistorySettings(), log) as store:
        for number in range(1, blocks + 1):
            block = block_on(previous, number, [])
            log.append(number, block.packed)
            events.append(told(block))
            previous = block.id
            if number % BLOCKS_A_COMMIT == 0 or number == blocks:
                log.sync()
                store.record([*events, IrreversibleAdvanced(number)])
                events.clear()
    log.close()


def feed_all(address: str, folder: Path) -> None:
    """The first load, and how long it takes with the indexes; the sizes of the tables."""
    source = HistorySource(folder, HistorySettings())
    began, used = perf_counter(), process_time()
    with Feeder.connected(address, source, HistorySettings(), TESTNET.chain_id) as feeder:
        while feeder.step():
            pass
        count = feeder.connection.execute("SELECT count(*) FROM operations").fetchall()[0][0]
        seconds = perf_counter() - began
        rate = count / seconds
        print(
            f"  {count:,} operations fed and indexed in {seconds:,.1f} s ({process_time() - used:,.1f} s of the "
            f"feeder's processor): {rate:,.0f} operations/s ({verdict(rate, FED_A_SECOND, at_most=False)})"
        )
        for table, size, keys in feeder.connection.execute(SIZES):
            each = 1_000_000 / count / (1 << 20)
            print(f"    {table}: {size * each:,.0f} MiB a million operations, and {keys * each:,.0f} MiB of indexes")
    source.close()


# -- live

REACHED = "SELECT head FROM ledger.feed WHERE is_indexed AND head >= %s"


def measure_live(address: str, folder: Path) -> None:
    """How long after its commit in the history of the node a block is in PostgreSQL."""
    order = FeedOrder(str(folder), TESTNET.chain_id, HistorySettings(store=address), "text")
    ours, theirs = socket.socketpair()
    command = (sys.executable, "-m", "ledgerd.node.workers.beside.history_feeder")
    plug = theirs.fileno()
    feeder = subprocess.Popen(command, stdin=plug, stdout=plug, stderr=subprocess.DEVNULL)  # noqa: S603 - ours
    theirs.close()
    ours.sendall(msgspec.json.encode(order) + b"\n")
    ours.recv(65_536)
    log = BlockLog.open(folder / STATE_FOLDER)
    last = log.block(log.head_number)
    previous, number = (NO_BLOCK, 0) if last is None else (last.id, last.number)
    with psycopg.connect(address, autocommit=True) as watching:
        _wait_for(watching, number)
        with EmbeddedStore(folder / "history", HistorySettings(), log) as store:
            delays = sorted(_live_delays(store, watching, previous, number))
    ours.close()
    feeder.wait()
    log.close()
    slowest = delays[-1]
    print(
        f"  a new block of {A_BLOCK} operations is in PostgreSQL after {delays[len(delays) // 2] * 1_000:.0f} ms, "
        f"after {slowest * 1_000:.0f} ms at most ({verdict(slowest, LIVE_SECONDS)})"
    )


def _live_delays(
    store: EmbeddedStore, watching: psycopg.Connection[tuple[int]], previous: BlockId, number: int
) -> Iterator[float]:
    for each in range(number + 1, number + 1 + LIVE_BLOCKS):
        block = block_on(previous, each, [[place] for place in range(A_BLOCK)])
        store.record([told(block)])
        yield _wait_for(watching, each)
        previous = block.id
        sleep(LIVE_PAUSE)


def _wait_for(watching: psycopg.Connection[tuple[int]], number: int) -> float:
    """Seconds until a block is there."""
    began = perf_counter()
    while watching.execute(REACHED, (number,)).fetchone() is None:
        sleep(0.002)
    return perf_counter() - began


# -- reading


def parts(link: Link, limits: Limits, order: msgspec.Raw) -> Service:
    """The parts of a worker that answers from PostgreSQL."""
    settings = msgspec.json.decode(order, type=HistorySettings)
    history = PostgresHistory(settings.store or "", settings)
    node = Node(TESTNET, nothing_to_read, link, {History: history})
    return Service(Dispatcher([ACCOUNT_HISTORY], node, lambda: 0.0, cache=AnswerCache(0), limits=limits), limits)


class TimedClient(Client):
    """A connection that notes how long each answer took."""

    def __init__(self, requests: Iterator[bytes], took: list[float]) -> None:
        super().__init__(requests)
        self._took = took
        self._begun = 0.0

    def _ask(self) -> None:
        now = perf_counter()
        if self._begun:
            self._took.append(now - self._begun)
        self._begun = now
        super()._ask()


def ask(port: int, first: int, last: int) -> None:
    """Ask for each page of an account between two entries once; print requests a second, and the slowest hundredth."""
    wanted = range(last, first + PAGE, -PAGE)[:PAGES]
    bodies = [request("account_history", "get_account_history", "alice", each, PAGE - 1) for each in wanted]

    async def main() -> None:
        loop, rest, took = asyncio.get_running_loop(), iter(map(http_request, bodies)), list[float]()
        began = perf_counter()
        pairs = [
            await loop.create_connection(lambda: TimedClient(rest, took), "127.0.0.1", port) for _ in range(CONNECTIONS)
        ]
        await asyncio.gather(*(client.done for _, client in pairs))
        print(len(bodies) / (perf_counter() - began), sorted(took)[len(took) * 99 // 100])

    on_a_loop(main)


@asynccontextmanager
async def workers(address: str) -> AsyncIterator[int]:
    """The port of two workers."""
    endpoint, order = ClientEndpoint("127.0.0.1", 0, Speech.BOTH), HistorySettings(store=address)
    work = Work("webserver")
    running = Workers(Switchboard({}), [endpoint], "bench.bench_history_sql:parts", order, count=2, work=work)
    await running.start()
    try:
        yield running.addresses[0][1]
    finally:
        await running.stop()


async def measure_reading(address: str) -> None:
    """Pages at the start, in the middle and at the end of an account's history, each asked for once."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        ((entries,),) = connection.execute("SELECT entries FROM ledger.accounts WHERE account = 'alice'").fetchall()
    async with workers(address) as port:
        third = entries // 3
        for what, first in (("start", 0), ("middle", third), ("end", 2 * third)):
            code = f"from bench.bench_history_sql import ask; ask({port}, {first}, {first + third - 1})"
            clients = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE)
            rate, slowest = map(float, (await clients.communicate())[0].split())
            print(
                f"  {PAGE} entries at the {what:6} of {entries:,}: {rate:,.0f}/s "
                f"({verdict(rate, PAGES_A_SECOND, at_most=False)}), 99 of 100 within {slowest * 1_000:.1f} ms "
                f"({verdict(slowest, SLOWEST)})"
            )


def measure_transfers() -> None:
    """Blocks of ten operations: loaded, live and read."""
    with tempfile.TemporaryDirectory() as name, server() as address:
        fill(Path(name), entries=OPERATIONS, operations_a_block=A_BLOCK)
        feed_all(address, Path(name))
        measure_live(address, Path(name))
        asyncio.run(measure_reading(address))


def measure_near_empty() -> None:
    """Near-empty blocks: loaded."""
    with tempfile.TemporaryDirectory() as name, server() as address:
        fill_near_empty(Path(name), BLOCKS)
        print(f"  {BLOCKS:,} near-empty blocks:")
        feed_all(address, Path(name))


def main() -> None:
    """Print every figure."""
    if OPERATIONS:
        measure_transfers()
    if BLOCKS:
        measure_near_empty()
