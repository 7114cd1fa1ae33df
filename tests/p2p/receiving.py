"""Bytes of a peer, and all that is whole of its messages, at once: as a driver does in turns."""

from __future__ import annotations

from ledgerd.p2p.network_state import NetworkState


def receive_all(network: NetworkState, now: float, peer: int, data: bytes) -> None:
    network.receive(now, peer, data)
    while network.handle_next(now, peer):
        pass
