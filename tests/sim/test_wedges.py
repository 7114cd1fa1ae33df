"""Dead ends: a node leaves each by itself, within ten minutes, and signs nothing twice; liars drive it into none."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from ledgerd.node.parts.watching.recovery.rule import Permissions, RecoveryStep
from tests.sim.braggarts import Braggart
from tests.sim.conftest import Build
from tests.sim.grounds import Grounds
from tests.sim.poison import Poison, poisoned
from tests.sim.recovering import Recovering, Served
from tests.sim.wedges import (
    MOST_SECONDS,
    WEDGED,
    WedgeEnding,
    begin,
    bug_that_stays,
    highest,
    play,
    poisoned_snapshots,
    require_nothing_signed_twice,
    require_nothing_signed_while_wedged,
    wedge,
)
from tests.sim.world import World

FORGET, GO_BACK, FETCH = RecoveryStep
STEPS = {
    "a bug that passes": (FORGET,),
    "a heavy branch": (FORGET, GO_BACK),
    "below everybody": (FORGET, GO_BACK, FETCH),
}
"""The steps that lead out; a bug that stays has a test of its own, where the node signs again afterwards."""

FORGED = {
    Poison.MINTED: "1000 more than its supply",
    Poison.HEAD: "it is forged",
    Poison.CHAIN: "do not confirm",
    Poison.MOVED: "differ: MOVED, ",
}
"""What is said of each forged snapshot; the last one is found by its difference to that of two others."""


def assert_left(ending: WedgeEnding, steps: tuple[RecoveryStep, ...]) -> None:
    assert 0 <= ending.seconds <= MOST_SECONDS
    assert ending.steps == steps


@pytest.mark.parametrize("name", sorted(STEPS))
def test_each_dead_end_is_left_within_ten_minutes(grounds: Grounds, tmp_path: Path, name: str) -> None:
    assert_left(wedge(grounds, 1, tmp_path, name), STEPS[name])


def test_each_forged_snapshot_is_refused_and_the_next_peer_asked(grounds: Grounds, tmp_path: Path) -> None:
    """A forger of each kind, one after the other, then two honest peers."""
    dead = poisoned_snapshots(grounds, 1, tmp_path, tuple(Poison))
    try:
        ending = play(dead)
    finally:
        dead.world.close()

    assert_left(ending, (FORGET, GO_BACK, FETCH))
    refused = [text for text in ending.said if any(kind.name in text for kind in Poison)]
    assert len(refused) == len(FORGED) == len(Poison)
    for text, (kind, told) in zip(refused, FORGED.items(), strict=True):
        assert told in text
        assert text.startswith(f"{kind.name}: ") or kind is Poison.MOVED


def test_where_all_snapshots_are_forged_the_state_stays_and_the_node_says_so(grounds: Grounds, tmp_path: Path) -> None:
    dead = bug_that_stays(grounds, 3, tmp_path)
    world, node, honest = dead.world, dead.node, dead.node.sources
    node.sources = lambda: [Served(each.peer, each.number, poisoned(each.file, Poison.MINTED)) for each in honest()[:1]]
    try:
        while not any("an operator has to see to it" in text for text in node.said):
            world.run(60)
            assert world.now < grounds.now + 3_600
        stood_at = node.chain.irreversible
        world.run(600)

        assert [step for _, step in node.steps] == [FORGET, GO_BACK, FETCH]
        assert node.chain.irreversible == stood_at < grounds.head + 8
        assert node.rule.incident is not None
        assert node.runs == 1
        require_nothing_signed_twice(world)
        began = [made.timestamp for made in node.made if made.timestamp >= node.steps[0][0]]
        assert began == []
    finally:
        world.close()


class Forbidden(Recovering):
    """Its operator has not allowed that a snapshot replaces its state."""

    permissions = Permissions(may_step=True, may_fetch=False)


def test_without_leave_no_snapshot_replaces_the_state(grounds: Grounds, tmp_path: Path) -> None:
    dead = begin(grounds, 7, tmp_path, Forbidden)
    number = grounds.head + 8
    dead.node.refuses = lambda block: block.number == number
    try:
        while not any("auto-resync-on-wedge is off" in text for text in dead.node.said):
            dead.world.run(60)
            assert dead.world.now < grounds.now + 3_600
        assert [step for _, step in dead.node.steps] == [FORGET, GO_BACK]
        assert highest(dead.world) > dead.node.chain.head_number + 200
    finally:
        dead.world.close()


def test_a_node_that_was_wedged_signs_again(grounds: Grounds, tmp_path: Path) -> None:
    dead = bug_that_stays(grounds, 5, tmp_path)
    try:
        assert_left(play(dead), (FORGET, GO_BACK, FETCH))
        in_step_at = dead.world.now
        dead.world.calm(120)

        assert [block for block in dead.node.made if block.timestamp > in_step_at]
        assert len(dead.world.heads()) == 1
        require_nothing_signed_while_wedged(dead.node)
        require_nothing_signed_twice(dead.world)
    finally:
        dead.world.close()


def test_64_lying_peers_cause_no_step(grounds: Grounds, tmp_path: Path) -> None:
    """They are all that a node hears of, for eight minutes in which it makes no progress."""
    world = World(1, grounds.now)
    names = sorted(grounds.keys)
    node = world.add(WEDGED, grounds.copy(tmp_path / WEDGED), {names[0]: grounds.keys[names[0]]}, (), Recovering)
    assert isinstance(node, Recovering)
    liars = [Braggart(f"liar {place}", (WEDGED,), grounds.lore, Random(place)) for place in range(64)]  # noqa: S311
    for liar in liars:
        world.join(liar)
    stood_at = node.chain.irreversible
    try:
        world.run(480)

        assert sum(liar.shown for liar in liars) > 5_000
        assert node.network.intake.survey.summary().claiming > 20
        assert node.chain.irreversible == stood_at
        assert node.steps == []
        assert node.rule.incidents == []
        assert [text for text in node.said if "so nothing follows" in text]
    finally:
        world.close()


def test_a_healthy_network_sees_no_dead_end(build: Build, tmp_path: Path) -> None:
    world = build(7, 2)
    fresh = world.add("zoe", tmp_path / "zoe", {}, ("ann", "ben"), Recovering)
    assert isinstance(fresh, Recovering)
    world.calm(240)

    assert len(world.heads()) == 1
    assert fresh.steps == []
    assert fresh.said == []
