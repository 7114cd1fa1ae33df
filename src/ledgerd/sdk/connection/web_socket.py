"""Requests over WebSocket, one after the other on each connection; and the node's word that there is a new block."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, WebSocketException

from ledgerd.basics.failures import reason_of
from ledgerd.client.envelope import NodeCall, packed, request_of
from ledgerd.client.exchange import HttpAnswer, HttpFault, TooLarge, Unanswered
from ledgerd.client.pool import Unreached
from ledgerd.sdk.connection.limits import ClientLimits

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

MESSAGE_TOO_BIG = 1009
ENVELOPE_BYTES = 40
"""The first bytes of an answer, which say whether it is an error (spec 05, section 5.1)."""
SUBSCRIBE = packed(request_of(1, NodeCall("database_api", "set_block_applied_callback", (0,)))).decode()


class SocketPool:
    """Connections that stay open, each with one request at a time: nodes answer out of order (spec 05, section 2.3)."""

    def __init__(self, url: str, limits: ClientLimits) -> None:
        self._url, self._limits = url, limits
        self._idle: list[ClientConnection] = []
        self._is_closed = False

    async def post(self, body: bytes, most: int, *, is_repeatable: bool = True) -> HttpAnswer:
        """The answer to JSON, in the same way as over HTTP."""
        while is_repeatable and self._idle:
            with suppress(Unanswered):
                return await self._through(self._idle.pop(), body, most)
        return await self._through(await open_socket(self._url, self._limits), body, most)

    async def _through(self, socket: ClientConnection, body: bytes, most: int) -> HttpAnswer:
        try:
            await socket.send(body.decode())
            answer = await socket.recv(decode=False)
        except WebSocketException as problem:
            socket.transport.abort()
            raise _fault(problem) from None
        except BaseException:
            socket.transport.abort()  # an answer that comes later would be taken for that to the next request
            raise
        if self._is_closed or len(self._idle) >= self._limits.at_once:
            socket.transport.abort()
        else:
            self._idle.append(socket)
        if len(answer) > most:
            raise TooLarge(f"an answer of more than {most:,} bytes")
        return HttpAnswer(HTTPStatus.OK, "", answer)

    def close(self) -> None:
        self._is_closed = True
        for socket in self._idle:
            socket.transport.abort()
        self._idle.clear()


def _fault(problem: WebSocketException) -> HttpFault:
    is_long = (
        isinstance(problem, ConnectionClosed) and problem.sent is not None and problem.sent.code == MESSAGE_TOO_BIG
    )
    return TooLarge("an answer of more bytes than it may have") if is_long else Unanswered("the connection ended")


async def open_socket(url: str, limits: ClientLimits) -> ClientConnection:
    try:
        async with asyncio.timeout(limits.connect_seconds):
            return await connect(url, max_size=limits.largest_answer, open_timeout=None, close_timeout=1)
    except TimeoutError:
        raise Unreached(f"no connection within {limits.connect_seconds:g} s") from None
    except (OSError, WebSocketException) as problem:
        raise Unreached(reason_of(problem)) from None


class BlockSubscription:
    """Says that a node has a new block, as soon as it does. What it says of the block is not read: it is asked for."""

    def __init__(self, url: str, limits: ClientLimits) -> None:
        self._url, self._limits = url, limits
        self._socket: ClientConnection | None = None
        self._is_refused = False

    async def wait(self, seconds: float) -> bool:
        """Wait for a block, at most so long; false where the node does not say."""
        if self._is_refused:
            return False
        try:
            async with asyncio.timeout(seconds):
                if self._socket is None:
                    self._socket = await open_socket(self._url, self._limits)
                    await self._socket.send(SUBSCRIBE)
                answer = await self._socket.recv(decode=False)
        except TimeoutError:
            return self._socket is not None
        except (OSError, WebSocketException):
            self.close()
            return False
        self._is_refused = b'"error"' in answer[:ENVELOPE_BYTES]
        if self._is_refused:
            self.close()
        return not self._is_refused

    def close(self) -> None:
        if self._socket is not None:
            self._socket.transport.abort()
            self._socket = None
