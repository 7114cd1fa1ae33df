"""The network as one state machine: events of sockets, clock and node go in, actions come out."""

from __future__ import annotations

import logging
from collections import Counter
from random import Random

from ledgerd.basics.addresses import charged_as
from ledgerd.metrics.table.peers import FRAME_TOO_LARGE
from ledgerd.p2p.dialogue import Dialogue
from ledgerd.p2p.shared.actions import Action, Batch
from ledgerd.p2p.shared.chain_access import ChainAccess
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Cause, Mode
from ledgerd.p2p.shared.peer import Life, LifeEvent, Peer
from ledgerd.p2p.shared.settings import Settings
from ledgerd.p2p.sync.intake import Intake
from ledgerd.p2p.talk.contacts import Contacts
from ledgerd.p2p.talk.handshake import loser_of_crossing, our_hello
from ledgerd.p2p.talk.relay import is_fit, push_block
from ledgerd.p2p.wire.endpoints import plain_address, subnet_of
from ledgerd.p2p.wire.frames import Frame, FrameTooLarge, PeerFault, UnknownType
from ledgerd.p2p.wire.messages import Message, NodeId
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.types.endpoint import Endpoint

log = logging.getLogger(__name__)

TICK_SECONDS = 5
CONNECTING_SECONDS, HANDSHAKING_SECONDS = 5, 10
FRAME_SECONDS = 60
"""Seconds after which a peer with an unfinished frame is disconnected."""
SILENT_SECONDS = 600
"""After so long without a message a peer is disconnected for a new one, when the connections are at their limit."""
IDLE_SECONDS, USEFUL_SECONDS = 60, 3600
"""An inbound peer that has sent no message, and nothing new, for these times may be disconnected for a new one."""
BLOCKED_SECONDS = 3600
DIALS_A_TICK = 8
CLEANING_TICKS = 720
RESYNC_SECONDS = 30
DOUBTED_SECONDS = 120
"""Seconds for which only peers on the way of the network are asked, after we have left a dead end."""
STATUS_TICKS = 12


class NetworkState:
    """The peer-to-peer network as this node sees it. It reads no clock: the caller passes the time."""

    def __init__(self, chain: ChainAccess, settings: Settings, node_id: NodeId, random: Random, now: float) -> None:
        self.core = Core(chain, settings, node_id, random, now)
        self.contacts = Contacts(settings.seeds, now)
        self.intake = Intake(self.core)
        self.dialogue = Dialogue(self.core, self.contacts, self.intake)
        self._ticks = 0
        self._resynced_at = -1e9

    def actions(self) -> list[Action]:
        self._forget_closed()
        return self.core.drain_actions()

    # -- connections

    def accepted(self, now: float, endpoint: Endpoint) -> int | None:
        """A peer has dialled us. Returns its id, or `None` to refuse the connection (spec 04, section 6.4)."""
        self.core.now = now
        endpoint = endpoint._replace(host=plain_address(endpoint.host))
        if not self._has_room_for(endpoint.host):
            return None
        peer = self.core.add(endpoint, is_incoming=True)
        self._greet(peer)
        return peer.id

    def connected(self, now: float, number: int, address: str) -> bool:
        self.core.now = now
        peer = self.core.find(number)
        if peer is None or peer.life is not Life.CONNECTING:
            return False
        peer.address = plain_address(address)
        peer.allowance = self.core.allowances.of(peer.address, now)
        if peer.endpoint in self.core.settings.seeds:
            self.core.seed_addresses.add(peer.address)
        self._greet(peer)
        return True

    def lost(self, now: float, number: int) -> None:
        self.core.now = now
        peer = self.core.find(number)
        if peer is not None:
            self._forget(peer)

    def receive(self, now: float, number: int, data: bytes) -> None:
        """Keep bytes of a peer; `handle_next` handles their messages, one at a time."""
        self.core.now = now
        peer = self.core.find(number)
        if peer is not None and peer.is_connected:
            peer.receive(data, now)

    def handle_next(self, now: float, number: int) -> bool:
        self.core.now = now
        peer = self.core.find(number)
        message = None
        if peer is not None and peer.is_connected:
            intake = self.intake
            message = peer.next_message(
                now, lambda frame: self._is_unwanted(peer, frame), lambda frame: intake.reader_of(peer, frame)
            )
            if isinstance(message, PeerFault):
                self._handle_fault(peer, message)
            elif isinstance(message, Message) and peer.is_connected:
                self._handle(peer, message)
        self._forget_closed()
        return message is not None

    def _handle(self, peer: Peer, message: Message) -> None:
        was_fit = is_fit(peer)
        self.dialogue.handle(peer, message)
        if not was_fit and is_fit(peer):
            self.intake.offers.serve(peer)

    def _is_unwanted(self, peer: Peer, frame: Frame) -> bool:
        if self.core.meter is not None:
            self.core.meter.received(frame.number, len(frame.payload))
        return self.intake.is_unwanted(peer, frame)

    def waiting_message(self, number: int) -> int | None:
        peer = self.core.find(number)
        return peer.next_number if peer is not None and peer.is_connected else None

    def _greet(self, peer: Peer) -> None:
        peer.advance(LifeEvent.OPENED, self.core.now)
        peer.received_at = self.core.now
        self.core.send(peer, our_hello(self.core))

    def _handle_fault(self, peer: Peer, fault: PeerFault) -> None:
        if isinstance(fault, UnknownType):
            self.core.strike(peer, str(fault))
            return
        at_address = sum(each.address == peer.address and each.life is not Life.CLOSED for each in self.core.peers())
        if isinstance(fault, FrameTooLarge) and at_address <= 1:
            self.core.bans.ban(peer.address, self.core.now, BLOCKED_SECONDS)
            if self.core.meter is not None:
                self.core.meter.banned(FRAME_TOO_LARGE)
        self.core.bans.offend(peer.address, self.core.now)
        self.core.close(peer, str(fault))

    def _has_room_for(self, host: str) -> bool:
        core, settings = self.core, self.core.settings
        if core.bans.is_banned(host, core.now):
            return False
        if host in core.seed_addresses:
            return core.connections < settings.max_connections
        if settings.is_isolated:
            return False
        incoming = [peer for peer in core.peers() if peer.is_incoming]
        if host not in core.exemption:
            own, subnet = charged_as(host), subnet_of(host)
            neighbours = [peer for peer in incoming if subnet_of(peer.address) == subnet]
            at_address = sum(charged_as(peer.address) == own for peer in neighbours)
            if at_address >= settings.max_per_address or len(neighbours) >= settings.max_per_subnet:
                return False
        reserved = min(settings.reserved_outbound, settings.max_connections // 4)
        is_full = len(incoming) >= settings.max_connections - reserved or core.connections >= settings.max_connections
        return not is_full or self._has_evicted_one(incoming)

    def _has_evicted_one(self, incoming: list[Peer]) -> bool:
        """The one that was useful the longest time ago leaves; who was lately, or came just now, stays."""
        core = self.core
        idle = [peer for peer in incoming if core.now - max(peer.received_at, peer.since) > IDLE_SECONDS]
        useless = [peer for peer in idle if peer.useful_at is None or core.now - peer.useful_at > USEFUL_SECONDS]
        if not useless:
            return False
        crowds = Counter(subnet_of(peer.address) for peer in incoming)
        leaving = min(useless, key=lambda peer: (-crowds[subnet_of(peer.address)], peer.received_at, peer.id))
        core.close(leaving, "silent for too long, and its place is needed")
        self._forget_closed()
        return True

    def _forget_closed(self) -> None:
        for peer in self.core.drain_closed():
            self._forget(peer)

    def _forget(self, peer: Peer) -> None:
        """Remove a peer everywhere; a dialled one is dialled again later (spec 04, section 6.6)."""
        core = self.core
        if not core.drop(peer):
            return
        self.intake.forget(peer)
        contact = self.contacts.of_peer(peer.id)
        if contact is not None:
            lasted = None if peer.connected_at is None else core.now - peer.connected_at
            contact.ended(lasted, core.now, core.random)
            if peer.refusal is not None:
                contact.refused(peer.refusal, core.now)

    # -- the periodic task (spec 04, section 21)

    def tick(self, now: float) -> None:
        core, intake = self.core, self.intake
        core.now = now
        self._dial()
        self._time_out()
        self._close_crossing()
        intake.ranges.expire()
        intake.mempool.clean(now, drops_unanchored=core.mode is Mode.FORWARD)
        intake.tick()
        intake.offers.tick()
        self.dialogue.exchange.ask()
        if self._ticks % CLEANING_TICKS == 0:
            self.contacts.forget_lost(now, core.settings.peer_max_disconnect_hours)
        if intake.watch.pop_reset():
            self.forgive_all()
        self._ticks += 1
        if self._ticks % STATUS_TICKS == 0:
            log.info("%s", self.status_line())
        self._forget_closed()

    def _dial(self) -> None:
        core = self.core
        dialling = sum(peer.life is Life.CONNECTING for peer in core.peers())
        room = min(DIALS_A_TICK, core.settings.max_connections - core.connections - dialling)
        for contact in self.contacts.due(core.now)[: max(0, room)]:
            if core.settings.is_isolated and not contact.is_seed:
                continue
            contact.peer = core.dial(contact.endpoint).id

    def _close_crossing(self) -> None:
        for peer in self.core.peers():
            loser = loser_of_crossing(self.core, peer)
            if loser is not None:
                self.core.close(loser, "duplicate node_id")

    def _time_out(self) -> None:
        core = self.core
        is_short = core.connections >= core.settings.max_connections * 4 // 5
        for peer in core.peers():
            age = core.now - peer.since
            is_late = (peer.life is Life.CONNECTING and age > CONNECTING_SECONDS) or (
                peer.life is Life.HANDSHAKING and age > HANDSHAKING_SECONDS
            )
            if is_late or peer.unfinished_for(core.now) > FRAME_SECONDS:
                core.close(peer, "lifecycle timeout")
            elif peer.is_live and is_short and core.now - peer.received_at > SILENT_SECONDS:
                core.close(peer, "silent for too long")

    def forgive_all(self) -> None:
        """No peer is left: lift all bans, and dial all known endpoints at once (spec 04, section 9.7)."""
        self.core.bans.forgive_all()
        self.contacts.restart(self.core.now)

    def status_line(self) -> str:
        """One line for the operator (spec 04, section 24)."""
        core, chain = self.core, self.core.chain
        mode = "SYNC" if core.mode is Mode.SYNC else "FWD"
        uptime = int(core.now - core.started)
        flags = ("", "FORK:LOOKING ", "FORK:MINORITY ")[core.fork_status]
        return (
            f"DLT Status | {mode} | head=#{chain.head_number} lib=#{chain.lib_number} | "
            f"dlt_range={chain.earliest}-{chain.latest} | peers={self.live_count}active/"
            f"{core.connections}conn | uptime={uptime // 3600}h{uptime % 3600 // 60}m{uptime % 60}s | {flags or 'ok'}"
        )

    # -- work on blocks that have arrived

    def work(self, now: float) -> bool:
        self.core.now = now
        is_more = self.intake.work()
        self._forget_closed()
        return is_more

    def precomputed(self, now: float, batch: Batch) -> None:
        """Take in that `Precompute` has ended for a batch; the rules compute what it did not."""
        self.core.now = now
        self.intake.precomputed(batch)

    def watch_sync(self, now: float) -> None:
        core = self.core
        core.now = now
        if core.mode is Mode.SYNC:
            self.intake.ranges.expire()
            self.intake.ranges.plan()
            self.intake.report()

    # -- requests of the rest of the node

    def broadcast_block(self, now: float, block: Block) -> None:
        """Send a block that this node made or a client brought, and that is applied (spec 04, section 11.2)."""
        self.core.now = now
        push_block(self.core, block, is_last=True)
        self.intake.applied(block)

    def broadcast_transaction(self, now: float, transaction: Transaction) -> None:
        """Send a transaction of a client or of this node that the chain has accepted; it may have been sent before
        (spec 04, section 14.3).
        """
        self.core.now = now
        self.intake.mempool.add(transaction, is_provisional=self.core.mode is Mode.SYNC)
        self.intake.offers.add(transaction)

    def resync_from_lib(self, now: float) -> None:
        """Called four times a second on a minority fork; a resync that runs is not restarted (spec 04, section 19)."""
        self.core.now = now
        is_under_way = self.core.mode is Mode.SYNC and not self.intake.ranges.is_idle
        if is_under_way or now - self._resynced_at < RESYNC_SECONDS:
            return
        self._resynced_at = now
        self.intake.fork_tracking.reset()
        self.intake.ranges.go_back()
        self.intake.change_mode(Cause.RESYNC)
        self.trigger_resync(now)
        self.intake.ranges.plan()

    def ask_again(self, now: float) -> None:
        """Forgive all peers, and ask from the irreversible block on, first those that have proven their branch."""
        core, proven = self.core, self.intake.survey.proven_peers
        core.now = now
        core.bans.forgive_all()
        self.contacts.restart(now)
        self.intake.admission.quiet_until = 0.0
        for peer in core.peers():
            peer.strikes = 0
            peer.beaten_until = 0.0
            peer.trust()
            if proven and peer.id not in proven:
                peer.doubted_until = now + DOUBTED_SECONDS
        self._resynced_at = -1e9
        self.intake.ranges.stop()
        self.resync_from_lib(now)
        self.intake.gaps.go_back()

    def trigger_resync(self, now: float) -> None:
        self.core.now = now
        for peer in self.core.live():
            self.core.send(peer, our_hello(self.core))

    def reconnect_seeds(self, now: float) -> None:
        self.core.now = now
        self.contacts.restart(now, seeds_only=True)
        self._dial()

    @property
    def live_count(self) -> int:
        return sum(1 for _ in self.core.live())
