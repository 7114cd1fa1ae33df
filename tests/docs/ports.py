"""Ports for a document that counts its own from a base."""

from __future__ import annotations

import os
import socket
from contextlib import ExitStack

HOST = "127.0.0.1"
COUNTED = (0, 1, 2, 50, 100, 101, 102, 150, 200, 201, 202, 250)
"""From the base: those of a network of three nodes, and of a validator beside it."""
SPAN = 300
FIRST, LAST = 21_000, 32_000


def free_base() -> int:
    """A base from which all of them are free. Processes that run tests side by side begin at different ones."""
    bases: list[int] = [*range(FIRST, LAST, SPAN)]
    begin = os.getpid() % len(bases)
    for base in bases[begin:] + bases[:begin]:
        with ExitStack() as plugs:
            try:
                for number in COUNTED:
                    plugs.enter_context(socket.create_server((HOST, base + number)))
            except OSError:
                continue
            return base
    raise AssertionError("no ports are free")
