"""One peer: the life cycle of its connection, what it claims, and the decoding of its bytes.

Bytes and time in, messages and faults out; what follows from them is decided in `dialogue`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import Enum, auto

from ledgerd.p2p.shared.allowances import Allowance
from ledgerd.p2p.shared.budget import Window
from ledgerd.p2p.wire.endpoints import plain_address
from ledgerd.p2p.wire.faults import FrameTooLarge, PeerFault, Undecodable, UnknownType
from ledgerd.p2p.wire.frames import Frame, FrameReader
from ledgerd.p2p.wire.messages import NO_NODE, NORMAL, SYNC, Hello, Message, NodeId, read_message
from ledgerd.p2p.wire.replies import ReplyReader
from ledgerd.protocol.endpoint import Endpoint
from ledgerd.protocol.identifiers import NO_BLOCK, BlockId

KNOWN_BLOCKS = 20


class Unfinished(Enum):
    """A long message is being read, and others may be heard before it is."""

    YET = auto()


EXCHANGE_REQUESTS, EXCHANGE_WINDOW = 3, 300
BEATEN_SECONDS, LONGEST_BEATEN = 60, 300


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
    """Its hello said enough to go on with: either side recognises the other, or one of them is syncing."""
    ANSWERED = auto()
    """It has answered our hello."""
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


class Peer:
    """What is known of one connection, or of an attempt at one."""

    def __init__(self, number: int, endpoint: Endpoint, now: float, allowance: Allowance, *, is_incoming: bool) -> None:
        self.id = number
        self.allowance = allowance
        """What its address may cost."""
        self.endpoint = endpoint
        self.address = plain_address(endpoint.host)
        """The number of its host: of a dialled name, known once the connection stands."""
        self.is_incoming = is_incoming
        self.life = Life.CONNECTING
        self.since = now
        self.connected_at: float | None = None
        self.heard_at = now
        self.is_greeted = False
        """Whether its hello has come."""

        # What it claims; nothing of it is proven.
        self.node_id: NodeId = NO_NODE
        self.head_id: BlockId = NO_BLOCK
        self.head_number = 0
        self.lib_id: BlockId = NO_BLOCK
        self.lib_number = 0
        self.earliest = 0
        self.latest = 0
        self.is_emergency = False
        self.has_emergency_key = False
        self.fork_status = NORMAL
        self.node_status = SYNC

        # Our own record of it.
        self.exchange = False
        """Whether blocks and transactions are pushed to it."""
        self.is_aligned = False
        self.strikes = 0
        self.fork_batches = 0
        self.failures = 0
        """Requests in a row that it did not answer with anything of use."""
        self.doubted_until = 0.0
        """Until then, what it claims of its height counts for nothing."""
        self.useful_at: float | None = None
        """When it last brought a block or a transaction that was new to us and taken in."""
        self.beaten_until = 0.0
        """Until then its branch is known to be the worse one, however high it is."""
        self.known_blocks: deque[BlockId] = deque(maxlen=KNOWN_BLOCKS)
        self.asked_us = Window(EXCHANGE_REQUESTS, EXCHANGE_WINDOW)
        self.asked_it = Window(EXCHANGE_REQUESTS, EXCHANGE_WINDOW)
        self.refusal: int | None = None
        """The seconds of the soft ban that it told us of, if any."""
        self.owes_peers = False
        """Whether it has not answered our request for peers yet."""
        self._frames = FrameReader()
        self._reply: ReplyReader | None = None
        """The long message that is being read."""

    @property
    def is_live(self) -> bool:
        """Past its handshake."""
        return self.life in (Life.ACTIVE, Life.SYNCING)

    @property
    def is_connected(self) -> bool:
        """Whether its socket is connected."""
        return self.life in (Life.HANDSHAKING, Life.ACTIVE, Life.SYNCING)

    @property
    def reach(self) -> int:
        """The highest block that it claims to have."""
        return max(self.latest, self.head_number)

    @property
    def buffered(self) -> int:
        """The bytes of its unfinished frame."""
        return len(self._frames)

    def unfinished_for(self, now: float) -> float:
        """For how long it has been sending one frame."""
        began = self._frames.waiting_since
        return 0.0 if began is None else now - began

    def advance(self, event: LifeEvent, now: float) -> bool:
        """Take the transition for an event; `False` if there is none."""
        following = LIFE.get((self.life, event))
        if following is None:
            return False
        self.life, self.since = following, now
        if event is LifeEvent.OPENED:
            self.connected_at = now
        if event is LifeEvent.ENDED:
            self._frames.clear()
            self._reply = None
        return True

    def receive(self, data: bytes, now: float) -> None:
        """Take the next bytes; what they say is asked with `next_said`."""
        self.heard_at = now
        self._frames.receive(data, now)

    def next_said(
        self,
        now: float,
        is_unwanted: Callable[[Frame], bool] = lambda _: False,
        reader_of: Callable[[Frame], ReplyReader | None] = lambda _: None,
    ) -> Message | PeerFault | Unfinished | None:
        """What it says next, if all of that is here. After a fault that is no `UnknownType`, nothing more can be read.

        What is not wanted is passed over unread, and what is long is read in pieces: two megabytes of blocks take a
        while.
        """
        try:
            while self._reply is None and (frame := self._frames.next_frame(now)) is not None:
                if is_unwanted(frame):
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
        said = reply.read()
        if said is None:
            return Unfinished.YET
        self._reply = None
        return said

    @property
    def next_number(self) -> int | None:
        """The number of the message that it says next, if all of that is here."""
        return self._frames.next_number if self._reply is None else self._reply.number

    def describe(self, hello: Hello) -> None:
        """Record what a hello claims, except its heights."""
        self.is_greeted = True
        self.node_id = hello.node_id
        self.is_emergency = hello.emergency_active
        self.has_emergency_key = hello.has_emergency_key
        self.fork_status = hello.fork_status
        self.node_status = hello.node_status

    def knows(self, block_id: BlockId) -> None:
        """Remember that it has this block, so that the block is not pushed to it."""
        self.known_blocks.append(block_id)

    def doubt(self, now: float) -> None:
        """It did not deliver: ignore it for a time, longer each time."""
        self.failures += 1
        if self.failures > 1:
            self.doubted_until = now + min(300.0, 15.0 * self.failures)

    def lose(self, now: float) -> None:
        """All of its branch is known here, and ours is better: believe that for a time, longer each time."""
        self.fork_batches += 1
        self.beaten_until = now + min(BEATEN_SECONDS * self.fork_batches, LONGEST_BEATEN)

    def trust(self) -> None:
        """It delivered: its claims count again."""
        self.failures = 0
        self.doubted_until = 0.0
