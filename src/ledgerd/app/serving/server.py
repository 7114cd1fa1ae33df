"""The HTTP server of an application: JSON-RPC by POST, pages for programs by GET, within the bounds of a node's."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import msgspec

from ledgerd.app.declaring.application import Application
from ledgerd.app.feeding.progress import FeedProgress
from ledgerd.app.feeding.threads import JobThread
from ledgerd.app.serving.calling import FAILED, LARGEST_ANSWER, CallError, MethodCaller
from ledgerd.app.serving.description import metrics_of, openrpc_of
from ledgerd.app.serving.turns import CallTakesLong, CallTurns
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
TOO_LARGE = f"the answers of a batch have {LARGEST_ANSWER} bytes at most, less while many wait: ask for less"
THREADS = 4
LONGEST_LAG = 20
"""Blocks behind the head with which an application is still ready."""
FOREIGN = Page(b"this Host or Origin is not answered here; --allow-origin says which are", TEXT, 403)
PROMETHEUS = b"text/plain; version=0.0.4; charset=utf-8"


class ApplicationServer(Server):
    """What all connections of clients share: the methods, the limits and the pages."""

    def __init__(
        self, application: Application, address: str, progress: FeedProgress, work: Work, origins: Iterable[str] = ()
    ) -> None:
        limits = Limits(body_bytes=LARGEST_REQUEST, stop_seconds=1.0, batch=LARGEST_BATCH)
        super().__init__(limits, LoopTurns(), HeldAmounts(limits.held_answer_bytes), LimitsReached())
        self._application, self._progress = application, progress
        self._caller = MethodCaller(application, address)
        self._threads = [JobThread(work, f"calls {number}") for number in range(THREADS)]
        self._turns = CallTurns(self._threads, self.tasks)
        self.calls = 0
        self._origins = tuple(origins)

    async def stop(self) -> None:
        await super().stop()
        for each in self._threads:
            each.end()
        self._caller.close()

    def gate(self, address: str, host: str) -> Gate | None:
        """On a loopback endpoint, refuse web pages unless their origin is allowed: any page can make a browser send
        requests.
        """
        return Gate((address, host), self._origins) if is_loopback(address) else None

    def page(self, path: bytes) -> Page:
        """The answer to a GET."""
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

    async def answer(self, body: bytes, share: str) -> bytes:
        """The answer to a POST, whose cost counts for the sender; empty if it holds only notifications."""
        try:
            asked = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return _error(None, UNREADABLE, "the request is not JSON")
        if not isinstance(asked, list):
            return await self._one(asked, share)
        if not 0 < len(asked) <= LARGEST_BATCH:
            return _error(None, INVALID_REQUEST, f"a batch has from 1 to {LARGEST_BATCH} calls")
        return await self._batch(asked, share)

    async def _batch(self, asked: list[Any], share: str) -> bytes:
        """Answer a batch. Its finished answers count as unsent ones while the others are made."""
        answers, size = [], 0
        try:
            for each in asked:
                left = 0 if self.unsent_answers.is_too_much else LARGEST_ANSWER - size
                answers.append(await self._one(each, share, left))
                size += len(answers[-1])
                self.unsent_answers.change(share, len(answers[-1]))
        finally:
            self.unsent_answers.change(share, -size)
        told = [each for each in answers if each]
        return b"[" + b",".join(told) + b"]" if told else b""

    async def _one(self, asked: Any, share: str, most: int = LARGEST_ANSWER) -> bytes:  # noqa: ANN401 - whatever came
        """A notification, a call without an id, is made, and has no answer."""
        answer = await self._called(asked, share, most)
        is_notification = isinstance(asked, dict) and "id" not in asked and isinstance(asked.get("method"), str)
        return b"" if is_notification else answer

    async def _called(self, asked: Any, share: str, most: int) -> bytes:  # noqa: ANN401 - whatever came
        identity = asked.get("id") if isinstance(asked, dict) else None
        if not isinstance(asked, dict) or not _is_id(identity):
            return _error(None, INVALID_REQUEST, "a call is an object with id (a number or a text), method and params")
        self.calls += 1
        if most <= 0:
            return _error(identity, FAILED, TOO_LARGE)
        name, given = asked.get("method"), asked.get("params")
        try:
            result = await self._turns.run(share, lambda: self._caller.call(name, given))
        except CallTakesLong as problem:
            place = problem.thread.place(self._caller.file_of(name))
            words = {"method": name, "seconds": problem.seconds, "place": place}
            log.warning("the method %(method)s has run for %(seconds)g s%(place)s; its client has an error", words)
            return _error(identity, FAILED, f"{name} takes more than {problem.seconds:g} s")
        except CallError as problem:
            return _error(identity, problem.code, str(problem))
        if len(result) > most:
            return _error(identity, FAILED, TOO_LARGE)
        return b'{"jsonrpc":"2.0","result":%b,"id":%b}' % (result, msgspec.json.encode(identity))


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
            answer = await self.service.answer(request.body, self.asker.share)
        except Exception:
            self.transport.abort()
            raise
        self._later = None
        if answer:
            self._show(request, Page(answer, JSON))
        else:
            self._send(request, responses.NO_CONTENT % _connection(request))
        self.go_on()

    def _show(self, request: Request, page: Page) -> None:
        head = responses.page_head(page, _connection(request))
        self._send(request, head if request.method == b"HEAD" else head + page.body)


def _connection(request: Request) -> bytes:
    return responses.KEEPING if request.keeps_open else responses.CLOSING


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
