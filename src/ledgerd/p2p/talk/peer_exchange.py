"""The exchange of endpoints with peers (spec 04, section 16): requested ones alone, as hints of endpoints to dial."""

from __future__ import annotations

from collections import Counter

from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import Life, Peer
from ledgerd.p2p.talk.contacts import Contacts
from ledgerd.p2p.wire.endpoints import is_public, subnet_of, wire_endpoint
from ledgerd.p2p.wire.messages import KnownPeer, PeerExchangeRateLimited, PeerExchangeReply, PeerExchangeRequest

SPREAD_MICROSECONDS, FEW_PEERS = 100_000_000, 20
"""If there are fewer peers, they are asked one after the other within this time (spec 04, section 16)."""
MOST_TAKEN = 20
"""Endpoints that are read from one answer."""


class PeerExchange:
    """Asks one peer at a time, rarely, and answers such requests."""

    def __init__(self, core: Core, contacts: Contacts) -> None:
        self._core = core
        self._contacts = contacts
        self._asked_at = -1e9

    def ask(self) -> None:
        core = self._core
        if core.settings.is_isolated or core.mode is Mode.SYNC:
            return
        able = [
            peer
            for peer in core.peers()
            if peer.life is Life.ACTIVE and peer.exchange and not peer.asked_it.wait(core.now)
        ]
        if not able:
            return
        if len(able) < FEW_PEERS and core.now - self._asked_at < SPREAD_MICROSECONDS // len(able) / 1e6:
            return
        peer = core.random.choice(able)
        peer.asked_it.count(core.now)
        peer.owes_peers = True
        self._asked_at = core.now
        core.send(peer, PeerExchangeRequest())

    def serve(self, peer: Peer) -> None:
        """Send the endpoints of long outbound connections, few of one subnet (5110)."""
        core, settings = self._core, self._core.settings
        if settings.is_isolated:
            core.send(peer, PeerExchangeReply(()))
            return
        wait = peer.asked_us.wait(core.now)
        if wait:
            core.send(peer, PeerExchangeRateLimited(wait))
            return
        peer.asked_us.count(core.now)
        able = [other for other in core.peers() if other is not peer and self._is_shared(other)]
        core.random.shuffle(able)
        named: list[KnownPeer] = []
        counts = Counter[str]()
        for other in able:
            subnet = subnet_of(other.address)
            endpoint = wire_endpoint(other.endpoint._replace(host=other.address))
            if endpoint is None or counts[subnet] >= settings.peer_exchange_max_per_subnet:
                continue
            if len(named) >= settings.peer_exchange_max_per_reply:
                break
            counts[subnet] += 1
            named.append(KnownPeer(endpoint, other.node_id))
        core.send(peer, PeerExchangeReply(tuple(named)))
        core.good(peer)

    def _is_shared(self, peer: Peer) -> bool:
        settings, now = self._core.settings, self._core.now
        uptime = 0.0 if peer.connected_at is None else now - peer.connected_at
        is_kept = peer.life is Life.ACTIVE and peer.exchange and not peer.is_incoming
        return is_kept and uptime >= settings.peer_exchange_min_uptime_sec

    def receive(self, peer: Peer, reply: PeerExchangeReply) -> None:
        """Endpoints of private networks are accepted only from peers in one (5111)."""
        core, settings = self._core, self._core.settings
        core.good(peer)
        if settings.is_isolated or not peer.owes_peers:
            return
        peer.owes_peers = False
        crowds = Counter(subnet_of(other.address) for other in core.peers())
        for known in reply.peers[:MOST_TAKEN]:
            endpoint = known.endpoint.endpoint
            if known.node_id == core.node_id or endpoint.port == 0:
                continue
            if not is_public(endpoint.host) and (
                is_public(peer.address) or not 0 < known.endpoint.address < 0xE0000000
            ):
                continue
            subnet = subnet_of(endpoint.host)
            if endpoint not in self._contacts and crowds[subnet] >= settings.peer_exchange_max_per_subnet:
                continue
            if self._contacts.add(endpoint, known.node_id, core.now) is not None:
                crowds[subnet] += 1

    def refused(self, peer: Peer) -> None:
        """Ask that peer again after a whole window; the reference limits the peer's requests instead."""
        peer.owes_peers = False
        peer.asked_it.close(self._core.now)
        self._core.good(peer)
