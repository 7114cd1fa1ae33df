"""The status of a node for everybody, and its details for the operator: made by the main process, kept by workers."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from ledgerd.codec.types.numbers import Int32, Int64, UInt32, UInt64
from ledgerd.rpc.link.topics import unpacked

UNKNOWN = -1


class SlotFacts(msgspec.Struct, frozen=True):
    """A slot that is over."""

    validator: str
    """The validator of the slot; empty if that is not known any more."""
    block: UInt32
    """The number of its block; 0 if it was missed."""
    delay: Int32
    """Milliseconds from its beginning until this node had applied its block; -1 if that is not known."""


class PeerCounts(msgspec.Struct, frozen=True):
    """How many peers stand where. Heights are what peers claim."""

    mode: str
    """`sync` while the node catches up, `forward` at the head of the chain, `alone` if it runs without peers."""
    fork_status: str
    """`normal`, or during a fork `looking` or `minority`."""
    connections: UInt32
    ahead: UInt32
    level: UInt32
    behind: UInt32
    highest: UInt32


class SyncFacts(msgspec.Struct, frozen=True):
    """How far the node is behind, and how fast it comes closer."""

    target: UInt32
    """The highest block of a peer that is believed; the head where none is above it."""
    blocks_a_second: UInt32
    seconds_left: Int64
    """-1 where that is not known."""


class PoolFacts(msgspec.Struct, frozen=True):
    """Transactions that wait for a block."""

    waiting: UInt32
    """Accepted by this node's chain."""
    relayed: UInt32
    """Kept to be sent to peers."""
    relayed_bytes: UInt32


class NodeStatus(msgspec.Struct, frozen=True):
    """How the node stands. It changes with each block, and otherwise at most once a second."""

    number: UInt32
    """Counts the changes since the start of the node."""
    time: UInt64
    """Milliseconds since 1970 by the node's clock."""
    network: str
    head: UInt32
    head_time: UInt32
    """Seconds since 1970."""
    irreversible: UInt32
    participation: UInt32
    """Slots with a block, of the last 128."""
    is_emergency: bool
    slots: tuple[SlotFacts, ...]
    peers: PeerCounts
    sync: SyncFacts
    pool: PoolFacts


class PeerFacts(msgspec.Struct, frozen=True):
    """One peer."""

    address: str
    state: str
    is_incoming: bool
    head: UInt32
    irreversible: UInt32
    strikes: UInt32
    silent_seconds: UInt32
    """Since it was last heard."""
    round_trip: Int32 = UNKNOWN
    """Milliseconds, as TCP measures it; -1 if the system does not tell."""
    delay: Int32 = UNKNOWN
    """Milliseconds from the slot of the last block that this peer was the first to send; -1 if it sent none."""


class WatchedSlotFacts(msgspec.Struct, frozen=True):
    """A slot of a validator of `validator-monitor`."""

    time: UInt32
    block: UInt32
    """0 where it was missed."""
    delay: Int32
    """Milliseconds from its beginning until its block was first seen here; -1 if that is not known."""
    cause: str


class WatchedFacts(msgspec.Struct, frozen=True):
    """A validator of `validator-monitor`: its slots since the start of the node, and how it stands now."""

    name: str
    slots: tuple[WatchedSlotFacts, ...]
    made: UInt32
    missed: UInt32
    mean_delay: Int32
    """Milliseconds, of all blocks that were seen in time; -1 without one."""
    reward: UInt64
    """Millionths of a share."""
    votes: UInt64
    counted_votes: UInt64
    """The votes after penalties."""
    penalty_percent: UInt32
    """Hundredths of a percent."""
    is_scheduled: bool
    has_key: bool


class Problem(msgspec.Struct, frozen=True):
    """Something that is wrong, and what to do."""

    text: str
    advice: str


class NodeDetails(msgspec.Struct, frozen=True):
    """How the node stands, for its operator."""

    status: NodeStatus
    peers: tuple[PeerFacts, ...]
    problems: tuple[Problem, ...]
    lines: tuple[str, ...]
    watched: tuple[WatchedFacts, ...] = ()


class LatestStatus:
    """The latest status and details that a worker has got."""

    def __init__(self) -> None:
        self.status = b""
        self.details = b""

    def receive_status(self, payload: bytes) -> None:
        self.status = payload

    def receive_details(self, payload: bytes) -> None:
        self.details = payload


@lru_cache(maxsize=2)
def status_of(payload: bytes) -> NodeStatus:
    """A status; those who follow it share what was decoded."""
    return unpacked(payload, NodeStatus)


@lru_cache(maxsize=2)
def details_of(payload: bytes) -> NodeDetails:
    return unpacked(payload, NodeDetails)
