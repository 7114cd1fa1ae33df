"""What the network state machine asks of whoever has the sockets."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.p2p.shared.batches import Batch
from ledgerd.protocol.endpoint import Endpoint


class Send(NamedTuple):
    """Send a frame; the number tells which may be dropped when a peer reads slowly."""

    peer: int
    number: int
    frame: bytes


class Dial(NamedTuple):
    """Connect to an endpoint; what comes of it is told under this peer's id."""

    peer: int
    endpoint: Endpoint


class Close(NamedTuple):
    """Send what was asked to be sent, then end the connection."""

    peer: int
    reason: str


class RecoverKeys(NamedTuple):
    """Recover the keys that signed these blocks, beside the chain, and tell when that is done."""

    batch: Batch


Action = Send | Dial | Close | RecoverKeys
