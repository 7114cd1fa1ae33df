"""What the operator chooses of the network (spec 04, section 23)."""

from __future__ import annotations

import msgspec

from ledgerd.p2p.wire.endpoints import Endpoint


class Settings(msgspec.Struct, frozen=True):
    """Options, with their defaults."""

    max_connections: int = 50
    seeds: tuple[Endpoint, ...] = ()
    is_isolated: bool = False
    has_emergency_key: bool = False
    max_disconnect_hours: int = 8
    mempool_max_count: int = 10_000
    mempool_max_bytes: int = 104_857_600
    mempool_max_size: int = 65_536
    mempool_max_hours: int = 24
    exchange_max_peers: int = 10
    exchange_max_per_subnet: int = 2
    exchange_min_uptime: int = 600
    max_per_address: int = 4
    """Inbound connections from one address; loopback and private networks count as many. The reference has no limit."""
    max_per_subnet: int = 10
    """Inbound connections from one neighbourhood of addresses."""
    reserved_outbound: int = 8
    """Places that inbound connections do not take, so that nobody can shut a node in by dialling it."""
