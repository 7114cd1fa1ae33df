"""Ports for a document that counts its own from a base."""

from __future__ import annotations

import socket
from contextlib import ExitStack

HOST = "127.0.0.1"
COUNTED = (0, 1, 2, 50, 51, 100, 101, 102, 150, 151, 200, 201, 202, 250, 251)
"""From the base: those of a network of three nodes, and of validators beside it."""
SPAN = 300
BASES = range(3_000, 9_700, SPAN)
"""Below all ports that `tests.ports` gives, so that no test beside takes one before the document does."""

_held: dict[int, socket.socket] = {}
"""The bases of this process, each with its last port, by which other processes of tests know that it is taken."""


def free_base() -> int:
    """A base from which all of them are free, and stay so until this process uses them or ends."""
    for base in BASES:
        with ExitStack() as plugs:
            try:
                if base not in _held:
                    _held[base] = socket.create_server((HOST, base + SPAN - 1))
                for number in COUNTED:
                    plugs.enter_context(socket.create_server((HOST, base + number)))
            except OSError:
                continue
            return base
    raise AssertionError("no ports are free")
