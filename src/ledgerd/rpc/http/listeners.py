"""Listening sockets for several workers on one port.

The main process keeps them open: when a worker ends, connections that wait to be accepted stay, and the next process
takes over the same socket. On Linux each worker has a socket of its own, and the kernel distributes connections over
them; elsewhere all workers share one.
"""

from __future__ import annotations

import asyncio
import errno
import socket
import sys
from collections.abc import Callable

from ledgerd.protocol.errors import OperatorError

BACKLOG = 1024
"""Connections that the system keeps until they are accepted: with more, newcomers wait for seconds to try again."""

ACCEPTED_AT_ONCE = 32
"""Connections of a socket that are accepted in a round of the loop."""


def resolve(host: str, port: int) -> tuple[str, int]:
    """The first address of a host: of a name the first of IPv4, as in the reference (spec 06, section 5.4)."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        found = socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)
    except OSError as error:
        raise OperatorError(f"{host} has no address to listen on: {error}") from error
    address = found[0][4]
    return str(address[0]), int(address[1])


def listen(host: str, port: int, workers: int, option: str = "") -> list[socket.socket]:
    """A socket for each worker, all of the same address; port 0 takes any that is free. An error names the option."""
    address = resolve(host, port)
    try:
        if sys.platform != "linux":
            shared = _bound(address, is_shared=False)
            return [shared] * workers
        # Without this check, a port that another program uses would be shared with it.
        _bound(address, is_shared=False).close()
        sockets = [_bound(address, is_shared=True)]
        address = sockets[0].getsockname()[:2]
        sockets += [_bound(address, is_shared=True) for _ in range(workers - 1)]
    except OSError as error:
        place = f"another address for {option}" if option else "another address"
        remedy = f"choose {place}, or stop the program that listens there"
        if error.errno != errno.EADDRINUSE:
            remedy = f"choose {place}"
        raise OperatorError(f"cannot listen on {host}:{port}: {error.strerror}: {remedy}") from error
    return sockets


async def accept_on(sock: socket.socket, protocol: Callable[[], asyncio.Protocol]) -> list[asyncio.Server]:
    """Accept connections of a socket. uvloop accepts one in each round of the loop, which in a flood is too slow: so
    several listen.
    """
    loop = asyncio.get_running_loop()
    # Each listens again, with a backlog of 100 unless it is told.
    with sock:
        return [await loop.create_server(protocol, sock=sock.dup(), backlog=BACKLOG) for _ in range(ACCEPTED_AT_ONCE)]


def _bound(address: tuple[str, int], *, is_shared: bool) -> socket.socket:
    is_ipv6 = ":" in address[0]
    sock = socket.socket(socket.AF_INET6 if is_ipv6 else socket.AF_INET, socket.SOCK_STREAM)
    try:
        if is_ipv6:
            # `[::]` is for IPv6 alone, so that another endpoint may have the same port of IPv4.
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
        sock.setblocking(False)
    except OSError:
        sock.close()
        raise
    return sock
