"""JSON-RPC over HTTP/1.1 (spec 05, section 2.2): one connection, whose requests are answered one after the other."""

from __future__ import annotations

from contextlib import aclosing
from enum import Enum
from functools import partial

from ledgerd.codec.errors import DecodeError
from ledgerd.protocol.errors import RuleViolation
from ledgerd.rpc.call.dispatch import AnswerMaker, Later
from ledgerd.rpc.call.limits import Asker
from ledgerd.rpc.http import responses
from ledgerd.rpc.http.gate import Gate
from ledgerd.rpc.http.reader import Arrival, ContinueExpected, Handshake, Refusal, Request, RequestReader
from ledgerd.rpc.http.requests import RequestConnection
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.http.streams.event_stream import EventStreamConnection

HEALTH = b"/health"

LARGE_ANSWER = 1 << 20
"""Bytes of an answer that is not copied after its head."""


class Speech(Enum):
    """The protocols of an endpoint."""

    HTTP = "http"
    WEBSOCKET = "websocket"
    BOTH = "both"


class HttpConnection(RequestConnection):
    """One HTTP connection of the API."""

    service: Service

    def __init__(self, service: Service, speech: Speech = Speech.BOTH, gate: Gate | None = None) -> None:
        limits = service.limits
        reader = RequestReader(
            header_bytes=limits.header_bytes,
            body_bytes=limits.body_bytes,
            takes_handshakes=speech is not Speech.HTTP,
        )
        super().__init__(service, reader)
        self._gate = gate
        self._speech = speech

    def data_received(self, data: bytes) -> None:
        # What clients send most is a request with the known head while nothing else is to be done or checked: this is
        # its short way.
        known, service = None, self.service
        if not (self.unread.size or self._waiting or self._is_ending) and service.is_open and self._may_go_on():
            known = self._reader.repeated(data)
        if known is None:
            super().data_received(data)
            return
        answer = service.dispatcher.answer(self._reader.repeated_body(data), self._client(known))
        if known.says_so or isinstance(answer, Later):
            service.received += len(data)
            self._give(known, answer)
            self._account()
        else:
            whole = responses.kept_json_head(len(answer)) + answer
            service.received += len(data)
            service.sent += len(whole)
            self.transport.write(whole)

    # -- requests

    def _arrive(self, arrival: Arrival) -> None:
        if isinstance(arrival, ContinueExpected):
            self.transport.write(responses.CONTINUE)
        elif not isinstance(arrival, Refusal) and self._is_foreign(arrival):
            self.service.count_limit("webserver-allowed-origins", self.address)
            self._end_after(responses.page_head(responses.FOREIGN, responses.CLOSING) + responses.FOREIGN.body)
        elif isinstance(arrival, Handshake):
            self._hand_over(arrival)
        else:
            self._await(arrival)

    def _is_foreign(self, arrival: Request | Handshake) -> bool:
        """Whether the gate refuses it: as a web page's, or as sent to a name that is not known to be this machine's."""
        if self._gate is None or self._gate.admits(arrival.headers):
            return False
        if isinstance(arrival, Handshake) or arrival.body or b"origin" in arrival.headers:
            return True
        return arrival.path.partition(b"?")[0] not in self._gate.open_paths

    def _answer(self, request: Request) -> None:
        service = self.service
        if self._is_for_health(request):
            self._show(request, service.routes[HEALTH]())
        elif self.is_spare:
            self._show(request, responses.FULL)
        elif self._speech is Speech.WEBSOCKET:
            self._end_after(responses.UPGRADE_REQUIRED)
        elif request.method == b"OPTIONS":
            self._send(request, responses.PREFLIGHT % self._header(request))
        elif not service.may_ask(self._client(request).address):
            self._show(request, responses.TOO_MANY)
        elif not request.body and self._asks_for_events(request):
            self._begin_events(request)
        elif not request.body:
            self._show(request, self._page(request))
        elif service.refusal:
            self._show(request, Page(service.refusal, status=503))
        else:
            self._give(request, service.dispatcher.answer(request.body, self._client(request)))

    def _client(self, request: Request | Handshake) -> Asker:
        """The client: that of the connection, unless this is a trusted proxy."""
        if self.charged:
            return self.asker
        found = self.service.proxies.client_of(self.host, request.headers.get(b"x-forwarded-for", b""))
        return self.asker if found == self.host else Asker(found, found)

    def _is_for_health(self, request: Request) -> bool:
        return (
            request.path.partition(b"?")[0] == HEALTH
            and request.method in {b"GET", b"HEAD"}
            and not request.body
            and self._speech is not Speech.WEBSOCKET
            and HEALTH in self.service.routes
        )

    def _give(self, request: Request, answer: bytes | Later) -> None:
        if isinstance(answer, Later):
            self._is_polling = answer.is_endless
            self._later_bytes = answer.held
            self._later = self.service.tasks.begin(self._answer_later(request._replace(body=b""), answer))
        else:
            self._send_answer(request, answer)

    async def _answer_later(self, request: Request, later: Later) -> None:
        turns, share = self.turns, self._client(request).share
        try:
            async with aclosing(later.answers) as answers:
                answer = await anext(answers, later.none)
                await turns.do(share, partial(self._give_late, request, answer))
        except Exception:
            self.transport.abort()
            raise

    def _give_late(self, request: Request, answer: AnswerMaker) -> None:
        self._later = None
        self._later_bytes = 0
        self._send_answer(request, answer())
        self.go_on()

    def _page(self, request: Request) -> Page:
        path = request.path.partition(b"?")[0]
        negotiated = self.service.negotiated.get(path)
        if negotiated is not None and request.method in {b"GET", b"HEAD"}:
            return negotiated(request.headers.get(b"accept", b""))
        route = self.service.routes.get(path) if request.method in {b"GET", b"HEAD"} else None
        return responses.EMPTY_BODY if route is None else route()

    # -- answers

    def _header(self, request: Request) -> bytes:
        if not request.keeps_open or self.service.is_stopping or self.is_spare:
            return responses.CLOSING
        return responses.KEEPING if request.says_so else b""

    def _show(self, request: Request, page: Page) -> None:
        body = b"" if request.method == b"HEAD" else page.body
        self._send(request, responses.page_head(page, self._header(request)) + body)

    def _send_answer(self, request: Request, answer: bytes) -> None:
        body = b"" if request.method == b"HEAD" else answer
        head = responses.json_head(len(answer), self._header(request))
        if len(body) < LARGE_ANSWER:
            self._send(request, head + body)
        else:
            self.service.sent += len(head)
            self.transport.write(head)
            self._send(request, body)

    # -- what follows in other protocols

    def _asks_for_events(self, request: Request) -> bool:
        return request.method == b"GET" and request.path.partition(b"?")[0] in self.service.event_streams

    def _begin_events(self, request: Request) -> None:
        path, _, query = request.path.partition(b"?")
        try:
            events = self.service.event_streams[path](query, request.headers.get(b"last-event-id", b""))
        except (DecodeError, RuleViolation) as problem:
            self._show(request, Page(str(problem).encode("utf-8", "replace"), responses.TEXT, 400))
            return
        self._drop()
        self.count_buffered(0)
        self.count_unsent(0)
        successor = EventStreamConnection(self.service, self.transport, self._client(request), events)
        if not self.service.replace(self, successor):
            self._end_after(responses.refusal(503))
            return
        self.transport.set_protocol(successor)
        successor.begin()

    def _hand_over(self, handshake: Handshake) -> None:
        # Workers have loaded it at their start; a node's main process answers for a moment only, and does without.
        from ledgerd.rpc.http.streams.websocket import WebSocketConnection, accept_key  # noqa: PLC0415 - as said

        accept = accept_key(handshake.headers)
        if accept is None or self._later is not None or self._waiting:
            self._end_after(responses.refusal(400))
            return
        rest = handshake.rest + self.unread.take_all()
        self._drop()
        self.count_buffered(0)
        self.count_unsent(0)
        successor = WebSocketConnection(self.service, self.transport, self._client(handshake))
        if self.is_spare or not self.service.replace(self, successor):
            self._end_after(responses.refusal(503))
            return
        self.transport.write(responses.switching(accept))
        self.transport.set_protocol(successor)
        if rest:
            successor.data_received(rest)
