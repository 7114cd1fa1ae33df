"""A long branch that signatures do not decide is applied beside the trunk in pieces, and the chain goes on between."""

from __future__ import annotations

import pytest

from ledgerd.chain.forks import choice as choice_module
from ledgerd.chain.forks.outcome import OnBranch
from ledgerd.chain.forks.trial import UnderWay
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from tests.chain.forks.branches import Branches, Fresh, forged, outcome, overdrawn, push_all
from tests.chain.forks.test_proof import ALL, NEW_KEY, key_changes, pops
from tests.chain.networks import VIZ, Network
from tests.chain.same_state import assert_same_state

TRANSACTIONS = 20


class Scene:
    """A node in whose view a branch with new keys becomes better than its own."""

    def __init__(self, fresh: Fresh) -> None:
        maker = fresh()
        self.trunk = maker.produce(5)
        branches = Branches(maker)
        self.short = branches.line(branches.root, 2, memo="short")

        def change() -> None:
            for each in key_changes():
                if each.owner != maker.chain.scheduled_at(2):
                    maker.send(each, key=maker.keys[each.owner])

        def fill() -> None:
            for amount in range(TRANSACTIONS):
                maker.send(*[Transfer(VIZ, VIZ, tokens(1 + amount + place), "") for place in range(20)])

        self.long = [branches.grow(branches.root, 1, acting=change)]
        maker.keys |= {name: NEW_KEY for name in ALL if name != self.long[0].validator}
        for _ in range(6):
            self.long.append(branches.grow(self.long[-1].id, acting=fill))
        self.maker = maker
        self.node = in_pieces(fresh())
        push_all(self.node, [*self.trunk, *self.short])
        self.straight = fresh()
        push_all(self.straight, [*self.trunk, *self.long])


def in_pieces(node: Network) -> Network:
    node.asked = 0  # type: ignore[attr-defined]

    def go_on() -> None:
        node.asked += 1  # type: ignore[attr-defined]

    node.chain.try_in_pieces(go_on)
    return node


@pytest.fixture(autouse=True)
def _one_step_a_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice_module, "PIECE_SECONDS", 0.0)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Steps of the trials so far."""
    taken, step = list[int](), UnderWay.step

    def count(trying: UnderWay) -> bool:
        taken.append(1)
        return step(trying)

    monkeypatch.setattr(UnderWay, "step", count)
    return taken


def push_until_tried(node: Network, blocks: list[Block]) -> int:
    """How many blocks it takes until their branch is tried."""
    for place, block in enumerate(blocks):
        result = outcome(node, block)
        assert isinstance(result, OnBranch)
        if node.chain.parts.choice.is_trying:
            return place + 1
    raise AssertionError("the branch is not tried")


def test_a_long_branch_is_applied_in_as_many_turns_as_it_has_blocks_and_switched_to(
    fresh: Fresh, steps: list[int]
) -> None:
    scene = Scene(fresh)
    node, chain = scene.node, scene.node.chain
    push_all(node, scene.long[: push_until_tried(node, scene.long)])
    push_all(node, scene.long)
    head, turns = chain.head_id, 0
    while chain.parts.choice.is_trying:
        assert chain.head_id == head, "the trunk stays until all of it is applied"
        before = len(steps)
        node.send(Transfer(VIZ, VIZ, tokens(5_000 + turns), "between"))
        chain.try_further()
        assert len(steps) - before <= 2
        turns += 1
        assert len(chain.waiting) >= turns or chain.head_id != head, "transactions are taken in between"
    assert turns >= len(scene.long)
    assert chain.head_id == scene.long[-1].id
    assert chain.parts.choice.tried == 1
    assert node.asked >= turns  # type: ignore[attr-defined]
    chain.parts.pending.clear()
    assert_same_state(chain, scene.straight.chain)
    assert chain.parts.store.verify() == []


def test_when_the_trunk_moves_the_trial_begins_anew_with_longer_pieces(fresh: Fresh, steps: list[int]) -> None:
    scene = Scene(fresh)
    node, chain = scene.node, scene.node.chain
    push_until_tried(node, scene.long)
    push_all(node, scene.long)
    chain.try_further()
    node.produce(1)
    moved = chain.head_id
    steps.clear()
    chain.try_further()
    assert chain.head_id == moved
    assert chain.parts.choice.tried == 2
    for _ in range(100):
        chain.try_further()
    assert not chain.parts.choice.is_trying
    assert chain.head_id == scene.long[-1].id
    chain.parts.pending.clear()
    assert_same_state(chain, scene.straight.chain)


def test_a_bad_branch_that_is_tried_in_pieces_leaves_no_trace(fresh: Fresh) -> None:
    branches = Branches(fresh())
    good = branches.line(branches.root, 2, memo="good")
    first = branches.grow(branches.root, 1)
    bad = [first, overdrawn(branches.network, branches.grow(first.id), *key_changes())]
    unused = sorted({*ALL} - {block.validator for block in bad})
    for name in unused[:2]:
        bad.append(forged(bad[-1].id, bad[-1].timestamp + 3, name, key=NEW_KEY))
    node, straight = in_pieces(fresh()), fresh()
    push_all(straight, good)
    push_all(node, good)
    push_until_tried(node, bad)
    while node.chain.parts.choice.is_trying:
        node.chain.try_further()
    assert node.chain.head_id == good[-1].id
    assert pops(node) == 0
    assert not node.chain.is_linked(bad[-1].id)
    assert_same_state(node.chain, straight.chain)
    node.produce(2)


def test_a_chain_that_is_closed_abandons_what_it_tries(fresh: Fresh) -> None:
    scene = Scene(fresh)
    node = scene.node
    head = node.chain.head_id
    push_until_tried(node, scene.long)
    node.chain.try_further()
    node.reopen()
    assert node.chain.head_id == head
    assert node.chain.parts.store.verify() == []
