"""What is wrong with a node, and what its operator can do, in words."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.rpc.api.node.node_status import NodeStatus, Problem
from ledgerd.rpc.http.routes import LONGEST_SILENCE
from ledgerd.supervision.health import HealthNews
from ledgerd.supervision.progress import many

LOW_PARTICIPATION = 128 * 2 // 3
FEWEST_PEERS = 3


def problems_of(status: NodeStatus, age: int, health: HealthNews) -> tuple[Problem, ...]:
    """What is wrong, the worst first; `age` is that of the head in seconds."""
    return tuple(_problems(status, age, health))


def _problems(status: NodeStatus, age: int, health: HealthNews) -> Iterator[Problem]:
    for part, reason in sorted(health.down.items()):
        yield Problem(
            f"{part} is down: {reason}",
            "It is started again by itself. Where it stays down, the log says why before the first restart.",
        )
    for warning in health.warnings:
        yield Problem(warning, "`ledgerd doctor` says more.")
    peers = status.peers
    if status.head == 0:
        yield Problem("there are no blocks yet", "Wait for the first block of peers, or for a snapshot.")
    elif age > LONGEST_SILENCE and peers.mode == "sync":
        yield Problem(f"the node is {age} seconds behind", "It catches up by itself, as shown under Sync.")
    elif age > LONGEST_SILENCE:
        yield Problem(
            f"the head block is {age} seconds old",
            "Either the network stands still or this node does not hear of its blocks: compare the heights of peers, "
            "and look at the connection.",
        )
    if peers.fork_status == "minority":
        yield Problem(
            "this node is on a branch that few validators make",
            "It asks its peers again by itself. Look at the connection; do not lower required-participation.",
        )
    if peers.mode != "alone" and peers.connections == 0:
        yield Problem("no peer is connected", "Look at p2p-seed-node, at the firewall and at the connection.")
    elif peers.mode != "alone" and peers.connections < FEWEST_PEERS:
        yield Problem(f"only {many(peers.connections, 'peer')} connected", "Add seeds with p2p-seed-node.")
    if status.is_emergency:
        yield Problem(
            "the emergency consensus is on", "The network has lost most of its validators: follow its announcements."
        )
    elif status.head and status.participation < LOW_PARTICIPATION:
        yield Problem(
            f"{status.participation} of the last 128 slots have a block",
            "Where other nodes say the same, validators are down. Otherwise this node is on a branch of its own.",
        )
