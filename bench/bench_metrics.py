"""What metrics cost: requests and replay with them and without, and scrapes of a node with 8 workers.

Rounds with and without alternate, and processor time is compared, so that a machine that is busy with other things
slows both alike. While requests are counted, the memory is scraped once a second, as a Prometheus would.
"""

from __future__ import annotations

import asyncio
import http.client
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter, process_time, time

import msgspec

from bench.bench_chain import verdict
from bench.bench_rpc import DATABASE, KEPT, MADE, Figures, Round, measure, parts, processor_seconds
from ledgerd.metrics.cells import Cells
from ledgerd.metrics.layout import main_layout, worker_layout
from ledgerd.metrics.memory import MAIN_REGION, SharedMemory, worker_region
from ledgerd.metrics.table.requests import ANSWER, REQUEST_TIME
from ledgerd.node.metering.chain_meter import ChainMeter
from ledgerd.node.workers.known_methods import known_methods
from ledgerd.node.workers.metrics_worker import MetricsPage
from ledgerd.node.workers.worker_metrics import WorkerMetrics
from ledgerd.protocol.parameters import MAINNET
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import ClientEndpoint, Workers
from ledgerd.supervision.work import Work
from tests.chain.recorded_chains import advance, open_chain
from tests.recorded import recorded_blocks

ROUNDS = 5
COST = 0.02
SCRAPES = 300
WORKERS = 8
SERIES = 10_000
SCRAPE_SECONDS = 0.150
RECORDED = "open-2"
METHODS = tuple(method.full_name for method in DATABASE)
"""The methods of the workers whose requests are counted."""


def counting_parts(link: Link, limits: Limits, settings: msgspec.Raw) -> Service:
    """The parts of a worker that counts in the memory whose descriptor it is given."""
    service = parts(link, limits, settings)
    descriptor = msgspec.json.decode(settings, type=int)
    link.tasks.begin(WorkerMetrics(descriptor, link.number, service, METHODS).run())
    return service


def many_methods() -> tuple[str, ...]:
    """As many methods as it takes: those of the program, and made-up ones."""
    lines = len(ANSWER.values) + len(REQUEST_TIME.buckets) + 3
    known = known_methods()
    made_up = (f"database_api.made_up_{number}" for number in count())
    return (*known, *(next(made_up) for _ in range(max(0, SERIES // lines - len(known)))))


def scraping_parts(link: Link, limits: Limits, settings: msgspec.Raw) -> Service:
    """The parts of the process that answers scrapes, for as many methods as make 10,000 series."""
    page = MetricsPage(SharedMemory(msgspec.json.decode(settings, type=int)), many_methods())
    link.tasks.begin(page.run())
    node = Node(MAINNET, nothing_to_read, link)
    service = Service(Dispatcher((), node, time, limits=limits), limits)
    service.negotiated = {b"/metrics": page.page}
    return service


@asynccontextmanager
async def workers(made: str, memory: SharedMemory | None) -> AsyncIterator[Workers]:
    """One running worker of these parts."""
    descriptor = None if memory is None else memory.descriptor
    endpoint = ClientEndpoint("127.0.0.1", 0, Speech.BOTH)
    running = Workers(Switchboard({}), [endpoint], made, descriptor, count=1, work=Work("bench"))  # type: ignore[arg-type]
    running.inherited = () if memory is None else (memory.descriptor,)
    await running.start()
    try:
        yield running
    finally:
        await running.stop()


async def bench_requests() -> None:
    """Requests with metrics and without."""
    memory = SharedMemory.create(1)
    async with workers("bench.bench_rpc:parts", None) as off, workers(f"{__name__}:counting_parts", memory) as on:
        reading = asyncio.get_running_loop().create_task(scrape_every_second(memory))
        kinds: list[tuple[str, bytes, Round]] = []
        for words, method in (("kept", KEPT), ("made", MADE)):
            kinds += [(words, method, round_of(running)) for running in (off, on)]
        rounds = [[await serve(method) for _, method, serve in kinds] for _ in range(ROUNDS)]
        reading.cancel()
    columns = [Figures(*(median(part) for part in zip(*column, strict=True))) for column in zip(*rounds, strict=True)]
    for (words, _, _), without, counted in zip(kinds[::2], columns[::2], columns[1::2], strict=True):
        share = counted.cost / without.cost - 1
        print(
            f"  {words} answers: {without.cost:.2f} us of processor time each without metrics, {counted.cost:.2f} us "
            f"with: {share:+.1%} ({verdict(share, COST)})"
        )


def round_of(running: Workers) -> Round:
    """Measures a worker."""
    return lambda method: measure(running.addresses[0][1], running.processes, method)


async def scrape_every_second(memory: SharedMemory) -> None:
    """Make the text once a second, on this process."""
    page = MetricsPage(memory, METHODS)
    while True:
        page.page(b"application/openmetrics-text")
        await asyncio.sleep(1)


def bench_replay() -> None:
    """A replay of a recorded chain with metrics and without, as they follow the chain of a node."""
    memory = SharedMemory.create(WORKERS)
    layout = main_layout()
    cells = Cells(memory.region(MAIN_REGION, layout.size), layout)
    blocks = len(recorded_blocks(RECORDED))
    spent: dict[bool, list[float]] = {False: [], True: []}
    for is_counted in (False, True) * ROUNDS:
        with tempfile.TemporaryDirectory() as folder, open_chain(RECORDED, Path(folder)) as chain:
            if is_counted:
                ChainMeter(memory, cells, time).follow(chain)
            started = process_time()
            advance(chain, RECORDED, blocks)
            spent[is_counted].append(process_time() - started)
    share = min(spent[True]) / min(spent[False]) - 1
    each = (min(spent[True]) - min(spent[False])) / blocks
    print(f"  a replay of {RECORDED}, {blocks} blocks: {each * 1e6:+.1f} us a block, {share:+.1%} ", end="")
    print(f"({verdict(share, COST)})")


async def bench_scrapes() -> None:
    """Scrapes of 10,000 series of 8 workers, alone and while two processes keep the processors busy."""
    memory = SharedMemory.create(WORKERS)
    for region, layout in (
        (MAIN_REGION, main_layout()),
        *((worker_region(number), worker_layout(many_methods())) for number in range(WORKERS)),
    ):
        numbers = memory.region(region, layout.size)
        Cells(numbers, layout)
        for place in range(layout.size):
            numbers[place] = float(place % 1_000 + 1)
    async with workers(f"{__name__}:scraping_parts", memory) as running:
        await report("alone", running)
        code = "while True: sum(range(1000))"
        busy = [await asyncio.create_subprocess_exec(sys.executable, "-c", code) for _ in range(2)]
        try:
            await report("beside two busy processes", running)
        finally:
            for each in busy:
                each.kill()
                await each.wait()


async def report(words: str, running: Workers) -> None:
    """Scrape for a while, and print how long it took."""
    port = running.addresses[0][1]
    before = processor_seconds(running.processes)
    times, lines = await asyncio.to_thread(scraped, port)
    cost = (processor_seconds(running.processes) - before) / SCRAPES
    middle, last = quantiles(times, n=100)[49], quantiles(times, n=100)[98]
    print(
        f"  a scrape of {lines:,} series {words}: {middle * 1e3:.1f} ms in the middle, p99 {last * 1e3:.1f} ms "
        f"({verdict(last * 1e3, SCRAPE_SECONDS * 1e3, 'ms')}), {cost * 1e3:.1f} ms of processor time each"
    )


def scraped(port: int) -> tuple[list[float], int]:
    """The seconds of many scrapes, and the series of the last one."""
    times, text = [], b""
    for _ in range(SCRAPES):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        started = perf_counter()
        connection.request("GET", "/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0"})
        text = connection.getresponse().read()
        times.append(perf_counter() - started)
        connection.close()
    return times, sum(not line.startswith(b"#") for line in text.splitlines())


def main() -> None:
    """Print the figures."""
    asyncio.run(bench_requests())
    bench_replay()
    asyncio.run(bench_scrapes())
