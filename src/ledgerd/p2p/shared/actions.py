"""The actions that the network state machine asks the driver for, and batches of blocks that wait to be applied."""

from __future__ import annotations

from collections import deque
from enum import Enum, auto
from typing import NamedTuple

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.endpoint import Endpoint


class Origin(Enum):
    """The request that a batch answers."""

    RANGE = auto()
    GAP = auto()
    EARLY = auto()
    """No request: its blocks arrived before their timestamps, and were kept until then."""


class Batch:
    """The blocks of one reply, and the result of applying them."""

    def __init__(self, origin: Origin, peer: int, blocks: tuple[Block, ...], *, is_last: bool = False) -> None:
        self.origin = origin
        self.peer = peer
        self.blocks = deque(blocks)
        self.first = blocks[0].number if blocks else 0
        self.last = blocks[-1].number if blocks else 0
        self.count = len(blocks)
        self.size = sum(len(block.packed) for block in blocks)
        self.is_last = is_last
        self.is_precomputed = True
        """Whether what can be computed ahead of its blocks is there, or was not asked for."""
        self.applied = 0
        self.forked = 0
        self.is_linked = False
        """Whether the last block that did not become the head is linked to a known branch."""
        self.refused_at: int | None = None

    def give_up(self) -> None:
        self.blocks.clear()


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
