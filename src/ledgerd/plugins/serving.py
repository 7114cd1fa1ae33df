"""Serves the methods of an API plugin to the API workers of its node, in a process of its own, one call at a time.

The process is the plugin's alone, so that whatever a method does (hang in C, take all memory, end the process) costs
the plugin, and no worker. What Python can interrupt is interrupted after the time that the plugin declares.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import signal
from collections import deque
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import msgspec

from ledgerd.basics.framing.connection import FrameConnection
from ledgerd.basics.framing.frames import FrameFault, framed
from ledgerd.plugins.declarations import ApiPlugin, PluginError
from ledgerd.plugins.installed import text_of_failure
from ledgerd.plugins.messages import (
    MOST_ANSWER,
    MOST_OPEN,
    MOST_REQUEST,
    MethodAnswer,
    MethodRequest,
)
from ledgerd.plugins.methods import TypedMethod, description_of, methods_of
from ledgerd.plugins.reading import NodeReadView
from ledgerd.protocol.secrets import without_keys
from ledgerd.rpc.call.bounds import RequestBudget
from ledgerd.rpc.call.dispatch import INTERNAL, REFUSALS, Dispatcher
from ledgerd.rpc.call.errors import INVALID_REQUEST, OTHER
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import ApiView
from ledgerd.supervision.line_rates import LineRate, limited

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
TOKEN_SECONDS = 5.0
MOST_CONNECTIONS = 256
"""Connections of API workers."""
MOST_UNSENT = 64 << 20
"""Bytes of answers that an API worker has not read."""
AGAIN_SECONDS = 0.1
"""A method that has caught its interruption is interrupted again."""
LINES = LineRate("failures of the methods of a plugin", 10, 0.1)
LONGEST_MESSAGE = 2_000
"""Characters of a plugin's error."""


class TookTooLong(BaseException):
    """A method has had its time. No `except Exception` of the plugin catches it."""


class MethodCalls:
    """Calls the methods of one plugin, each within its time and bounds."""

    def __init__(self, name: str, plugin: ApiPlugin, dispatcher: Dispatcher, limits: Limits, folder: Path) -> None:
        self._name = name
        self._seconds = plugin.seconds
        self._methods = methods_of(plugin)
        self.note = description_of(name, plugin, self._methods.values())
        self._dispatcher = dispatcher
        self._limits = limits
        self._folder = folder
        self._is_running = False
        self.refresh: Callable[[], object] = lambda: None
        """Called before each call, where the state has to be looked for."""
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGALRM, self._interrupt)

    def answer(self, request: bytes) -> bytes:
        answer = msgspec.json.encode(self._answer(request))
        return answer if len(answer) <= MOST_ANSWER else msgspec.json.encode(_too_large(MOST_ANSWER))

    def _answer(self, request: bytes) -> MethodAnswer:
        asked = msgspec.json.decode(request, type=MethodRequest)
        method = self._methods.get(asked.method)
        if method is None:
            return MethodAnswer(code=OTHER, message=f"The plugin {self._name} has no method {asked.method}")
        try:
            return self._bounded(method, asked)
        except TookTooLong:
            self._time(0)  # the interruption may have come while the time was being stopped
            message = f"{self._name}.{method.name} took more than {self._seconds:g} s"
            return MethodAnswer(code=OTHER, message=message, is_fault=True)
        except PluginError as refusal:
            return _refusal(refusal)
        except REFUSALS as error:
            fault = self._dispatcher.fault(error)
            return MethodAnswer(code=fault.code, message=fault.message, data=fault.data)
        except (Exception, SystemExit, KeyboardInterrupt) as problem:  # noqa: BLE001 - it is logged
            words = {"plugin": self._name, "method": method.name, "reason": text_of_failure(problem)}
            log.warning("the plugin %(plugin)s: %(method)s has failed: %(reason)s", words, extra=limited(LINES))
            return MethodAnswer(code=INTERNAL.code, message=INTERNAL.message, is_fault=True)

    def _bounded(self, method: TypedMethod, asked: MethodRequest) -> MethodAnswer:
        self.refresh()
        self._dispatcher.head_changed()
        view = ApiView(self._dispatcher.node, RequestBudget(self._limits, share=asked.share))
        given = NodeReadView(self._dispatcher, view, self._folder)
        self._time(self._seconds)
        try:
            result = method(given, asked.params)
            text = msgspec.json.encode(result)
        finally:
            try:
                self._time(0)
            finally:
                given.close()
        return _too_large(asked.most) if 0 < asked.most < len(text) else MethodAnswer(result=msgspec.Raw(text))

    def _time(self, seconds: float) -> None:
        self._is_running = seconds > 0
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN_SECONDS if seconds else 0)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        if self._is_running:
            raise TookTooLong


def _refusal(refusal: PluginError) -> MethodAnswer:
    is_code = isinstance(refusal.code, int) and abs(refusal.code) < 1 << 31
    message = without_keys(str(refusal.message))[:LONGEST_MESSAGE].encode("utf-8", "replace").decode()
    return MethodAnswer(code=refusal.code if is_code else OTHER, message=message)


def _too_large(most: int) -> MethodAnswer:
    return MethodAnswer(code=INVALID_REQUEST, message=f"An answer has at most {most} bytes (webserver-max-answer-size)")


class _Queued(NamedTuple):
    """A request whose turn comes."""

    connection: WorkerConnection
    request: bytes


class MethodServer:
    """Listens for the API workers of this node, which show a token that only they know."""

    def __init__(self, answer: Callable[[bytes], bytes]) -> None:
        self._answer = answer
        self._queue = deque[_Queued]()
        self.token = secrets.token_hex(32)
        self.connections = set[WorkerConnection]()

    async def serve(self, report_port: Callable[[int], Awaitable[None]]) -> None:
        """Serve, for as long as what is told of the port goes on."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: WorkerConnection(self), HOST, 0)
        try:
            await report_port(server.sockets[0].getsockname()[1])
        finally:
            server.close()
            for each in tuple(self.connections):
                each.close()

    def put(self, connection: WorkerConnection, request: bytes) -> None:
        self._queue.append(_Queued(connection, request))
        if len(self._queue) == 1:
            asyncio.get_running_loop().call_soon(self._next)

    def _next(self) -> None:
        """Answer one request; heartbeats and other connections have their turns between two."""
        connection, request = self._queue.popleft()
        if self._queue:
            asyncio.get_running_loop().call_soon(self._next)
        if not connection.is_open:
            return
        try:
            answer = self._answer(request)
        except Exception:  # such as for want of memory
            log.exception("a request of an API worker could not be answered")
            connection.close()
        else:
            connection.send(answer)


class WorkerConnection(FrameConnection):
    """An API worker; its requests are answered in their order."""

    def __init__(self, server: MethodServer) -> None:
        super().__init__(MOST_REQUEST)
        self._server = server
        self._is_known = False
        self._waiting = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._server.connections.add(self)
        if len(self._server.connections) > MOST_CONNECTIONS:
            self.close()
        asyncio.get_running_loop().call_later(TOKEN_SECONDS, self._require_known)

    def _require_known(self) -> None:
        if not self._is_known:
            self.close()

    def receive(self, frame: bytes) -> None:
        if not self._is_known:
            self._is_known = hmac.compare_digest(frame, self._server.token.encode())
            if not self._is_known:
                raise FrameFault("another token")
            return
        self._waiting += 1
        if self._waiting > MOST_OPEN:
            raise FrameFault("too many requests at a time")
        self._server.put(self, frame)

    def send(self, answer: bytes) -> None:
        self._waiting -= 1
        if self._transport is not None:
            self._transport.write(framed(answer))
            if self._transport.get_write_buffer_size() > MOST_UNSENT:
                self.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - that it has ended says enough
        self._server.connections.discard(self)
