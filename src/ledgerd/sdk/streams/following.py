"""Follows the chain of several nodes from a place on: each block once, in order, over cuts, changes of node and forks.

Blocks that are irreversible are read ahead, from any nodes; what is newer, from the node whose head is followed. That a
block follows the one that was given before is proven by ids, so that it does not matter which node has answered. Where
only some blocks are asked for, and a node says which, the irreversible ones between them are left out on its word.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from functools import partial
from operator import attrgetter
from typing import Generic, TypeAlias, TypeVar

import msgspec

from ledgerd.protocol.types.identifiers import BlockId, block_number_of
from ledgerd.sdk.connection.clock import ClientClock
from ledgerd.sdk.errors import ClientError, WrongAnswer
from ledgerd.sdk.running import in_order
from ledgerd.sdk.streams.branch import GivenBranch
from ledgerd.sdk.streams.cursor import StreamCursor
from ledgerd.sdk.streams.errors import ForkTooDeep, PastNotKept
from ledgerd.sdk.streams.events import BlockEvent, ReadBlock, Since, Undone
from ledgerd.sdk.streams.reading.nodes import HeadReport, NodeBlocks

N = TypeVar("N")
Steps: TypeAlias = AsyncGenerator["BlockEvent | Undone", None]

SHOWN_DIGITS = 16
FIRST_STEP = 4
"""The number of blocks by which the search for the beginning of a fork goes back first."""
MOST_IDLE = 6
"""A node is asked so often in a row whether it has a new block; then another, if there is one."""


class FollowSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which blocks are followed, how far, and how many are asked for at once."""

    irreversible: bool = True
    until: int | None = None
    window: int = 256
    """Blocks that may be undone."""
    at_a_time: int = 20
    """Blocks in one request."""
    ahead: int = 4
    """Requests at once."""
    timeout: float | None = None
    """Seconds without any progress while nodes fail."""


class BlockFollower(Generic[N]):
    """Gives each block of the chain once, in order, from a position on."""

    def __init__(self, source: NodeBlocks[N], since: Since, settings: FollowSettings, clock: ClientClock) -> None:
        self._source, self._settings, self._clock = source, settings, clock
        self._first, known = beginning(since)
        self._branch = GivenBranch(max(settings.window, len(known)), (each.block for each in known))
        self._is_placed = self._first is not None or bool(known)
        newest = max(known, key=attrgetter("number"), default=None)
        self._again = newest.block if newest is not None and newest.place is not None else None
        """A block of which a part was given: it is given once more."""
        self._strangers: set[N] = set()
        """Nodes whose chain the branch can't go on with."""
        self._failing_since: float | None = None
        self._idle = 0

    async def events(self) -> Steps:
        """The blocks, and what forks undo, up to `until`; without it there is no end."""
        while not self._is_done:
            is_moving = False
            try:
                report = await self._source.report()
                try:
                    async for event in self._advance(report):
                        is_moving, self._failing_since = True, None
                        yield event
                except (ForkTooDeep, PastNotKept) as problem:
                    self._disagree(report, problem)
                else:
                    self._succeed(report, is_moving=is_moving)
            except ClientError as problem:
                self._fail(problem)
            if not is_moving and not self._is_done:
                await self._source.wait()

    @property
    def _is_done(self) -> bool:
        until = self._settings.until
        return until is not None and self._is_placed and self._again is None and self._next > until

    @property
    def _next(self) -> int:
        tip = self._branch.tip
        return tip.number + 1 if tip is not None else self._first or 1

    def _succeed(self, report: HeadReport[N], *, is_moving: bool) -> None:
        self._failing_since = None
        self._idle = 0 if is_moving else self._idle + 1
        if is_moving:
            self._strangers.clear()
            return
        tip = self._branch.tip
        if (tip is not None and block_number_of(report.head) < tip.number) or self._idle >= MOST_IDLE:
            self._idle = 0
            self._source.demote(report.node)

    def _fail(self, problem: ClientError) -> None:
        if not problem.is_temporary:
            raise problem
        now, timeout = self._clock.passed(), self._settings.timeout
        if self._failing_since is None:
            self._failing_since = now
        if timeout is not None and now - self._failing_since >= timeout:
            raise problem

    def _disagree(self, report: HeadReport[N], problem: ClientError) -> None:
        """Set aside a node whose chain does not continue the branch; raise the problem if that is so with all nodes."""
        self._strangers.add(report.node)
        if len(self._strangers) >= self._source.count:
            raise problem
        self._source.blame(report.node, str(problem))

    async def _advance(self, report: HeadReport[N]) -> Steps:
        settings, branch = self._settings, self._branch
        target = report.irreversible if settings.irreversible else report.head
        if not self._is_placed:
            branch.begin_behind(target)
            self._is_placed = True
        if branch.has(report.irreversible):
            branch.settle(block_number_of(report.irreversible))
        highest = block_number_of(target)
        if self._again is not None:
            if highest < block_number_of(self._again):
                return
            for event in await self._once_more(report, self._again):
                yield event
        if branch.contradicts(report.irreversible):
            async for step in self._switch(report, []):
                yield step
        highest = min(highest, settings.until or highest)
        while self._next <= highest:
            before = self._next
            final = min(highest, block_number_of(report.irreversible))
            if before <= final:
                steps = self._past(report, final)
            else:
                last = min(highest, before + settings.at_a_time - 1)
                steps = self._extend(report, await self._source.read(before, last, report.node))
            async for step in steps:
                yield step
            if self._next <= before:
                return  # nothing that the branch could go on with, until there is more

    async def _once_more(self, report: HeadReport[N], block: BlockId) -> list[BlockEvent]:
        """A block of which a part was given, unless the chain has another one: then that is a fork."""
        number = block_number_of(block)
        found = await self._source.read(number, number, report.node)
        if not found:
            return []
        self._again = None
        is_irreversible = number <= block_number_of(report.irreversible)
        return [BlockEvent(block, each.block, is_irreversible, each.rows) for each in found if each.block.id == block]

    async def _past(self, report: HeadReport[N], last: int) -> Steps:
        """Irreversible blocks. Where no node says which may be left out, a stretch is read, and one is asked again."""
        stretch = self._settings.at_a_time * self._settings.ahead
        while self._next <= last:
            async for step in self._some(report, last):
                yield step
            end = min(last, self._next + stretch - 1)
            async for step in self._in_a_row(report, end):
                yield step
            if self._next <= end:
                return
            stretch *= 2

    async def _some(self, report: HeadReport[N], last: int) -> Steps:
        """Irreversible blocks, as far as a node says which of them are asked for at all."""
        tip = self._branch.tip
        blocks = self._source.some(range(self._next, last + 1), tip and tip.id, report.node)
        try:
            async for each in blocks:
                block = each.block
                if block.number == block_number_of(report.irreversible) and block.id != report.irreversible:
                    return
                self._branch.leap_to(block.id)
                yield BlockEvent(block.id, block, True, each.rows)
        finally:
            await blocks.aclose()

    async def _in_a_row(self, report: HeadReport[N], last: int) -> Steps:
        """Irreversible blocks, several requests ahead."""
        size = self._settings.at_a_time
        firsts = range(self._next, last + 1, size)
        jobs = (partial(self._source.read, first, min(last, first + size - 1)) for first in firsts)
        pieces = in_order(jobs, self._settings.ahead)
        try:
            async for piece in pieces:
                tip, first = self._branch.tip, piece[0].block
                found = piece
                if tip is not None and first.previous != tip.id:
                    # Blocks of the node that says where the chain stands, since it may be a fork.
                    found = await self._source.read(first.number, piece[-1].block.number, report.node)
                async for step in self._extend(report, found):
                    yield step
                if not found:
                    return
        finally:
            await pieces.aclose()

    async def _extend(self, report: HeadReport[N], found: Sequence[ReadBlock]) -> Steps:
        """Blocks that follow the tip; or, where another branch has outgrown ours, those of that branch."""
        tip = self._branch.tip
        if found and tip is not None and found[0].block.previous != tip.id:
            async for step in self._switch(report, found):
                yield step
            return
        for event in self._given(report, found):
            yield event

    def _given(self, report: HeadReport[N], found: Iterable[ReadBlock]) -> Iterator[BlockEvent]:
        irreversible = block_number_of(report.irreversible)
        for each in found:
            block = each.block
            self._branch.add(block)
            is_irreversible = block.number <= irreversible
            self._branch.settle(block.number if is_irreversible else 0)
            yield BlockEvent(block.id, block, is_irreversible, each.rows)

    async def _switch(self, report: HeadReport[N], newer: Sequence[ReadBlock]) -> Steps:
        """Undo what the node's branch does not have, and give what it has instead. Both are read before anything is
        undone.
        """
        branch, blocks, step = self._branch, deque(newer), FIRST_STEP
        parent = blocks[0].block.previous if blocks else report.irreversible
        while not branch.has(parent):
            below, oldest = block_number_of(parent), branch.oldest.number
            if below <= branch.irreversible or below < oldest or (below == oldest and not branch.is_all):
                raise self._no_way(parent)
            if below == oldest:
                break
            found = await self._source.read(max(oldest + 1, below - step + 1), below, report.node)
            if not found or found[-1].block.id != parent:
                raise WrongAnswer(f"a node has changed its branch below block {below + 1}")
            for each in reversed(found):
                blocks.appendleft(each)
                parent = each.block.previous
                if branch.has(parent):
                    break
            step = min(2 * step, self._settings.at_a_time)
        if block_number_of(parent) < branch.irreversible:
            raise self._no_way(parent)
        cut = branch.cut_behind(parent) if branch.has(parent) else branch.begin_again(parent)
        left = [*(each.id for each in cut[1:]), parent]
        for gone, behind in zip(cut, left, strict=True):
            yield Undone(gone.id, gone.block, StreamCursor(behind))
        for event in self._given(report, blocks):
            yield event

    def _no_way(self, parent: BlockId) -> ForkTooDeep:
        tip, oldest = self._branch.tip, self._branch.oldest
        number = block_number_of(parent)
        given = "" if tip is None else f" Everything up to block {tip.number} ({_shown(tip.id)}) was given."
        return ForkTooDeep(
            f"the chain has block {number} ({_shown(parent)}), but this stream went by another one, and the oldest "
            f"block that it can go back to is {oldest.number} ({_shown(oldest.id)}).{given} Undo what came after a "
            f"block that the chain still has, and go on after that one (`since`); with several cursors, or a larger "
            f"`window`, a stream finds it by itself"
        )


def _shown(block: BlockId) -> str:
    return f"{block.hex()[:SHOWN_DIGITS]}..."


def beginning(since: Since) -> tuple[int | None, list[StreamCursor]]:
    """The first block, or blocks after one of which it goes on."""
    if since is None:
        return None, []
    if isinstance(since, int):
        return max(since, 1), []
    each = [since] if isinstance(since, str | StreamCursor) else since
    cursors = [StreamCursor.parse(one) if isinstance(one, str) else one for one in each]
    return (None if cursors else 1), cursors
