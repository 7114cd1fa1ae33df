"""The state that all parts of the network state share: peers, time, mode, actions, good marks and strikes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from random import Random

from ledgerd.basics.addresses import Exemption
from ledgerd.basics.quotas import SharedQuota
from ledgerd.metrics.meters.peers import PeerMeter
from ledgerd.metrics.table.peers import OFFENCES
from ledgerd.p2p.shared.actions import Action, Close, Dial, Send
from ledgerd.p2p.shared.allowances import SERVED_IN_ANY_CASE, SERVED_TO_ALL, SERVED_TO_ALL_A_SECOND, Allowances
from ledgerd.p2p.shared.bans import Bans
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Life, LifeEvent, Peer
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.wire.endpoints import plain_address
from ledgerd.p2p.wire.messages import NORMAL, Message, NodeId, SoftBan
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.supervision.line_rates import LineRate, limited

log = logging.getLogger(__name__)

BURST, A_SECOND = 30, 0.2
"""720 an hour."""
PEER_LINES = LineRate("lines of peers", BURST, A_SECOND)
LONGEST_LINE = 300
"""Characters of a line, which may quote a peer."""

STRIKES = 10
BAN_SECONDS = 3600
SLACK_BLOCKS = 20
"""Tolerance for clocks: a peer's height may be this many blocks higher than the time allows."""
FUTURE_SECONDS = 5
"""Tolerance for clocks: the time of a block may lie this far in the future."""
NO_BUFFER = 1 << 30
"""The room of send buffers where no driver has any."""


def log_peer(who: object, what: str, level: int = logging.INFO) -> None:
    log.log(level, "%(peer)s: %(event)s", {"peer": who, "event": what[:LONGEST_LINE]}, extra=limited(PEER_LINES))


class Core:
    """The shared state."""

    def __init__(self, chain: ChainAccess, settings: Settings, node_id: NodeId, random: Random, now: float) -> None:
        self.chain = chain
        self.settings = settings
        self.node_id = node_id
        self.random = random
        self.now = now
        self.started = now
        self.mode = Mode.SYNC
        self.fork_status = NORMAL
        self.exemption = Exemption(settings.exempt)
        self.bans = Bans(self.exemption)
        self.allowances = Allowances(self.exemption)
        self.served = SharedQuota(SERVED_TO_ALL, SERVED_TO_ALL_A_SECOND, SERVED_IN_ANY_CASE, now)
        self.meter: PeerMeter | None = None
        self.last_block_at: float | None = None
        """When a block from the network was last accepted, or the mode turned to SYNC."""
        self.on_catch_up: Callable[[int], None] | None = None
        """Called with the number of missing blocks when the node begins to fetch them."""
        self.precomputes = False
        """Whether the driver carries out `Precompute`: other processes compute ahead of waiting blocks."""
        self.room: Callable[[int], int] = lambda _: NO_BUFFER
        """The free bytes in a peer's send buffer, set by the driver: transactions are not sent to a peer whose buffer
        is full.
        """
        self.seed_addresses = {plain_address(seed.host) for seed in settings.seeds}
        self._peers: dict[int, Peer] = {}
        self._closed: list[Peer] = []
        self._actions: list[Action] = []
        self._next_id = 1

    # -- peers

    def __getitem__(self, number: int) -> Peer:
        return self._peers[number]

    def find(self, number: int) -> Peer | None:
        return self._peers.get(number)

    def peers(self) -> list[Peer]:
        return list(self._peers.values())

    def live(self) -> Iterator[Peer]:
        return (peer for peer in self.peers() if peer.is_live)

    def trusts(self, peer: Peer) -> bool:
        return peer.is_live and peer.doubted_until <= self.now

    def trusted(self) -> Iterator[Peer]:
        return filter(self.trusts, self.peers())

    def is_anybody_ahead(self, by: int = 0) -> bool:
        return any(self.height_of(peer) > self.chain.head_number + by for peer in self.trusted())

    def height_of(self, peer: Peer) -> int:
        """A peer's claimed head number; not above our head while its branch is known to have lost against ours."""
        is_beaten = self.now < peer.beaten_until
        return min(peer.head_number, self.chain.head_number) if is_beaten else peer.head_number

    def reach_of(self, peer: Peer) -> int:
        return self.height_of(peer) if self.now < peer.beaten_until else peer.reach

    @property
    def catches_up_to(self) -> int:
        """The highest block of a trusted peer that is above our head, while blocks are requested in ranges; else 0."""
        target = max((self.reach_of(peer) for peer in self.trusted()), default=0)
        return target if self.mode is Mode.SYNC and target > self.chain.head_number else 0

    @property
    def connections(self) -> int:
        return sum(peer.is_connected for peer in self._peers.values())

    def add(self, endpoint: Endpoint, *, is_incoming: bool) -> Peer:
        allowance = self.allowances.of(plain_address(endpoint.host), self.now)
        peer = Peer(self._next_id, endpoint, self.now, allowance, is_incoming=is_incoming)
        self._next_id += 1
        self._peers[peer.id] = peer
        return peer

    def drop(self, peer: Peer) -> bool:
        peer.advance(LifeEvent.ENDED, self.now)
        return self._peers.pop(peer.id, None) is not None

    # -- actions

    def drain_actions(self) -> list[Action]:
        actions, self._actions = self._actions, []
        return actions

    def ask(self, action: Action) -> None:
        self._actions.append(action)

    def send(self, peer: Peer, message: Message) -> None:
        self.send_frame(peer, message.NUMBER, message.frame)

    def send_frame(self, peer: Peer, number: int, frame: bytes) -> None:
        if peer.is_connected:
            if self.meter is not None:
                self.meter.sent(number, len(frame))
            self._actions.append(Send(peer.id, number, frame))

    def dial(self, endpoint: Endpoint) -> Peer:
        peer = self.add(endpoint, is_incoming=False)
        self._actions.append(Dial(peer.id, endpoint))
        return peer

    def close(self, peer: Peer, reason: str) -> None:
        if peer.life is not Life.CLOSED:
            peer.advance(LifeEvent.ENDED, self.now)
            self._actions.append(Close(peer.id, reason))
            self._closed.append(peer)
            log_peer(peer.endpoint, f"closing: {reason}")

    def drain_closed(self) -> list[Peer]:
        closed, self._closed = self._closed, []
        return closed

    # -- good marks and strikes

    def good(self, peer: Peer) -> None:
        """Count a valid message (spec 04, section 17.1)."""
        peer.strikes = 0

    def strike(self, peer: Peer, why: str) -> None:
        """Count an invalid message. Ten in a row ban the peer, and so do many over a longer time."""
        log_peer(peer.endpoint, why)
        peer.strikes += 1
        if self.meter is not None:
            self.meter.struck()
        if self.bans.offend(peer.address, self.now) or peer.strikes >= STRIKES:
            self.ban(peer, "spam strike threshold exceeded")

    def ban(self, peer: Peer, reason: str) -> None:
        """Send the reason, close the connection, and ban the address for a while (spec 04, section 17.2)."""
        if peer.life is Life.CLOSED:
            return
        log_peer(peer.endpoint, f"banned: {reason}", logging.WARNING)
        self.send(peer, SoftBan(BAN_SECONDS, reason))
        self.bans.ban(peer.address, self.now, BAN_SECONDS)
        if self.meter is not None:
            self.meter.banned(OFFENCES)
        self.close(peer, reason)

    # -- heights

    @property
    def is_by_our_clock(self) -> bool:
        """Whether our clock can judge the time of the chain.

        Not before the first block, which may have any time, nor while the head is in the future: such a chain runs on
        another clock, which the reference follows too.
        """
        return self.chain.head_number > 0 and self.chain.head_time <= self.now + FUTURE_SECONDS

    def credible(self, number: int) -> int:
        """A claimed height, at most what the clock allows since our head (spec 04, section 27, item 7)."""
        if not self.is_by_our_clock:
            return number
        since = max(0, int(self.now) - self.chain.head_time)
        return min(number, self.chain.head_number + since // BLOCK_INTERVAL + SLACK_BLOCKS)
