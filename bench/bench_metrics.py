"""What metrics cost: requests and replay with them and without, and scrapes of a node with 8 workers.

Rounds with and without alternate, and the least processor time of each counts, so that a machine that is busy with
other things slows both alike.
"""

from __future__ import annotations

import asyncio
import http.client
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from itertools import count
from math import inf
from pathlib import Path
from statistics import quantiles
from threading import Thread
from time import monotonic, perf_counter, process_time, time

import msgspec

from bench.bench_chain import verdict
from bench.bench_rpc import CALL, DATABASE, IDS, KEPT, MADE, Round, measure, processor_seconds
from ledgerd.chain.ledger.events import BlockApplied, Event
from ledgerd.metrics.cells import Cells, HistogramCell
from ledgerd.metrics.layout import main_layout, worker_layout
from ledgerd.metrics.memory import MAIN_REGION, SharedMemory, worker_region
from ledgerd.metrics.meters.requests import RequestMeter
from ledgerd.metrics.names import ValidatorPlaces
from ledgerd.metrics.table.process import CHAIN_LOOP, LOOP_DELAY, MAIN_LOOP
from ledgerd.metrics.table.requests import ANSWER, REQUEST_TIME
from ledgerd.node.parts.watching.chain_meter import ChainMeter
from ledgerd.node.workers.api_worker import WorkerMetrics
from ledgerd.node.workers.known_methods import known_methods
from ledgerd.node.workers.metrics_worker import MetricsPage
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import ClientEndpoint, Workers
from ledgerd.supervision.work import Work
from tests.chain.observing import observe
from tests.chain.recorded_chains import advance, open_chain
from tests.recorded import recorded_blocks

ROUNDS = 9
SAMPLES = 200
COST = 0.02
SCRAPES = 300
WORKERS = 8
SERIES = 10_000
SCRAPE_SECONDS = 0.150
DELAY_SECONDS = 0.005
TICK = 0.01
SETTLING, WATCHED_SECONDS, SPARE_SECONDS = 3.0, 15.0, 5.0
RECORDED = "open-2"
METHODS = tuple(method.full_name for method in DATABASE)
"""The methods of the workers whose requests are counted."""


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
async def workers(made: str, memory: SharedMemory | None, number: int = 1) -> AsyncIterator[Workers]:
    """Running workers of these parts."""
    descriptor = None if memory is None else memory.descriptor
    endpoint = ClientEndpoint("127.0.0.1", 0, Speech.BOTH)
    running = Workers(Switchboard({}), [endpoint], made, descriptor, count=number, work=Work("bench"))  # type: ignore[arg-type]
    running.inherited = () if memory is None else (memory.descriptor,)
    await running.start()
    try:
        yield running
    finally:
        await running.stop()


async def bench_requests() -> None:
    """Requests with metrics and without, through the dispatcher alone: over sockets, noise is larger than the cost."""
    memory = SharedMemory.create(WORKERS)
    layout = worker_layout(METHODS)
    cells = Cells(memory.region(worker_region(0), layout.size), layout)
    async with workers("bench.bench_rpc:parts", None) as running:
        whole = {method: (await round_of(running)(method)).cost for method in (KEPT, MADE)}
    off, on = service_of(), service_of()
    on.dispatcher.count_with(RequestMeter(cells, METHODS))
    for words, method, requests in (("kept", KEPT, 20_000), ("made", MADE, 2_000)):
        spent: list[list[float]] = [[], []]
        for _ in range(ROUNDS):
            for service, times in zip((off, on), spent, strict=True):
                times.append(dispatch_seconds(service.dispatcher, method, requests) / requests)
        added = (min(spent[1]) - min(spent[0])) * 1e6
        share = added / whole[method]
        print(
            f"  {words} answers: {added:+.2f} us of processor time each, of the {whole[method]:.1f} us that a worker "
            f"takes: {share:+.1%} ({verdict(share, COST)})"
        )
    metrics = WorkerMetrics(memory.descriptor, 1, on, METHODS)
    started = process_time()
    for _ in range(SAMPLES):
        metrics.sample()
    print(f"  what a worker samples once a second: {(process_time() - started) / SAMPLES * 1e6:.0f} us")


def service_of() -> Service:
    """A service as a worker has it."""
    return Service(Dispatcher([DATABASE], Node(MAINNET, nothing_to_read, Link()), time, limits=Limits()), Limits())


def dispatch_seconds(dispatcher: Dispatcher, method: bytes, requests: int) -> float:
    """The processor time of so many requests."""
    bodies = [CALL % (method, number) for number in range(IDS)]
    started = process_time()
    for number in range(requests):
        dispatcher.answer(bodies[number % IDS])
    return process_time() - started


def round_of(running: Workers) -> Round:
    """Measures a worker."""
    return lambda method: measure(running.addresses[0][1], running.processes, method)


def bench_replay() -> None:
    """What is counted of each block of a replay, beside what the block takes: both replayed alone."""
    memory = SharedMemory.create(WORKERS)
    layout = main_layout()
    cells = Cells(memory.region(MAIN_REGION, layout.size), layout)
    blocks = len(recorded_blocks(RECORDED))
    whole, counting = [], []
    for _ in range(ROUNDS):
        events: list[Event] = []
        with tempfile.TemporaryDirectory() as folder, open_chain(RECORDED, Path(folder)) as chain:
            observe(chain, events.append)
            started = process_time()
            advance(chain, RECORDED, blocks)
            whole.append(process_time() - started)
            meter = ChainMeter(cells, ValidatorPlaces(memory, cells), time)
            meter.observe(chain)
            started = process_time()
            for event in events:
                if isinstance(event, BlockApplied):
                    meter.applied(event)
                    meter.committed(0.0)
            counting.append(process_time() - started)
    share = min(counting) / min(whole)
    print(
        f"  a replay of {RECORDED}: {min(counting) / blocks * 1e6:.2f} us are counted of a block, which takes "
        f"{min(whole) / blocks * 1e6:.0f} us: {share:+.1%} ({verdict(share, COST)})"
    )


def filled_memory() -> SharedMemory:
    """Metrics of a node with 8 workers, each with a value."""
    memory = SharedMemory.create(WORKERS)
    for region, layout in (
        (MAIN_REGION, main_layout()),
        *((worker_region(number), worker_layout(many_methods())) for number in range(WORKERS)),
    ):
        numbers = memory.region(region, layout.size)
        Cells(numbers, layout)
        for place in range(layout.size):
            numbers[place] = float(place % 1_000 + 1)
    return memory


async def bench_scrapes() -> None:
    """Scrapes of 10,000 series of 8 workers, alone and while two processes keep the processors busy."""
    memory = filled_memory()
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


# -- what scrapes delay


def ticking_parts(link: Link, limits: Limits, settings: msgspec.Raw) -> Service:
    """The parts of a worker that does nothing but measure its event loop."""
    layout = worker_layout(many_methods())
    memory = SharedMemory(msgspec.json.decode(settings, type=int))
    cells = Cells(memory.region(worker_region(link.number), layout.size), layout)
    link.tasks.begin(tick(cells.histogram(LOOP_DELAY, MAIN_LOOP)))
    return Service(Dispatcher((), Node(MAINNET, nothing_to_read, link), time, limits=limits), limits)


async def tick(delays: HistogramCell) -> None:
    """Have the loop call back every few milliseconds, and count by how much it is late."""
    while True:
        due = monotonic() + TICK
        await asyncio.sleep(TICK)
        delays.observe(max(0.0, monotonic() - due))


class Delays:
    """The counted delays of the loops of the workers and of a thread like the chain's."""

    def __init__(self, memory: SharedMemory) -> None:
        self._places = []
        regions = [(worker_region(number), worker_layout(many_methods()), MAIN_LOOP) for number in range(WORKERS)]
        for region, layout, loop in (*regions, (MAIN_REGION, main_layout(), CHAIN_LOOP)):
            at = layout.of(LOOP_DELAY).place((loop,))
            self._places.append((memory.region(region, layout.size), at))

    def counts(self) -> list[list[float]]:
        """Of each loop, how many delays there were up to each bound, and above the last one."""
        return [[*numbers[at : at + len(LOOP_DELAY.buckets) + 1]] for numbers, at in self._places]


def p99_of(before: list[float], after: list[float]) -> float:
    """The bound below which 99 of 100 delays were, in seconds."""
    counts = [late - early for early, late in zip(before, after, strict=True)]
    seen = 0.0
    for bound, counted in zip((*LOOP_DELAY.buckets, inf), counts, strict=True):
        seen += counted
        if seen >= 0.99 * sum(counts):
            return bound
    return inf


async def bench_delays() -> None:
    """How late event loops of 8 workers and of the chain's thread call back, with a scrape a second and without."""
    memory = filled_memory()
    layout = main_layout()
    cells = Cells(memory.region(MAIN_REGION, layout.size), layout)
    delays = Delays(memory)
    ticker = Thread(target=lambda: asyncio.run(tick_for(cells.histogram(LOOP_DELAY, CHAIN_LOOP))), daemon=True)
    async with (
        workers(f"{__name__}:scraping_parts", memory) as scraping,
        workers(f"{__name__}:ticking_parts", memory, WORKERS),
    ):
        ticker.start()
        await asyncio.sleep(SETTLING)
        worst = []
        for is_scraped in (False, True):
            before = delays.counts()
            client = await scraping_client(scraping.addresses[0][1]) if is_scraped else None
            await asyncio.sleep(WATCHED_SECONDS)
            after = delays.counts()
            if client is not None:
                client.kill()
                await client.wait()
            *of_workers, of_chain = [p99_of(*each) for each in zip(before, after, strict=True)]
            worst.append((max(of_workers), of_chain))
    for words, without, scraped_too in zip(("of 8 workers", "of the chain's thread"), *worst, strict=True):
        print(
            f"  event loops {words} call back late by at most, p99: {without * 1e3:g} ms without scrapes, "
            f"{scraped_too * 1e3:g} ms with one a second ({verdict(scraped_too * 1e3, DELAY_SECONDS * 1e3, 'ms')})"
        )


async def tick_for(delays: HistogramCell) -> None:
    """Measure for as long as the bench takes."""
    with suppress(TimeoutError):
        async with asyncio.timeout(SETTLING + 2 * WATCHED_SECONDS + SPARE_SECONDS):
            await tick(delays)


async def scraping_client(port: int) -> asyncio.subprocess.Process:
    """A process that scrapes once a second, as Prometheus does."""
    code = (
        "import time, urllib.request\n"
        f"while True: urllib.request.urlopen('http://127.0.0.1:{port}/metrics').read(); time.sleep(1)"
    )
    return await asyncio.create_subprocess_exec(sys.executable, "-c", code)


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
    asyncio.run(bench_delays())
