"""Known endpoints, each with the back-off after which it is dialled again (spec 04, sections 6.2 to 6.7)."""

from __future__ import annotations

from random import Random

from ledgerd.p2p.wire.messages import NO_NODE, NodeId
from ledgerd.protocol.types.endpoint import Endpoint

FIRST_BACKOFF, LONGEST_BACKOFF = 30, 3600
"""Seconds until a peer is dialled again: the first time, and the longest."""
STABLE_SECONDS = 300
MOST_DOUBLINGS = 7
"""How often that is doubled while dials of an endpoint fail; for seeds it is not."""
CONTACTS = 200
"""Endpoints of peers that are remembered."""
STALE_SECONDS = 24 * 3600


class Contact:
    """An endpoint, and the history of dialling it."""

    def __init__(self, endpoint: Endpoint, now: float, *, is_seed: bool) -> None:
        self.endpoint = endpoint
        self.is_seed = is_seed
        self.node_id: NodeId = NO_NODE
        self.peer: int | None = None
        self.backoff = FIRST_BACKOFF
        self.failures = 0
        """Dials in a row that failed. The reference tries each about every 30 seconds for ever (spec 04, section 6.7);
        here those that peers told are tried less and less often: nobody has proved that they are there.
        """
        self.next_attempt = now
        self.last_seen = now
        self.last_good = now
        """The time when it was last connected, or first heard of."""

    def ended(self, connected_for: float | None, now: float, random: Random) -> None:
        self.peer = None
        if connected_for is None:
            self.failures += 1
            doublings = 0 if self.is_seed else min(self.failures - 1, MOST_DOUBLINGS)
            self.next_attempt = now + min(FIRST_BACKOFF << doublings, LONGEST_BACKOFF)
            return
        self.failures = 0
        self.last_good = now
        if connected_for > STABLE_SECONDS:
            self.backoff = FIRST_BACKOFF
        self.backoff = min(2 * self.backoff, LONGEST_BACKOFF)
        spread = self.backoff // 2
        jitter = random.randrange(spread) - spread // 2 if spread else 0
        self.next_attempt = now + self.backoff + jitter

    def refused(self, seconds: int, now: float) -> None:
        self.backoff = min(max(seconds, FIRST_BACKOFF), LONGEST_BACKOFF)
        self.next_attempt = max(self.next_attempt, now + self.backoff)

    def restart(self, now: float) -> None:
        self.backoff = FIRST_BACKOFF
        self.next_attempt = now


class Contacts:
    """The known endpoints, limited in number."""

    def __init__(self, seeds: tuple[Endpoint, ...], now: float) -> None:
        self._contacts = {seed: Contact(seed, now, is_seed=True) for seed in seeds}

    def __len__(self) -> int:
        return len(self._contacts)

    def __contains__(self, endpoint: Endpoint) -> bool:
        return endpoint in self._contacts

    def all(self) -> list[Contact]:
        """Seeds first, then in the order in which they became known."""
        return list(self._contacts.values())

    def of_peer(self, peer: int) -> Contact | None:
        return next((contact for contact in self._contacts.values() if contact.peer == peer), None)

    def add(self, endpoint: Endpoint, node_id: NodeId, now: float) -> Contact | None:
        """Add an endpoint received from a peer; `None` when the limit is reached."""
        known = self._contacts.get(endpoint)
        if known is not None:
            known.last_seen = now
            known.node_id = node_id if node_id != NO_NODE else known.node_id
            return None
        if len(self._contacts) >= CONTACTS and not self._has_evicted_one():
            return None
        contact = self._contacts[endpoint] = Contact(endpoint, now, is_seed=False)
        contact.node_id = node_id
        return contact

    def _has_evicted_one(self) -> bool:
        failed = [each for each in self._contacts.values() if each.failures and not each.is_seed and each.peer is None]
        if not failed:
            return False
        del self._contacts[max(failed, key=lambda each: each.failures).endpoint]
        return True

    def due(self, now: float) -> list[Contact]:
        return [each for each in self._contacts.values() if each.peer is None and now >= each.next_attempt]

    def forget_lost(self, now: float, hours: int) -> None:
        """Drop endpoints that failed for hours, or were not heard of for a day; never seeds."""
        for contact in self.all():
            if contact.is_seed or contact.peer is not None:
                contact.last_seen = now
            elif now - contact.last_good > hours * 3600 or now - contact.last_seen > STALE_SECONDS:
                del self._contacts[contact.endpoint]

    def restart(self, now: float, *, seeds_only: bool = False) -> None:
        for contact in self._contacts.values():
            if contact.peer is None and (contact.is_seed or not seeds_only):
                contact.restart(now)
