"""The public nodes of the main network, as the templates name them: whom to dial, and whose snapshots to trust."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.protocol.endpoint import Endpoint

PEER_PORT, SNAPSHOT_PORT = 2001, 8092


class PublicNode(NamedTuple):
    """A node that serves others, and in which way."""

    host: str
    is_seed: bool = True
    serves_snapshots: bool = True


PUBLIC_NODES = (
    PublicNode("seed3.viz.world"),
    PublicNode("seed1.viz.world"),
    PublicNode("seed2.viz.world", is_seed=False),
    PublicNode("rpc.viz.cx"),
)

SEEDS = tuple(Endpoint(node.host, PEER_PORT) for node in PUBLIC_NODES if node.is_seed)
SNAPSHOT_PEERS = tuple(Endpoint(node.host, SNAPSHOT_PORT) for node in PUBLIC_NODES if node.serves_snapshots)
