"""The APIs of plugins in an API worker: their methods ask the plugin's own process; pages and `openrpc.json` have
them.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from typing import Annotated, cast

import msgspec

from ledgerd.basics.framing.connection import FrameConnection
from ledgerd.basics.framing.frames import FrameFault, framed
from ledgerd.basics.quotas import HeldAmounts
from ledgerd.codec.json.text import Json
from ledgerd.plugins.messages import MOST_ANSWER, MOST_OPEN, MOST_REQUEST, MethodAnswer, MethodRequest, ServedApi
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.call.counts import UNCOUNTED
from ledgerd.rpc.call.declarations import Api, Method, every_method_of
from ledgerd.rpc.call.errors import INVALID_PARAMETERS, INVALID_REQUEST, PlainError, ServerFault
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.http.service import PageRoutes, Service

ANSWER_SECONDS = 15.0
CONNECT_SECONDS = 2.0
MOST_OF_ONE = 16
"""Requests of one client that wait for a plugin at a time."""

AnswerText = Annotated[str, Printed(dict)]

AWAY = "The plugin {} is not there now: try again later"
BUSY = "The plugin {} has too much to do: try again later"


class PluginLink(FrameConnection):
    """The connection to the process of a plugin, which answers in the order of the requests."""

    def __init__(self, served: ServedApi) -> None:
        super().__init__(MOST_ANSWER)
        self.served = served
        self._waiting = deque[asyncio.Future[bytes]]()
        self._shares = HeldAmounts(MOST_OPEN)
        self._connecting = asyncio.Lock()

    async def ask(self, asked: MethodRequest) -> MethodAnswer:
        request = framed(msgspec.json.encode(asked))
        if len(request) > MOST_REQUEST:
            raise PlainError(f"A request to a plugin has at most {MOST_REQUEST} bytes", INVALID_REQUEST)
        # Some wait for the connection, and of some the client has left before the answer.
        waiting = max(self._shares.total, len(self._waiting))
        if waiting >= MOST_OPEN or self._shares.of(asked.share) >= MOST_OF_ONE:
            raise PlainError(BUSY.format(self.served.name))
        self._shares.change(asked.share, 1)
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return msgspec.json.decode(await self._exchanged(request), type=MethodAnswer)
        except TimeoutError:
            raise ServerFault(BUSY.format(self.served.name)) from None
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            raise ServerFault(AWAY.format(self.served.name)) from None
        finally:
            self._shares.change(asked.share, -1)

    async def _exchanged(self, request: bytes) -> bytes:
        async with self._connecting:
            if self._transport is None:
                loop = asyncio.get_running_loop()
                async with asyncio.timeout(CONNECT_SECONDS):
                    await loop.create_connection(lambda: self, "127.0.0.1", self.served.port)
        if self._transport is None:
            raise ConnectionResetError
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append(answer)
        self._transport.write(request)
        return await answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        cast("asyncio.Transport", transport).write(framed(self.served.token.encode()))

    def receive(self, frame: bytes) -> None:
        if not self._waiting:
            raise FrameFault("an answer that nobody waits for")
        answer = self._waiting.popleft()
        if not answer.done():
            answer.set_result(frame)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - that it has ended says enough
        self._transport = None
        while self._waiting:
            answer = self._waiting.popleft()
            if not answer.done():
                answer.set_exception(ConnectionResetError())


class PluginMethod(Method):
    """A method that the process of a plugin answers."""

    def __init__(self, api: str, name: str, described: dict[str, Json], link: PluginLink, most: int) -> None:
        super().__init__(api, name, self._ask, UNCOUNTED)
        self.summary = str(described.get("summary", ""))
        self.described = described
        self.counted_as = every_method_of(api)
        self._link, self._most = link, most

    def arguments(self, given: list[Json]) -> list[object]:
        return [given]

    async def _ask(self, node: Node, given: list[Json]) -> AnswerText:
        if not self._link.served.port:
            raise ServerFault(AWAY.format(self.api))
        try:
            params = [msgspec.Raw(msgspec.json.encode(each)) for each in given]
        except (ValueError, OverflowError) as fault:
            raise PlainError(f"An argument is no JSON for a plugin: {fault}", INVALID_PARAMETERS) from None
        answer = await self._link.ask(MethodRequest(self.name, params, node.share, self._most))
        if answer.code is not None:
            refusal = ServerFault if answer.is_fault else PlainError
            raise refusal(answer.message, answer.code, answer.data)
        return bytes(answer.result).decode()


class PluginApi(Api):
    """An API that the process of a plugin serves."""

    def __init__(self, link: PluginLink, most: int) -> None:
        served = link.served
        super().__init__(served.name, served.note.summary)
        self.records = served.note.schemas
        for each in served.note.methods:
            self._methods[each.name] = PluginMethod(served.name, each.name, each.described, link, most)


class PluginApis:
    """The APIs that plugins serve now, in one worker."""

    def __init__(self, service: Service, most: int, pages: Callable[[Sequence[Api]], PageRoutes]) -> None:
        self._service = service
        self._most = most
        self._pages = pages
        self._links: dict[str, PluginLink] = {}

    def receive(self, payload: bytes) -> None:
        """Take the news of the main process; the connections to processes that still run stay."""
        served = msgspec.json.decode(payload, type=list[ServedApi])
        links = {each.name: self._links.get(each.name) for each in served}
        for each in served:
            known = links[each.name]
            links[each.name] = known if known is not None and known.served == each else PluginLink(each)
        for name, before in self._links.items():
            if links.get(name) is not before:
                before.close()
        self._links = {name: link for name, link in links.items() if link is not None}
        apis = [PluginApi(link, self._most) for link in self._links.values()]
        self._service.dispatcher.apis |= {api.name: api for api in apis}
        self._service.routes = {**self._service.routes, **self._pages(apis)}
