"""What is wrong with a node, in words."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.node.parts.watching.status import problems_of
from ledgerd.rpc.api.node.node_status import NodeStatus, PeerCounts
from ledgerd.supervision.health import HealthStatus
from scripts.sample_node import sample_status

SOUND = sample_status()
FEW = PeerCounts("forward", "normal", 2, 0, 2, 0, 7)


def changed(**fields: object) -> NodeStatus:
    return replace(SOUND, **fields)


def test_of_a_sound_node_nothing_is_said() -> None:
    assert problems_of(SOUND, 3, HealthStatus({})) == ()
    assert problems_of(changed(peers=PeerCounts("alone", "normal", 0, 0, 0, 0, 0)), 3, HealthStatus({})) == ()


@pytest.mark.parametrize(
    ("status", "age", "down", "text"),
    [
        (SOUND, 3, {"webserver": "API worker 1: exit code -9"}, "webserver is down: API worker 1: exit code -9"),
        (changed(head=0), 3, {}, "there are no blocks yet"),
        (SOUND, 61, {}, "the head block is 61 seconds old"),
        (changed(peers=replace(SOUND.peers, mode="sync")), 500, {}, "the node is 500 seconds behind"),
        (changed(peers=replace(SOUND.peers, fork_status="minority")), 3, {}, "on a branch that few validators make"),
        (changed(peers=replace(SOUND.peers, connections=0)), 3, {}, "no peer is connected"),
        (changed(peers=FEW), 3, {}, "only 2 peers connected"),
        (changed(is_emergency=True), 3, {}, "the emergency consensus is on"),
        (changed(participation=84), 3, {}, "84 of the last 128 slots have a block"),
    ],
)
def test_each_problem_is_named_with_what_to_do(status: NodeStatus, age: int, down: dict[str, str], text: str) -> None:
    (problem,) = problems_of(status, age, HealthStatus(down))

    assert text in problem.text
    assert problem.advice.endswith(".")


def test_what_the_node_has_found_by_itself_is_among_them() -> None:
    (problem,) = problems_of(SOUND, 3, HealthStatus({}, ("the disk is full in 2 days",)))

    assert problem.text == "the disk is full in 2 days"
    assert "ledgerd doctor" in problem.advice
