"""Bytes of a peer, and all that is whole of its messages, at once: as a driver does in turns."""

from __future__ import annotations

from ledgerd.p2p.network_state import NetworkState


def receive_all(network: NetworkState, now: float, peer: int, data: bytes) -> None:
    network.take(now, peer, data)
    while network.hear(now, peer):
        pass
