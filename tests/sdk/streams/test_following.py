"""Streams of blocks over forks, cuts and changes of node: replayed, they are always the chain that stays."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.sdk.streams.cursor import StreamCursor
from ledgerd.sdk.streams.errors import ForkTooDeep
from ledgerd.sdk.streams.events import BlockEvent, Since, Undone
from ledgerd.sdk.streams.following import BlockFollower, FollowSettings
from tests.sdk.scripted_node import PlainClock
from tests.sdk.streams.chain_world import SimulatedNode, World, chain_of, numbers

SCRIPTS = st.lists(st.integers(0, 8 * 60 - 1), max_size=60)
WINDOW = 500


def follower(world: World, since: Since, **settings: Any) -> BlockFollower[SimulatedNode]:
    chosen = FollowSettings(**{"at_a_time": 3, "ahead": 3, "window": WINDOW} | settings)
    return BlockFollower(world, since, chosen, PlainClock())


class Replay:
    """What a program has that applies what a stream gives."""

    def __init__(self, first: int = 1) -> None:
        self.first = first
        self.blocks: list[Block] = []
        self.undone = 0

    def take(self, event: BlockEvent | Undone) -> None:
        if isinstance(event, Undone):
            self.undone += 1
            gone = self.blocks.pop()
            assert (gone.id, gone.previous) == (event.id, event.cursor.block)
            return
        assert event.block.id == event.id
        if self.blocks:
            assert event.block.previous == self.blocks[-1].id, "a hole, a repeat, or another branch"
        else:
            assert event.number == self.first
        self.blocks.append(event.block)

    @property
    def cursors(self) -> list[StreamCursor]:
        """What it keeps of its blocks, and where it began."""
        return [StreamCursor(each.id) for each in self.blocks]


async def replayed(world: World, replay: Replay, *, cuts: Sequence[int] = (), **settings: Any) -> None:
    """Follow a world until all of its nodes agree, beginning again where it is cut."""
    pauses = iter(cuts)
    while True:
        cut = next(pauses, None)
        since: Since = [str(each) for each in replay.cursors] or replay.first
        events = follower(world, since, **settings).events()
        count = 0
        async for event in events:
            replay.take(event)
            count += 1
            is_whole = world.is_over and replay.blocks[-1:] == world.chain[-1:]
            if is_whole or count == cut:
                break
        await events.aclose()
        if is_whole:
            return


@given(st.integers(1, 4), SCRIPTS)
def test_replayed_with_what_is_undone_a_stream_is_the_chain_that_stays(count: int, script: list[int]) -> None:
    world, replay = World(count, script), Replay()
    asyncio.run(replayed(world, replay, irreversible=False))
    assert replay.blocks == world.chain


@given(st.integers(1, 4), SCRIPTS, st.lists(st.integers(1, 8), max_size=6))
def test_so_it_is_where_it_is_cut_and_goes_on_from_cursors(count: int, script: list[int], cuts: list[int]) -> None:
    world, replay = World(count, script), Replay(first=4)
    asyncio.run(replayed(world, replay, irreversible=False, cuts=cuts))
    assert replay.blocks == world.chain[3:]


@given(st.integers(1, 4), SCRIPTS, st.lists(st.integers(1, 8), max_size=6))
def test_of_irreversible_blocks_none_is_undone(count: int, script: list[int], cuts: list[int]) -> None:
    world, replay = World(count, script), Replay()
    asyncio.run(replayed(world, replay, irreversible=True, cuts=cuts))
    assert (replay.blocks, replay.undone) == (world.chain, 0)


class ReplayOfSome(Replay):
    """What a program has that only some blocks mean something to."""

    def take(self, event: BlockEvent | Undone) -> None:
        if not isinstance(event, Undone):
            assert not self.blocks or event.number > self.blocks[-1].number, "a repeat, or another branch"
            self.blocks.append(event.block)
        elif self.blocks and self.blocks[-1].id == event.id:
            self.blocks.pop()


@given(st.integers(1, 4), SCRIPTS, st.lists(st.integers(1, 8), max_size=6), st.booleans())
def test_where_blocks_of_the_past_are_left_out_none_that_is_asked_for_is(
    count: int, script: list[int], cuts: list[int], irreversible: bool
) -> None:
    world, replay = World(count, script), ReplayOfSome()
    world.wanted = lambda number: number % 3 == 0
    asyncio.run(replayed(world, replay, irreversible=irreversible, cuts=cuts))
    assert [each for each in replay.blocks if each.number % 3 == 0] == world.chain[2::3]
    assert [each for each in replay.blocks if each.id not in {one.id for one in world.chain}] == []


@pytest.mark.parametrize("irreversible", [True, False])
def test_the_past_is_read_in_ranges_and_not_block_by_block(irreversible: bool) -> None:
    world = World(3, [], start=5_000)
    replay = Replay()
    asyncio.run(replayed(world, replay, irreversible=irreversible, at_a_time=50))
    assert list(numbers(replay.blocks)) == list(range(1, 5_041))
    assert world.reads == 101


def test_a_stream_ends_with_the_block_until_which_it_goes() -> None:
    async def scene() -> None:
        world = World(2, [])
        found = [each async for each in follower(world, 10, until=15).events()]
        assert [each.number for each in found] == [10, 11, 12, 13, 14, 15]
        assert [each async for each in follower(world, 10, until=9).events()] == []

    asyncio.run(scene())


def test_without_a_beginning_a_stream_begins_with_the_next_block() -> None:
    async def scene() -> None:
        world = World(1, [0, 0])
        events = follower(world, None, irreversible=False).events()
        first = await anext(events)
        assert first.number == 8
        await events.aclose()

    asyncio.run(scene())


def test_a_fork_below_the_first_block_begins_the_stream_again() -> None:
    async def scene() -> None:
        world = World(1, [6] * 20)
        world.irreversible = world.nodes[0].irreversible = 1
        events = follower(world, 6, irreversible=False).events()
        first = await anext(events)
        other = chain_of(6, world.chain[:3], "other")
        world.nodes[0].chain = other
        world.branches = [other]
        second, third = await anext(events), await anext(events)
        assert isinstance(second, Undone)
        assert (second.id, second.cursor.block) == (first.id, other[4].id)
        assert isinstance(third, BlockEvent)
        assert third.block == other[5]
        await events.aclose()

    asyncio.run(scene())


def test_a_fork_deeper_than_the_window_names_both_blocks_and_says_what_to_do() -> None:
    async def scene() -> None:
        world = World(2, [])
        world.agree()
        branch = chain_of(50, world.chain[:10], "other")
        since = [str(StreamCursor(world.chain[number].id)) for number in (20, 30)]
        world.is_divided = True
        for node in world.nodes:
            node.chain, node.irreversible = branch, 5
        events = follower(world, since, irreversible=False).events()
        with pytest.raises(ForkTooDeep) as caught:
            await anext(events)
        words = str(caught.value)
        assert branch[20].id.hex()[:16] in words
        assert "the oldest block that it can go back to is 21" in words
        assert "Everything up to block 31" in words

    asyncio.run(scene())


def test_one_node_on_a_branch_of_its_own_is_blamed_and_the_others_are_followed() -> None:
    async def scene() -> None:
        world = World(3, [])
        world.agree()
        liar = world.nodes[0]
        world.is_divided = True
        liar.chain = chain_of(90, (), "liar")
        liar.irreversible = 80
        since = StreamCursor(world.chain[20].id)
        events = follower(world, since, irreversible=False, until=30).events()
        found = [each async for each in events]
        assert [each.id for each in found] == [each.id for each in world.chain[21:30]]
        assert len(world.blamed) >= 1

    asyncio.run(scene())


def test_an_empty_list_of_cursors_begins_with_the_first_block() -> None:
    async def scene() -> None:
        events = follower(World(1, []), [], until=1).events()
        [only] = [each async for each in events]
        assert isinstance(only, BlockEvent)
        assert only.block.previous == NO_BLOCK

    asyncio.run(scene())
