"""An API worker: a process that reads the state and serves clients, until the node ends. `workers` starts it."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module

import msgspec

from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import HttpConnection, Speech
from ledgerd.rpc.http.listeners import accept_on
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import HEAD, STOP, Link
from ledgerd.supervision.tasks import first_of
from ledgerd.supervision.this_process import files_allowed, give_way, lasting_modules, on_a_loop, read_arguments


class ListeningSocket(msgspec.Struct, frozen=True):
    """An inherited listening socket, and the protocols served on it."""

    descriptor: int
    speech: Speech
    host: str


class WorkerArguments(msgspec.Struct, frozen=True):
    """The arguments of a worker process, read from standard input."""

    parts: str
    """`module:function`: called with the link, the limits and the settings, it returns the service."""
    settings: msgspec.Raw
    """The argument of this function, as JSON; only it knows the type."""
    limits: Limits
    link: int
    listeners: tuple[ListeningSocket, ...]
    number: int = 0


YIELDING = 5
"""The `nice` value of workers: blocks are more urgent than requests."""

UNBOUNDED = 1 << 16
"""The number of files to request from the system if connections are unlimited."""

WEB_SOCKETS = "ledgerd.rpc.http.streams.websocket"
"""Loaded before the first client comes, who would have to wait for it."""

log = logging.getLogger(__name__)

MakeService = Callable[[Link, Limits, msgspec.Raw], Service]


async def serve(arguments: WorkerArguments) -> None:
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    # Ctrl-C sends SIGINT to the whole process group: the node handles it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    link = Link(arguments.number)
    # Before the link is read: a node that is stopped at once says so before this process listens.
    link.on(STOP, lambda _: stopping.set())
    await loop.create_connection(lambda: link, sock=socket.socket(fileno=arguments.link))
    fitting = _fitting(arguments.limits)
    service = _parts(arguments.parts)(link, fitting, arguments.settings)
    if fitting.connections != arguments.limits.connections:
        counts = {"files": fitting.files, "accepted": fitting.connections, "wanted": arguments.limits.connections}
        log.warning(
            "the limit of open files is %(files)d: this API worker accepts %(accepted)d connections, not %(wanted)d",
            counts,
        )
    attach(service, link)
    servers = []
    if any(each.speech is not Speech.HTTP for each in arguments.listeners):
        import_module(WEB_SOCKETS)
    for each in arguments.listeners:
        sock = socket.socket(fileno=each.descriptor)
        gate = service.gate(sock.getsockname()[0], each.host)
        servers += await accept_on(sock, partial(HttpConnection, service, each.speech, gate))
    link.beat()
    await first_of(link.lost.wait(), stopping.wait())
    for server in servers:
        server.close()
    await service.stop()


def _fitting(limits: Limits) -> Limits:
    wanted = limits.files if limits.connections else UNBOUNDED
    allowed = files_allowed(wanted)
    if allowed >= wanted:
        return limits
    return limits.within(allowed)


def attach(service: Service, link: Link) -> None:
    link.on(HEAD, lambda _: service.dispatcher.head_changed())


def _parts(name: str) -> MakeService:
    module, _, function = name.partition(":")
    with lasting_modules():
        parts: MakeService = getattr(import_module(module), function)
    return parts


def main() -> None:
    give_way(YIELDING)
    arguments = read_arguments(sys.stdin.buffer.read(), WorkerArguments)
    on_a_loop(partial(serve, arguments))


if __name__ == "__main__":
    main()
