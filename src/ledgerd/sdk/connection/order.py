"""Which node is asked next: pauses after failures, and the age of heads. Nothing here connects."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Generic, Protocol, TypeVar

from ledgerd.sdk.connection.limits import ClientLimits

MOST_DOUBLINGS = 16


class LinkHealth:
    """The health of a node, as far as it is known."""

    def __init__(self) -> None:
        self.failures = 0
        """Failures in a row."""
        self.rests_until = 0.0
        self.checked_at: float | None = None
        self.lag = 0.0
        """The age of its head when it was checked; 0 before."""


class HasHealth(Protocol):
    """A node."""

    health: LinkHealth


N = TypeVar("N", bound=HasHealth)


class NodeOrder(Generic[N]):
    """Nodes in the order in which they are asked: as given at first; one that fails goes to the end."""

    def __init__(self, nodes: Sequence[N], limits: ClientLimits) -> None:
        self._nodes = list(nodes)
        self._limits = limits

    def first(self, now: float, tried: Container[N] = ()) -> N | None:
        """The node to ask, of those that were not tried yet and may be asked now."""
        ready = [each for each in self._nodes if each not in tried and each.health.rests_until <= now]
        return min(ready, key=self.is_stale, default=None)

    def pause(self, now: float) -> float:
        """Seconds until a node may be asked."""
        return max(0.0, min(each.health.rests_until for each in self._nodes) - now)

    def is_stale(self, node: N) -> bool:
        """Whether its head is much older than another's; one that was not looked at yet may have a newer one. So nodes
        are compared with each other: a wrong clock of this machine, or a chain that stands, makes none of them stale.
        """
        freshest = min(each.health.lag for each in self._nodes)
        return node.health.lag - freshest > self._limits.stale_seconds

    def is_due(self, node: N, now: float) -> bool:
        """Whether chain and head of a node are to be looked at, before it is asked for anything else."""
        at = node.health.checked_at
        return at is None or (len(self._nodes) > 1 and now - at >= self._limits.check_seconds)

    def checked(self, node: N, now: float, lag: float) -> None:
        node.health.checked_at, node.health.lag = now, max(0.0, lag)

    def answered(self, node: N) -> None:
        node.health.failures = 0

    def failed(self, node: N, now: float) -> None:
        """Put the node last and leave it alone for a while. It is checked again before its next use: another node may
        answer there.
        """
        health = node.health
        if now < health.rests_until:
            return  # another request has seen the same failure
        doubled: float = 2.0 ** min(health.failures, MOST_DOUBLINGS)
        health.rests_until = now + min(self._limits.first_pause * doubled, self._limits.longest_pause)
        health.failures += 1
        health.checked_at, health.lag = None, 0.0
        self.demote(node)

    def demote(self, node: N) -> None:
        self._nodes.remove(node)
        self._nodes.append(node)
