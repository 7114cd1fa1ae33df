"""Who is connected to a signer: bounds on connections, and on how often each client asks. Times are handed in."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from ledgerd.basics.quotas import Quota, Recent

MOST_CONNECTIONS = 32
"""Connections of all clients."""
MOST_OF_CLIENT = 4
"""The most connections of one user or certificate; a new one replaces the oldest."""
MOST_HANDSHAKES = 16
MOST_HANDSHAKES_OF_ADDRESS = 4
"""Connections that have not shown a certificate yet. Addresses that showed a right one before are not among them:
strangers take no place of a node's.
"""
KNOWN_ADDRESSES = 64
"""Addresses that showed a right certificate, and are remembered."""
QUESTIONS_A_SECOND = 10.0
BURST = 20.0
"""Questions of one client; whoever asks more often is read later."""
REMEMBERED = 256
"""Clients whose questions are counted."""


class Closable(Protocol):
    """A connection."""

    def close(self) -> None: ...


class Clients:
    """The connections, by whom they belong to."""

    def __init__(self) -> None:
        self._connections: dict[Closable, str] = {}
        self._questions = Recent(lambda now: Quota(BURST, QUESTIONS_A_SECOND, now), REMEMBERED)
        self._handshakes: Counter[str] = Counter()
        self._known = Recent(lambda _: True, KNOWN_ADDRESSES)
        """Addresses that have shown a right certificate."""

    def admit(self, client: str, connection: Closable) -> bool:
        """Whether a connection may stay; if its client has too many, the oldest of them is closed for it."""
        own = [each for each, name in self._connections.items() if name == client]
        if len(own) >= MOST_OF_CLIENT:
            self.leave(own[0])
            own[0].close()
        if len(self._connections) >= MOST_CONNECTIONS:
            return False
        self._connections[connection] = client
        return True

    def leave(self, connection: Closable) -> None:
        self._connections.pop(connection, None)

    def close_all(self) -> None:
        for connection in list(self._connections):
            connection.close()

    def begin_handshake(self, address: str) -> bool:
        """Whether an address may show a certificate now; if so, `end_handshake` must follow."""
        strangers = sum(count for each, count in self._handshakes.items() if each not in self._known.kept)
        if address not in self._known.kept and strangers >= MOST_HANDSHAKES:
            return False
        if self._handshakes[address] >= MOST_HANDSHAKES_OF_ADDRESS:
            return False
        self._handshakes[address] += 1
        return True

    def end_handshake(self, address: str, *, is_right: bool = False) -> None:
        self._handshakes[address] -= 1
        self._handshakes += Counter()  # without those that are zero
        if is_right:
            self._known.of(address)

    def wait_before(self, client: str, now: float) -> float:
        """Charge a client for a question; where it has to wait first, nothing is charged and the seconds are given."""
        quota = self._questions.of(client, now)
        return 0.0 if quota.spend_one(now) else quota.wait(now)
