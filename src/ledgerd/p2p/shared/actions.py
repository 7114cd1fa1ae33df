"""The actions that the network state machine asks the driver for."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.p2p.shared.batches import Batch
from ledgerd.protocol.types.endpoint import Endpoint


class Send(NamedTuple):
    """Send a frame; its message number tells whether it may be omitted when the peer reads slowly."""

    peer: int
    number: int
    frame: bytes


class Dial(NamedTuple):
    """Connect to an endpoint; the result is reported with this peer's id."""

    peer: int
    endpoint: Endpoint


class Close(NamedTuple):
    """Close a connection, after its send buffer."""

    peer: int
    reason: str


class Precompute(NamedTuple):
    """Compute ahead, in other processes, what the bytes of these blocks decide; `precomputed` is called afterwards."""

    batch: Batch


Action = Send | Dial | Close | Precompute
