"""A port for a test."""

from __future__ import annotations

from ledgerd.node.testnet.plan import free_ports


def free_port() -> int:
    """A port of this machine that nobody listens on, nor any connection goes out from."""
    return free_ports(1)[0]
