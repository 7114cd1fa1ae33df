"""An API worker: a process that reads the state itself, serves clients, and ends with the node.

It is started by `workers`, which writes its arguments to the standard input: the sockets that it inherits, and the
function that puts its parts together, which the node names.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module

import msgspec

from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.http.connection import HttpConnection, Speech
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.link.link import HEAD, STOP, Link
from ledgerd.supervision.main_loop import on_a_loop
from ledgerd.supervision.tasks import first_of


class Listener(msgspec.Struct, frozen=True):
    """An inherited listening socket, and what is spoken there."""

    descriptor: int
    speech: Speech


class WorkerArguments(msgspec.Struct, frozen=True):
    """All that a worker is told at its start."""

    parts: str
    """`module:function`, which is called with the link, the limits and the settings, and returns the service."""
    settings: msgspec.Raw
    """The record that this function takes, whose type it alone knows."""
    limits: Limits
    link: int
    listeners: tuple[Listener, ...]


YIELDING = 5
"""How much a worker gives way, in the words of `nice`: where processors are short, blocks go before questions."""

Parts = Callable[[Link, Limits, msgspec.Raw], Service]


async def serve(arguments: WorkerArguments) -> None:
    """Serve until the node asks for an end, or is gone."""
    loop = asyncio.get_running_loop()
    stopping = asyncio.Event()
    # An interrupt from the keyboard reaches the whole group of processes; the node decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    link = Link()
    await loop.create_connection(lambda: link, sock=socket.socket(fileno=arguments.link))
    service = _parts(arguments.parts)(link, arguments.limits, arguments.settings)
    attach(service, link, stopping)
    servers = [
        await loop.create_server(
            partial(HttpConnection, service, each.speech), sock=socket.socket(fileno=each.descriptor)
        )
        for each in arguments.listeners
    ]
    link.beat()
    await first_of(link.lost.wait(), stopping.wait())
    for server in servers:
        server.close()
    await service.stop()


def attach(service: Service, link: Link, stopping: asyncio.Event) -> None:
    """Let a service hear what the main process says."""

    def head(_: bytes) -> None:
        service.dispatcher.cache.clear()

    def stop(_: bytes) -> None:
        stopping.set()

    link.on(HEAD, head)
    link.on(STOP, stop)


def _parts(name: str) -> Parts:
    module, _, function = name.partition(":")
    parts: Parts = getattr(import_module(module), function)
    return parts


def main() -> None:
    """Read the arguments and carry it out."""
    if sys.platform != "win32":
        os.nice(YIELDING)
    arguments = msgspec.json.decode(sys.stdin.buffer.read(), type=WorkerArguments)
    on_a_loop(partial(serve, arguments))


if __name__ == "__main__":
    main()
