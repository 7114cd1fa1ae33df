"""The HTTP server of an application: JSON-RPC by POST, pages for programs by GET, within the bounds of a node's."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from typing import Any

import msgspec

from ledgerd.app.declaring.application import Application
from ledgerd.app.feeding.progress import FeedProgress
from ledgerd.app.feeding.threads import JobThread
from ledgerd.app.serving.calling import FAILED, LARGEST_ANSWER, CallError, MethodCaller
from ledgerd.app.serving.description import metrics_of, openrpc_of
from ledgerd.basics.addresses import is_loopback
from ledgerd.basics.quotas import HeldAmounts
from ledgerd.rpc.call.bounds import LimitsReached
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http import responses
from ledgerd.rpc.http.gate import Gate
from ledgerd.rpc.http.reader import Arrival, ContinueExpected, Handshake, Refusal, Request, RequestReader
from ledgerd.rpc.http.requests import RequestConnection
from ledgerd.rpc.http.responses import JSON, TEXT, Page
from ledgerd.rpc.http.service import Server
from ledgerd.rpc.shares.loop_turns import LoopTurns
from ledgerd.supervision.work import Work

log = logging.getLogger(__name__)

INVALID_REQUEST, UNREADABLE = -32600, -32700
LARGEST_REQUEST = 256 << 10
LARGEST_BATCH = 50
THREADS = 4
MOST_WAITING = 200
"""Calls that wait for a thread; more are refused."""
CALL_SECONDS = 15.0
"""After which a client is answered that its call takes too long; a thread that a method never leaves is lost."""
LONGEST_LAG = 20
"""Blocks behind the head with which an application is still ready."""
FOREIGN = Page(b"this Host or Origin is not answered here; --allow-origin says which are", TEXT, 403)
PROMETHEUS = b"text/plain; version=0.0.4; charset=utf-8"


class ApplicationServer(Server):
    """What all connections share."""

    def __init__(
        self, application: Application, address: str, progress: FeedProgress, work: Work, origins: Iterable[str] = ()
    ) -> None:
        limits = Limits(body_bytes=LARGEST_REQUEST, stop_seconds=1.0, batch=LARGEST_BATCH)
        super().__init__(limits, LoopTurns(), HeldAmounts(limits.held_answer_bytes), LimitsReached())
        self._application, self._progress = application, progress
        self._caller = MethodCaller(application, address)
        self._threads = [JobThread(work, f"calls {number}") for number in range(THREADS)]
        self._free: asyncio.Queue[JobThread] = asyncio.Queue()
        for each in self._threads:
            self._free.put_nowait(each)
        self._waiting = self.calls = 0
        self._origins = tuple(origins)

    async def stop(self) -> None:
        await super().stop()
        for each in self._threads:
            each.end()
        self._caller.close()

    def gate(self, address: str, host: str) -> Gate | None:
        """On this machine alone, web pages are refused unless their origin is allowed: browsers send for any page."""
        return Gate((address, host), self._origins) if is_loopback(address) else None

    def page(self, path: bytes) -> Page:
        """What a GET is answered."""
        application, progress = self._application, self._progress
        if path == b"/health":
            return Page(b'{"healthy":true}')
        if path == b"/ready":
            return ready_page(progress)
        if path == b"/metrics":
            return Page(metrics_of(application, progress, self.calls), PROMETHEUS)
        if path == b"/openrpc.json":
            return Page(openrpc_of(application, self._caller.methods.values()))
        return Page(b"/openrpc.json has the methods, /ready and /metrics the state\n", TEXT, 404)

    async def answer(self, body: bytes) -> bytes:
        """What a POST is answered."""
        try:
            asked = msgspec.json.decode(body)
        except (msgspec.DecodeError, RecursionError):
            return _error(None, UNREADABLE, "the request is not JSON")
        if not isinstance(asked, list):
            return await self._one(asked)
        if not 0 < len(asked) <= LARGEST_BATCH:
            return _error(None, INVALID_REQUEST, f"a batch has from 1 to {LARGEST_BATCH} calls")
        answers: list[bytes] = []
        left = LARGEST_ANSWER
        for each in asked:
            answers.append(await self._one(each, left))
            left -= len(answers[-1])
        return b"[" + b",".join(answers) + b"]"

    async def _one(self, asked: Any, most: int = LARGEST_ANSWER) -> bytes:  # noqa: ANN401 - whatever came
        identity = asked.get("id") if isinstance(asked, dict) else None
        if not isinstance(asked, dict) or not _is_id(identity):
            return _error(None, INVALID_REQUEST, "a call is an object with id (a number or a text), method and params")
        self.calls += 1
        try:
            result = await self._called(asked.get("method"), asked.get("params"))
        except CallError as problem:
            return _error(identity, problem.code, str(problem))
        if len(result) > most:
            return _error(identity, FAILED, f"the answers of a batch have {LARGEST_ANSWER} bytes at most: ask for less")
        return b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (result, msgspec.json.encode(identity))

    async def _called(self, name: object, given: object) -> bytes:
        if self._waiting >= MOST_WAITING:
            raise CallError(FAILED, "too many calls wait already: ask again later")
        called: JobThread | None = None
        try:
            async with asyncio.timeout(CALL_SECONDS):
                called = await self._free_thread()
                answer = await asyncio.shield(self.tasks.begin(self._on(called, name, given)))
        except TimeoutError:
            if called is None:
                raise CallError(FAILED, "every thread is taken by calls that take long: ask again later") from None
            place = called.place(self._caller.file_of(name))
            words = {"method": name, "seconds": CALL_SECONDS, "place": place}
            log.warning("the method %(method)s has run for %(seconds)g s%(place)s; its client has an error", words)
            raise CallError(FAILED, f"{name} takes more than {CALL_SECONDS:g} s") from None
        if isinstance(answer, CallError):
            raise answer
        return answer

    async def _free_thread(self) -> JobThread:
        self._waiting += 1
        try:
            return await self._free.get()
        finally:
            self._waiting -= 1

    async def _on(self, thread: JobThread, name: object, given: object) -> bytes | CallError:
        """The thread is free again when it is, whether anybody waits for the answer or not. A refusal is no fault of
        this task, which would be logged.
        """
        try:
            return await thread.run(lambda: self._caller.call(name, given))
        except CallError as refusal:
            return refusal
        finally:
            self._free.put_nowait(thread)


class ApplicationConnection(RequestConnection):
    """A client's connection."""

    service: ApplicationServer

    def __init__(self, server: ApplicationServer, gate: Gate | None = None) -> None:
        limits = server.limits
        reader = RequestReader(header_bytes=limits.header_bytes, body_bytes=limits.body_bytes, takes_handshakes=False)
        super().__init__(server, reader)
        self._gate = gate

    def _arrive(self, arrival: Arrival) -> None:
        if isinstance(arrival, ContinueExpected):
            self.transport.write(responses.CONTINUE)
        elif isinstance(arrival, Request) and self._gate is not None and not self._gate.admits(arrival.headers):
            self._end_after(responses.page_head(FOREIGN, responses.CLOSING) + FOREIGN.body)
        else:
            self._await(Refusal(400) if isinstance(arrival, Handshake) else arrival)

    def _answer(self, request: Request) -> None:
        if request.method == b"OPTIONS":
            self._send(request, responses.PREFLIGHT % responses.KEEPING)
        elif request.method in (b"GET", b"HEAD"):
            self._show(request, self.service.page(request.path.partition(b"?")[0]))
        elif request.method != b"POST":
            self._show(request, Page(b"methods are called by POST\n", TEXT, 405))
        elif self.is_spare:
            self._show(request, responses.FULL)
        else:
            self._later = self.service.tasks.begin(self._answered(request))

    async def _answered(self, request: Request) -> None:
        try:
            answer = await self.service.answer(request.body)
        except Exception:
            self.transport.abort()
            raise
        self._later = None
        self._show(request, Page(answer, JSON))
        self.go_on()

    def _show(self, request: Request, page: Page) -> None:
        head = responses.page_head(page, responses.KEEPING if request.keeps_open else responses.CLOSING)
        self._send(request, head if request.method == b"HEAD" else head + page.body)


def ready_page(progress: FeedProgress) -> Page:
    reason = progress.failing
    if not reason and progress.behind > LONGEST_LAG:
        reason = f"{progress.behind} blocks are still to be applied"
    fields = {"ready": not reason, "block": progress.number, "head": progress.head}
    return Page(msgspec.json.encode({**fields, "reason": reason} if reason else fields), status=503 if reason else 200)


def _is_id(identity: object) -> bool:
    return identity is None or (isinstance(identity, int | float | str) and not isinstance(identity, bool))


def _error(identity: float | str | None, code: int, message: str) -> bytes:
    error = {"code": code, "message": message}
    return msgspec.json.encode({"jsonrpc": "2.0", "error": error, "id": identity})
