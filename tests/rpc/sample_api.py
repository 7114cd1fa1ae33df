"""APIs as small as they can be, with methods of every kind, and the service that offers them."""

from __future__ import annotations

import asyncio
import os
import resource
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec

from ledgerd.codec.json.text import Json
from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.errors import OperatorError, RuleViolation
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.counts import UNCOUNTED, exactly
from ledgerd.rpc.call.declarations import AnyValue, Api, Nothing
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import ApiView, Node, nothing_to_read
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.subscribers import Subscription

NOW = 1_800_000_000

LITTLE = 64 << 20

DATABASE = Api("database_api", "What the tests ask for.")
BROADCAST = Api("network_broadcast_api", "What does not come at once.")

calls: list[str] = []
"""Each call of a method that counts its calls."""


def clock() -> float:
    return NOW


@DATABASE.method()
def get_hardfork_version(_view: ApiView) -> str:
    """The version that the recorded node had."""
    calls.append("get_hardfork_version")
    return "3.2.0"


@DATABASE.method(args=exactly(2), aliases=["join"])
def pair(_view: ApiView, name: AccountName, number: UInt32) -> AnyValue:
    """Its arguments, as they were understood."""
    return [name, number]


@DATABASE.method(args=UNCOUNTED)
def optional(_view: ApiView, first: UInt32, second: UInt32 = 7) -> AnyValue:
    """Its arguments, of which one has a default."""
    return [first, second]


@DATABASE.method(args=exactly(1))
def echo(_view: ApiView, value: AnyValue) -> AnyValue:
    """Its argument."""
    calls.append("echo")
    return value


@DATABASE.method(args=exactly(1))
def long(_view: ApiView, size: UInt32) -> str:
    """A long text."""
    return f"long:{'x' * size}"


@DATABASE.method()
def raw_bytes(_view: ApiView) -> str:
    """A text of the chain that is not UTF-8."""
    return "a\udcff"


@DATABASE.method()
def process(_view: ApiView) -> UInt32:
    """Which worker this is."""
    return os.getpid()


@DATABASE.method(cached=False)
def count(_view: ApiView) -> UInt32:
    """How often it was called."""
    calls.append("count")
    return calls.count("count")


@DATABASE.method()
def read_state(view: ApiView) -> UInt32:
    """What needs a state, where there may be none."""
    return view.state.revision


@DATABASE.method()
def break_down(_view: ApiView) -> Nothing:
    """A fault of ours."""
    raise ZeroDivisionError


@DATABASE.method()
def read_damaged(_view: ApiView) -> Nothing:
    """What the disk has spoilt."""
    raise OperatorError("block 7 cannot be read")


@BROADCAST.method(args=exactly(1))
async def broadcast(node: Node, value: str) -> Nothing:
    """What the main process decides over."""
    if value == "wrong":
        raise RuleViolation("value != wrong: It is wrong")
    await node.main.ask("broadcast", value.encode())
    return Nothing()


@BROADCAST.method(args=exactly(0))
async def charged(node: Node) -> str:
    """What a broadcast of who asks is charged to."""
    return node.share


@BROADCAST.method(args=exactly(1))
async def follow(node: Node, topic: str) -> AsyncGenerator[AnyValue, None]:
    """Every event of a topic."""
    async with aclosing(node.main.events(topic)) as events:
        async for event in events:
            yield event.decode()


class Main:
    """A main process that does what a test tells it."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, bytes]] = []
        self.listeners: list[Subscription] = []
        self.heard = asyncio.Event()
        self.may_answer = asyncio.Event()
        self.may_answer.set()

    async def ask(self, topic: str, payload: bytes) -> bytes:
        await self.may_answer.wait()
        self.asked.append((topic, payload))
        return b""

    def events(self, _topic: str) -> AsyncGenerator[bytes, None]:
        subscription = Subscription(self.listeners.remove)
        self.listeners.append(subscription)
        self.heard.set()
        return subscription

    def publish(self, event: bytes) -> None:
        for subscription in self.listeners:
            subscription.deliver(event)


def dispatcher(main: Any = None, *, entries: int = 10_000, limits: Limits | None = None) -> Dispatcher:
    node = Node(TESTNET, nothing_to_read, main or Main())
    cache = AnswerCache(entries)
    return Dispatcher([DATABASE, BROADCAST], node, clock, cache=cache, limits=limits or Limits())


def service(main: Any = None, limits: Limits | None = None) -> Service:
    limits = limits or Limits()
    routes = {b"/health": lambda: Page(b'{"ok":true}')}
    return Service(dispatcher(main, limits=limits), limits, routes)


class Little(msgspec.Struct, frozen=True):
    """The settings of workers whose memory is little for as long as there is a file."""

    file: str


def parts(link: Link, limits: Limits, settings: msgspec.Raw) -> Service:
    """The parts of a worker process, which has little memory for as long as there is a file."""
    given = msgspec.json.decode(settings, type=Little | None)
    if given is not None and Path(given.file).is_file():
        resource.setrlimit(resource.RLIMIT_AS, (LITTLE, resource.RLIM_INFINITY))
        bytearray(LITTLE)
    return service(link, limits)


def request(method: str, *arguments: Json, api: str = "database_api", identity: Json = 1) -> dict[str, Json]:
    arguments_given: Sequence[Json] = arguments
    return {"jsonrpc": "2.0", "method": "call", "params": [api, method, list(arguments_given)], "id": identity}
