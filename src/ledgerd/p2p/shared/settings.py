"""The options of the peer-to-peer network (spec 04, section 23)."""

from __future__ import annotations

import msgspec

from ledgerd.protocol.types.endpoint import Endpoint


class Settings(msgspec.Struct, frozen=True):
    """The options of p2p, with their defaults; nothing is listened on without an endpoint."""

    endpoint: Endpoint | None = None
    max_connections: int = 50
    seeds: tuple[Endpoint, ...] = ()
    is_isolated: bool = False
    peer_max_disconnect_hours: int = 8
    mempool_max_tx: int = 10_000
    mempool_max_bytes: int = 104_857_600
    mempool_max_tx_size: int = 65_536
    mempool_max_expiration_hours: int = 24
    peer_exchange_max_per_reply: int = 10
    peer_exchange_max_per_subnet: int = 2
    peer_exchange_min_uptime_sec: int = 600
    stats_interval_sec: int = 300
    has_emergency_key: bool = False
    """Whether this node holds the committee's key, and makes blocks in an emergency."""
    max_per_address: int = 4
    """Inbound connections from one address, unless it is exempt. The reference has no limit."""
    max_per_subnet: int = 10
    exempt: tuple[str, ...] = ("private",)
    """Addresses without limits: networks, `private` for this machine and private networks, or `none`."""
    trusted_hosts: tuple[str, ...] = ()
    """The hosts of trusted snapshot peers, by name or address: what two of them claim is believed."""
    recovers: bool = True
    """Whether a node that is wedged forgets branches, and goes back to the irreversible block."""
    auto_resync: bool = False
    """Whether it then replaces its state by a snapshot of a trusted peer."""
    reserved_outbound: int = 8
    """Connections reserved for outbound ones, so that nobody can isolate a node by dialling it."""
