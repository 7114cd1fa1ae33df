"""Blocks that are pushed together become what they become one by one, whatever they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledgerd.chain.forks.outcome import Applied, Outcome, Refused, Switched
from ledgerd.chain.forks.trunk import PopEmptyChain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied, Event
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from tests.chain.forks.branches import Branches, Fresh, overdrawn, spoiled, unknown
from tests.chain.networks import ALICE, VIZ, Network
from tests.chain.observing import observe
from tests.chain.same_state import assert_same_state

KEPT_APART = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=12, deadline=None)
LENGTH = 14
"""Of the trunk: with seven validators its first blocks are irreversible at its end."""
KINDS = ("spoiled", "overdrawn", "unknown", "again", "branch", "missing")


class Witness(Observer):
    """Writes down which blocks were pushed."""

    def __init__(self) -> None:
        self.seen: list[tuple[bytes, type[Outcome]]] = []

    def pushed(self, block: Block, outcome: Outcome) -> None:
        self.seen.append((block.id, type(outcome)))


def one_by_one(node: Network, blocks: Sequence[Block]) -> list[Outcome]:
    return [node.chain.push_block(block, commit=False) for block in blocks]


def together(node: Network, blocks: Sequence[Block]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    while len(outcomes) < len(blocks):
        outcomes += node.chain.push_blocks(blocks[len(outcomes) :])
    return outcomes


def for_good(node: Network, blocks: Sequence[Block]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    while len(outcomes) < len(blocks):
        outcomes += node.chain.push_blocks(blocks[len(outcomes) :], for_good=True)
    return outcomes


def told(outcomes: Sequence[Outcome]) -> list[tuple[type[Outcome], str]]:
    return [(type(each), str(each.violation)) for each in outcomes]


def candidates(node: Network, blocks: Sequence[Block]) -> list[tuple[bool, bytes | None, bool]]:
    """What the node knows of each block: whether it could be switched to, its parent, and whether it is refused."""
    forks, found = node.chain.parts.forks, list[tuple[bool, bytes | None, bool]]()
    for block in blocks:
        item = forks.find(block.id)
        parent = None if item is None else forks.parent_of(item)
        found.append((forks.is_known(block.id), None if parent is None else parent.id, is_refused(node, block)))
    return found


def is_refused(node: Network, block: Block) -> bool:
    try:
        node.chain.parts.linking.refused.check(block)
    except RuleViolation:
        return True
    return False


def timeless(event: Event) -> Event:
    return event._replace(seconds=0.0) if isinstance(event, BlockApplied) else event


def branch(fresh: Fresh, trunk: Sequence[Block], length: int) -> list[Block]:
    """Blocks that leave a trunk at its end, and skip a slot first."""
    node = fresh()
    one_by_one(node, trunk)
    branches = Branches(node)
    return branches.line(branches.root, length, skipped=1)


def assert_alike(
    fresh: Fresh, blocks: Sequence[Block], sizes: Sequence[int], prepare: Callable[[Network], object]
) -> None:
    nodes, witnesses = (fresh(), fresh()), (Witness(), Witness())
    for node, witness in zip(nodes, witnesses, strict=True):
        prepare(node)
        node.chain.observe(witness)
    begun = 0
    for size in sizes:
        some = blocks[begun : begun + size]
        begun += size
        assert told(together(nodes[1], some)) == told(one_by_one(nodes[0], some))
        assert candidates(nodes[1], blocks) == candidates(nodes[0], blocks)
    assert len(nodes[1].chain.parts.forks) == len(nodes[0].chain.parts.forks)
    assert witnesses[1].seen == witnesses[0].seen
    for node in nodes:
        node.chain.commit()
        node.chain.parts.pending.drop_session()
    assert_same_state(nodes[1].chain, nodes[0].chain)


@KEPT_APART
@given(data=st.data())
def test_any_blocks_in_any_portions(fresh: Fresh, data: st.DataObject) -> None:
    maker = fresh()
    trunk = maker.produce(LENGTH)
    blocks = list(trunk)
    for _ in range(data.draw(st.integers(0, 3), label="oddities")):
        place = data.draw(st.integers(0, len(blocks)), label="place")
        number = data.draw(st.integers(0, LENGTH - 1), label="of")
        block = trunk[number]
        kind = data.draw(st.sampled_from(KINDS), label="kind")
        if kind == "branch":
            blocks[place:place] = branch(fresh, trunk[:number], 2)
        elif kind == "missing":
            del blocks[min(place, len(blocks) - 1)]
        elif kind == "unknown":
            blocks.insert(place, unknown(maker))
        else:
            made = {"spoiled": spoiled, "overdrawn": overdrawn}.get(kind, lambda _, same: same)
            blocks.insert(place, made(maker, block))
    sizes = data.draw(st.lists(st.integers(1, LENGTH), min_size=1), label="sizes")
    sizes.append(len(blocks))
    waits = data.draw(st.booleans(), label="waits")
    assert_alike(fresh, blocks, sizes, waiting if waits else lambda _: None)


def waiting(node: Network) -> None:
    node.send(Transfer(VIZ, ALICE, tokens(1), "waits"))


@pytest.mark.parametrize("broken_at", [None, 0, 5])
def test_blocks_that_are_applied_for_good_leave_the_same_state_and_events(fresh: Fresh, broken_at: int | None) -> None:
    maker = fresh()
    blocks = maker.produce(LENGTH)
    if broken_at is not None:
        blocks.insert(broken_at, overdrawn(maker, blocks[broken_at]))
    nodes = fresh(), fresh()
    seen: tuple[list[Event], list[Event]] = [], []
    for node, events in zip(nodes, seen, strict=True):
        observe(node.chain, lambda event, events=events: events.append(timeless(event)))  # type: ignore[misc]

    assert told(for_good(nodes[1], blocks)) == told(one_by_one(nodes[0], blocks))

    for node in nodes:
        node.chain.commit()
    assert seen[1] == seen[0]
    assert nodes[1].chain.parts.store.verify() == []
    assert_same_state(nodes[1].chain, nodes[0].chain)


@pytest.mark.parametrize("is_broken", [False, True])
def test_without_observers_no_block_that_is_applied_for_good_is_kept_for_them(fresh: Fresh, is_broken: bool) -> None:
    maker, node = fresh(), fresh()
    blocks = maker.produce(LENGTH)
    broken = [overdrawn(maker, blocks[-1])] if is_broken else []
    for_good(node, [*blocks[:-1], *broken])
    kept = [event.block.number for event in node.chain.parts.trunk.happened if isinstance(event, BlockApplied)]
    assert kept == ([block.number for block in blocks[:-1]] if is_broken else []), "applied one by one, or all at once"

    seen: list[Event] = []
    node.chain.commit()
    observe(node.chain, seen.append)
    one_by_one(node, blocks[-1:])
    node.chain.commit()
    assert [len(event.operations) > 0 for event in seen if isinstance(event, BlockApplied)] == [True]


def test_no_branch_leaves_what_was_applied_for_good(fresh: Fresh) -> None:
    trunk = fresh().produce(LENGTH)
    longer = branch(fresh, trunk[: LENGTH - 2], 6)
    node = fresh()
    for_good(node, trunk[:-1])
    one_by_one(node, trunk[-1:])

    assert not {Switched, Applied} & {type(each) for each in one_by_one(node, longer)}
    assert node.chain.head_id == trunk[-1].id
    node.chain.pop_block()
    assert node.chain.head_id == trunk[-2].id
    with pytest.raises(PopEmptyChain):
        node.chain.pop_block()


def test_a_line_ends_with_the_block_that_is_refused_and_all_before_it_is_applied(fresh: Fresh) -> None:
    maker = fresh()
    blocks = maker.produce(4)
    node = fresh()

    outcomes = node.chain.push_blocks([*blocks[:2], overdrawn(maker, blocks[2]), blocks[3]])

    assert [type(each) for each in outcomes] == [Applied, Applied, Refused]
    assert node.chain.head_id == blocks[1].id
    assert [type(each) for each in together(node, blocks[2:])] == [Applied, Applied]


def test_the_block_during_which_the_time_is_over_is_the_last(fresh: Fresh) -> None:
    blocks = fresh().produce(3)
    node = fresh()

    assert [type(each) for each in node.chain.push_blocks(blocks, seconds=0.0)] == [Applied]
    assert node.chain.head_id == blocks[0].id


def test_of_a_long_line_only_what_a_branch_may_leave_is_kept(fresh: Fresh) -> None:
    blocks = fresh().produce(2 * LENGTH)
    node, single = fresh(), fresh()

    assert len(node.chain.push_blocks(blocks)) == len(blocks)

    one_by_one(single, blocks)
    assert candidates(node, blocks) == candidates(single, blocks)
    assert len(node.chain.parts.forks) == len(single.chain.parts.forks) < len(blocks)


def test_what_was_pushed_together_can_be_undone_and_left_for_a_branch(fresh: Fresh) -> None:
    trunk = fresh().produce(LENGTH)
    rival = branch(fresh, trunk[:-2], 4)
    node, single = fresh(), fresh()

    for blocks in (trunk, rival):
        together(node, blocks)
        one_by_one(single, blocks)
    assert node.chain.head_id == single.chain.head_id == rival[-1].id

    assert node.chain.go_back() == single.chain.go_back()
    assert_same_state(node.chain, single.chain)
