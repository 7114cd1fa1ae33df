"""What the system tells of a listening socket."""

from __future__ import annotations

import socket
import struct
from typing import Protocol

_PLACE = 28
"""Of the limit among the system's facts on a TCP socket, where it listens (Linux)."""


class Plug(Protocol):
    """A socket."""

    def getsockopt(self, level: int, name: int, size: int) -> bytes: ...


def backlog_of(plug: Plug) -> int:
    """Connections that the system keeps for it until they are accepted."""
    (count,) = struct.unpack_from("I", plug.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104), _PLACE)
    return int(count)
