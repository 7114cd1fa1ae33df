"""Clients of one API worker over a large state of markets: sixteen connections, over HTTP, as fast as it answers.

The clients are a process of their own that does little more than count bytes. What it takes itself is shown too: where
that is much less than what the worker takes, it is not what is measured.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple, cast

import msgspec

from bench.bench_rpc import processor_seconds
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.projections.reading import ProjectionReader
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.rpc.api.prediction_market import PREDICTION_MARKET_API
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.http.connection import Speech
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.switchboard import Switchboard
from ledgerd.rpc.workers import ClientEndpoint, Workers
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader
from ledgerd.supervision.this_process import on_a_loop
from ledgerd.supervision.work import Work

CONNECTIONS = 16
BUFFER_BYTES = 1 << 20
HEAD_END, LENGTH = b"\r\n\r\n", b"Content-Length: "
BEGINNING = b'{"jsonrpc":"2.0","result":'


class WorkerState(msgspec.Struct):
    """What a worker answers from."""

    folder: str
    cached_answers: int


def parts(link: Link, limits: Limits, order: msgspec.Raw) -> Service:
    """The parts of a worker."""
    settings = msgspec.json.decode(order, type=WorkerState)
    state = Path(settings.folder) / STATE_FOLDER
    reader = StateReader.open(state, STORED_TABLES)
    node = Node(TESTNET, reader.snapshot, link, projections=ProjectionReader(state).snapshot)
    cache = AnswerCache(settings.cached_answers)
    return Service(Dispatcher([PREDICTION_MARKET_API], node, lambda: 0.0, cache=cache, limits=limits), limits)


class Client(asyncio.BufferedProtocol):
    """A connection that asks the next question as soon as it is answered."""

    def __init__(self, requests: Iterator[bytes]) -> None:
        self._requests = requests
        self._buffer = bytearray(BUFFER_BYTES)
        self._left = 0
        self.done = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._ask()

    def _ask(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self.done.set_result(None)
        else:
            self._transport.write(request)

    def get_buffer(self, sizehint: int) -> bytearray:  # noqa: ARG002 - asyncio's
        """Where the next bytes go: what has been counted is not needed any more."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Count what came; the head of an answer comes in one piece."""
        if self._left == 0:
            begin = self._buffer.find(HEAD_END, 0, nbytes) + len(HEAD_END)
            if not self._buffer.startswith(BEGINNING, begin):
                self.done.set_exception(RuntimeError(bytes(self._buffer[:nbytes])))
                return
            length = self._buffer.find(LENGTH, 0, begin) + len(LENGTH)
            self._left = begin + int(self._buffer[length : self._buffer.find(b"\r", length)])
        self._left -= nbytes
        if self._left == 0:
            self._ask()


def http_request(body: bytes) -> bytes:
    """A request as a client sends it."""
    return b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


def ask(port: int, questions: str) -> None:
    """Ask all questions of a file once, and print the seconds it took, and those of the processor."""
    requests = [http_request(body) for body in Path(questions).read_bytes().split(b"\n")]

    async def main() -> None:
        loop, rest = asyncio.get_running_loop(), iter(requests)
        began, processor = perf_counter(), process_time()
        pairs = [
            await loop.create_connection(lambda: Client(rest), "127.0.0.1", port)
            for _ in range(min(CONNECTIONS, len(requests)))
        ]
        await asyncio.gather(*(client.done for _, client in pairs))
        print(perf_counter() - began, process_time() - processor)

    on_a_loop(main)


class Figures(NamedTuple):
    """Requests a second, and the processor time of each: the worker's and that of all clients."""

    rate: float
    worker_seconds: float
    client_seconds: float


class RunningWorker:
    """One worker, and questions to it."""

    def __init__(self, port: int, process: int) -> None:
        self._port = port
        self._process = process

    async def asked(self, bodies: list[bytes]) -> Figures:
        """Ask all of these, sixteen at a time."""
        with tempfile.NamedTemporaryFile() as questions:
            questions.write(b"\n".join(bodies))
            questions.flush()
            before = processor_seconds([self._process])
            code = f"from bench.market_clients import ask; ask({self._port}, {questions.name!r})"
            clients = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=subprocess.PIPE)
            said, _ = await clients.communicate()
            spent = processor_seconds([self._process]) - before
        seconds, processor = map(float, said.split())
        count = len(bodies)
        return Figures(count / seconds, spent / count, processor / count)


@asynccontextmanager
async def one_worker(folder: Path, *, cached_answers: int = 0) -> AsyncIterator[RunningWorker]:
    """A worker over a state, with nothing remembered yet."""
    state = WorkerState(str(folder), cached_answers)
    endpoint = ClientEndpoint("127.0.0.1", 0, Speech.BOTH)
    running = Workers(Switchboard({}), [endpoint], "bench.market_clients:parts", state, count=1, work=Work("webserver"))
    await running.start()
    try:
        yield RunningWorker(running.addresses[0][1], running.processes[0])
    finally:
        await running.stop()
