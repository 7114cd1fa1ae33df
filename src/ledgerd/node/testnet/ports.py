"""Ports below the range of outgoing connections, which might have one of them by the time a node listens."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

LOWEST = 10_000
EPHEMERAL_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
USUAL_EPHEMERAL = 32_768
LEAST_CHOICE = 1_000
MOST_TRIES = 10_000


def free_ports(count: int, host: str = "127.0.0.1") -> list[int]:
    end = _first_ephemeral()
    found: list[int] = []
    with ExitStack() as sockets:
        for _ in range(MOST_TRIES):
            if len(found) == count:
                return found
            port = random.randrange(LOWEST, end)  # noqa: S311 - no secret
            with suppress(OSError):
                sockets.enter_context(socket.create_server((host, port)))
                found.append(port)
    raise OSError(f"no {count} ports of {host} are free between {LOWEST} and {end}")


def _first_ephemeral() -> int:
    """The first port that the system may give to an outgoing connection; a range that leaves too few is ignored."""
    try:
        first = int(EPHEMERAL_RANGE.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        first = USUAL_EPHEMERAL
    return first if first >= LOWEST + LEAST_CHOICE else USUAL_EPHEMERAL
