"""Requests a second of API workers over HTTP keep-alive, beside a bare server that answers a constant.

Rounds of all kinds alternate, and the middle one of each counts, so that a machine that is busy with other things
slows all of them alike. Besides the rate, the processor time of a request is shown: it needs no idle machine.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from time import perf_counter, time
from typing import NamedTuple, cast

import httptools
import msgspec

from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.rpc.call.counts import UNCOUNTED
from ledgerd.rpc.call.declarations import AnyValue, Api
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import ApiView, Node, nothing_to_read
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.listeners import listen
from ledgerd.rpc.http.responses import json_head
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.worker import YIELDING
from ledgerd.rpc.workers import ClientEndpoint, Workers
from ledgerd.supervision.this_process import on_a_loop
from ledgerd.supervision.work import Work

CONNECTIONS = 32
SECONDS = 2.0
ROUNDS = 3
IDS = 64

CALL = b'{"jsonrpc":"2.0","method":"call","params":["database_api","%b",[]],"id":%d}'
KEPT, MADE = b"get_dynamic_global_properties", b"get_accounts"
PROPERTIES = {f"property_{number}": f"{number}.000 VIZ" for number in range(30)}
"""About as long as the answer to that call."""

DATABASE = Api("database_api", "One method, whose answer is the same until the next block.")


@DATABASE.method(args=UNCOUNTED)
def get_dynamic_global_properties(_view: ApiView) -> AnyValue:
    """A constant of the usual size."""
    return PROPERTIES


@DATABASE.method(args=UNCOUNTED, cached=False)
def get_accounts(_view: ApiView) -> AnyValue:
    """As much as ten accounts, printed again each time: here the workers have more to do than the clients."""
    return [PROPERTIES] * 10


def parts(link: Link, limits: Limits, _settings: msgspec.Raw) -> Service:
    """The parts of a worker."""
    node = Node(MAINNET, nothing_to_read, link)
    return Service(Dispatcher([DATABASE], node, time, limits=limits), limits)


class Bare(asyncio.Protocol):
    """As little as a server of this kind can do: requests are parsed, and a constant is written."""

    answer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._parser = httptools.HttpRequestParser(self)

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_url(self, url: bytes) -> None: ...
    def on_header(self, name: bytes, value: bytes) -> None: ...
    def on_body(self, body: bytes) -> None: ...

    def on_message_complete(self) -> None:
        if self._parser.should_keep_alive():
            self._transport.write(json_head(len(self.answer)) + self.answer)


def serve_bare(descriptor: int) -> None:
    """Serve the constant: run in a process of its own."""
    node = Node(MAINNET, nothing_to_read, Link())
    answer = Dispatcher([DATABASE], node, time, limits=Limits()).answer(CALL % (KEPT, 1))
    if isinstance(answer, bytes):
        Bare.answer = answer

    if sys.platform != "win32":
        os.nice(YIELDING)  # as the workers beside which it is measured

    async def main() -> None:
        plug = socket.socket(fileno=descriptor)
        server = await asyncio.get_running_loop().create_server(Bare, sock=plug)
        await server.serve_forever()

    on_a_loop(main)


class Asker(asyncio.Protocol):
    """A client that asks again as soon as it is answered."""

    answers = 0

    def __init__(self, requests: list[bytes]) -> None:
        self._requests = deque(requests)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.write(self._requests[0])

    def data_received(self, data: bytes) -> None:
        # Answers are small and asked for one by one: each comes in one piece.
        if not data.endswith(b"}"):
            raise RuntimeError(data)
        Asker.answers += 1
        self._requests.rotate(1)
        self._transport.write(self._requests[0])


def ask(port: int, method: bytes) -> None:
    """Ask for a while and print how many answers came each second: run in a process of its own."""
    bodies = [CALL % (method, number) for number in range(IDS)]
    head = (
        b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: */*\r\n"
        b"Content-Length: %d\r\n\r\n"
    )
    requests = [head % len(body) + body for body in bodies]

    async def main() -> None:
        loop = asyncio.get_running_loop()
        for _ in range(CONNECTIONS):
            await loop.create_connection(lambda: Asker(requests), "127.0.0.1", port)
        await asyncio.sleep(SECONDS / 4)
        before, start = Asker.answers, perf_counter()
        await asyncio.sleep(SECONDS)
        print((Asker.answers - before) / (perf_counter() - start))

    on_a_loop(main)


class Figures(NamedTuple):
    """Of one round: requests a second, and microseconds of processor time that the server spent on each."""

    rate: float
    cost: float


def processor_seconds(processes: list[int]) -> float:
    """What processes have used so far; nothing where the system does not show it."""
    total = 0.0
    for process in processes:
        path = Path(f"/proc/{process}/schedstat")
        total += int(path.read_text().split()[0]) / 1e9 if path.exists() else 0.0
    return total


async def measure(port: int, processes: list[int], method: bytes) -> Figures:
    """One round."""
    before = processor_seconds(processes)
    code = f"from bench.bench_rpc import ask; ask({port}, {method!r})"
    asker = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE)
    said, _ = await asker.communicate()
    rate = float(said)
    return Figures(rate, (processor_seconds(processes) - before) / (rate * SECONDS * 1.25) * 1e6)


Round = Callable[[bytes], Awaitable[Figures]]


@asynccontextmanager
async def bare() -> AsyncIterator[Round]:
    """A running bare server."""
    [plug] = listen("127.0.0.1", 0, 1)
    code = f"from bench.bench_rpc import serve_bare; serve_bare({plug.fileno()})"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, pass_fds=(plug.fileno(),))
    try:
        yield lambda method: measure(plug.getsockname()[1], [process.pid], method)
    finally:
        process.kill()
        await process.wait()
        plug.close()


@asynccontextmanager
async def workers(count: int) -> AsyncIterator[Round]:
    """Running workers."""
    endpoint = ClientEndpoint("127.0.0.1", 0, Speech.BOTH)
    work = Work("webserver")
    running = Workers(Switchboard({}), [endpoint], "bench.bench_rpc:parts", None, count=count, work=work)
    await running.start()
    try:
        yield lambda method: measure(running.addresses[0][1], running.processes, method)
    finally:
        await running.stop()


async def compare() -> None:
    """Run all rounds and print the figures."""
    async with bare() as constant, workers(1) as one, workers(2) as two:
        kinds = ((constant, KEPT), (one, KEPT), (one, MADE), (two, MADE))
        rounds = [[await serve(method) for serve, method in kinds] for _ in range(ROUNDS)]
    columns = [Figures(*(median(part) for part in zip(*column, strict=True))) for column in zip(*rounds, strict=True)]
    names = ("a bare server", "one worker, kept answers", "one worker, made answers", "two workers, made answers")
    for name, figures in zip(names, columns, strict=True):
        print(f"{name}: {figures.rate:,.0f} requests/s, {figures.cost:.1f} us of processor time each")
    plain, kept, single, double = columns
    print(
        f"one worker does {kept.rate / plain.rate:.0%} of a bare server, and by processor time "
        f"{plain.cost / kept.cost:.0%}; two do {double.rate / single.rate:.2f} times one where clients and servers "
        f"share {os.cpu_count()} processors, and by processor time {2 * single.cost / double.cost:.2f} times"
    )


def main() -> None:
    """Print the figures."""
    asyncio.run(compare())


if __name__ == "__main__":
    main()
