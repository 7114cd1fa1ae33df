"""One peer: the life cycle of its connection, what it claims, and the decoding of its bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum, auto

from ledgerd.p2p.shared.allowances import Allowance
from ledgerd.p2p.wire.endpoints import plain_address
from ledgerd.p2p.wire.frames import Frame, FrameReader, FrameTooLarge, PeerFault, Undecodable, UnknownType
from ledgerd.p2p.wire.messages import NO_NODE, NORMAL, SYNC, Hello, Message, NodeId, read_message
from ledgerd.p2p.wire.replies import ReplyReader
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId

KNOWN_BLOCKS = 20
SKIPPED_AT_ONCE = 16
"""After this many messages that are not decoded, others are heard first: for some of them a key is recovered."""


class Unfinished(Enum):
    """A long message, or many that are not decoded, are being read in parts."""

    YET = auto()


EXCHANGE_REQUESTS, EXCHANGE_WINDOW = 3, 300
BEATEN_SECONDS, LONGEST_BEATEN = 60, 300
"""Seconds for which the branch of a peer counts as worse than ours: the first time, and the longest."""


class Life(Enum):
    """The state of a connection in its life cycle (spec 04, section 4)."""

    CONNECTING = auto()
    HANDSHAKING = auto()
    SYNCING = auto()
    """Asked for a range of blocks."""
    ACTIVE = auto()
    CLOSED = auto()


class LifeEvent(Enum):
    """An event in the life cycle of a connection."""

    OPENED = auto()
    WELCOMED = auto()
    """The peer's hello lets the connection continue: either side recognises the other, or one of them is syncing."""
    ANSWERED = auto()
    ASKED = auto()
    DELIVERED = auto()
    ENDED = auto()


LIFE: dict[tuple[Life, LifeEvent], Life] = {
    (Life.CONNECTING, LifeEvent.OPENED): Life.HANDSHAKING,
    (Life.CONNECTING, LifeEvent.ENDED): Life.CLOSED,
    (Life.HANDSHAKING, LifeEvent.WELCOMED): Life.ACTIVE,
    (Life.HANDSHAKING, LifeEvent.ANSWERED): Life.ACTIVE,
    (Life.HANDSHAKING, LifeEvent.ENDED): Life.CLOSED,
    (Life.ACTIVE, LifeEvent.ASKED): Life.SYNCING,
    (Life.ACTIVE, LifeEvent.ENDED): Life.CLOSED,
    (Life.SYNCING, LifeEvent.DELIVERED): Life.ACTIVE,
    (Life.SYNCING, LifeEvent.ANSWERED): Life.ACTIVE,
    (Life.SYNCING, LifeEvent.ENDED): Life.CLOSED,
}
"""All transitions; an event without an entry for a state changes nothing."""


class Window:
    """The requests for peers in a window of time that begins with the first (spec 04, section 16)."""

    __slots__ = ("_began", "_count")

    def __init__(self) -> None:
        self._began: float | None = None
        self._count = 0

    def wait(self, now: float) -> int:
        """The whole seconds until the next request is accepted; 0 for at once."""
        if self._began is None or now - self._began >= EXCHANGE_WINDOW or self._count < EXCHANGE_REQUESTS:
            return 0
        return EXCHANGE_WINDOW - int(now - self._began)

    def count(self, now: float) -> None:
        if self._began is None or now - self._began >= EXCHANGE_WINDOW:
            self._began, self._count = now, 0
        self._count += 1

    def close(self, now: float) -> None:
        self._began, self._count = now, EXCHANGE_REQUESTS


class Peer:
    """One connection to a peer, or an attempt to connect."""

    def __init__(self, number: int, endpoint: Endpoint, now: float, allowance: Allowance, *, is_incoming: bool) -> None:
        self.id = number
        self.allowance = allowance
        self.endpoint = endpoint
        self.address = plain_address(endpoint.host)
        """The IP address of its host; for a dialled name, known after the connection is established."""
        self.is_incoming = is_incoming
        self.life, self.since = Life.CONNECTING, now
        self.connected_at: float | None = None
        self.received_at = now
        self.is_greeted = False

        # What it claims, without proof.
        self.node_id: NodeId = NO_NODE
        self.head_id: BlockId = NO_BLOCK
        self.head_number = 0
        self.lib_id: BlockId = NO_BLOCK
        self.lib_number = 0
        self.earliest = 0
        self.latest = 0
        self.claimed = 0
        """The highest block that it claims to have, whatever our clock thinks of that."""
        self.is_emergency = False
        self.has_emergency_key = False
        self.fork_status = NORMAL
        self.node_status = SYNC

        # What we have observed.
        self.exchange = False
        """Whether blocks and transactions are pushed to it."""
        self.is_aligned = False
        self.strikes = 0
        self.fork_batches = 0
        self.failures = 0
        self.doubted_until = 0.0
        self.useful_at: float | None = None
        """When the peer last sent a new block or transaction that was accepted."""
        self.pushed_late: float | None = None
        """Seconds from the slot of the last block that came from it first until it was here; None before one."""
        self.beaten_until = 0.0
        """Until this time the peer's branch counts as worse than ours, whatever its height."""
        self.known_blocks: deque[BlockId] = deque(maxlen=KNOWN_BLOCKS)
        self.asked_us = Window()
        self.asked_it = Window()
        self.refusal: int | None = None
        """The seconds of the soft ban that it sent, if any."""
        self.owes_peers = False
        self._frames = FrameReader()
        self._reply: ReplyReader | None = None

    @property
    def is_live(self) -> bool:
        return self.life in (Life.ACTIVE, Life.SYNCING)

    @property
    def is_connected(self) -> bool:
        return self.life in (Life.HANDSHAKING, Life.ACTIVE, Life.SYNCING)

    @property
    def reach(self) -> int:
        return max(self.latest, self.head_number)

    @property
    def buffered(self) -> int:
        return len(self._frames)

    def unfinished_for(self, now: float) -> float:
        began = self._frames.waiting_since
        return 0.0 if began is None else now - began

    def advance(self, event: LifeEvent, now: float) -> None:
        following = LIFE.get((self.life, event))
        if following is None:
            return
        self.life, self.since = following, now
        if event is LifeEvent.OPENED:
            self.connected_at = now
        if event is LifeEvent.ENDED:
            self._frames.clear()
            self._reply = None

    def record_useful(self, now: float) -> None:
        self.useful_at = now
        self.allowance.useful += 1

    def receive(self, data: bytes, now: float) -> None:
        self.received_at = now
        self._frames.receive(data, now)

    def next_message(
        self,
        now: float,
        is_unwanted: Callable[[Frame], bool],
        reader_of: Callable[[Frame], ReplyReader | None],
    ) -> Message | PeerFault | Unfinished | None:
        """Unwanted messages are skipped, long ones decoded in parts; after most faults nothing more can be read."""
        skipped = 0
        try:
            while self._reply is None and (frame := self._frames.next_frame(now)) is not None:
                if is_unwanted(frame):
                    skipped += 1
                    if skipped == SKIPPED_AT_ONCE:
                        return Unfinished.YET
                    continue
                self._reply = reader_of(frame)
                if self._reply is None:
                    return read_message(frame)
            return None if self._reply is None else self._read_on(self._reply)
        except UnknownType as fault:
            return fault
        except (FrameTooLarge, Undecodable) as fault:
            self._frames.clear()
            self._reply = None
            return fault

    def _read_on(self, reply: ReplyReader) -> Message | Unfinished:
        message = reply.read()
        if message is None:
            return Unfinished.YET
        self._reply = None
        return message

    @property
    def next_number(self) -> int | None:
        return self._frames.next_number if self._reply is None else self._reply.number

    def describe(self, hello: Hello) -> None:
        """Record what a hello claims, except the heights that are used for a sync."""
        self.claimed = max(hello.head_block_num, hello.dlt_latest_block)
        self.is_greeted = True
        self.node_id = hello.node_id
        self.is_emergency = hello.emergency_active
        self.has_emergency_key = hello.has_emergency_key
        self.fork_status = hello.fork_status
        self.node_status = hello.node_status

    def doubt(self, now: float) -> None:
        """The peer sent nothing useful: ignore its height for a time, which grows each time."""
        self.failures += 1
        if self.failures > 1:
            self.doubted_until = now + min(300.0, 15.0 * self.failures)

    def lose(self, now: float) -> None:
        """The peer's whole branch is known and worse than ours: assume that for a time, longer each time."""
        self.fork_batches += 1
        self.beaten_until = now + min(BEATEN_SECONDS * self.fork_batches, LONGEST_BEATEN)

    def trust(self) -> None:
        self.failures = 0
        self.doubted_until = 0.0
