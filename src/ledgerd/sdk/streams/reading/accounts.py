"""The past of one account, without the blocks in which nothing happened to it, where a node keeps its history.

A node's word is taken for which blocks these are, as long as it does not contradict itself: its history has to reach
over all of this past, to number the account's operations without a gap, and to name exactly those that the blocks have.
Where it does not, nothing more comes: who follows the chain reads every block from there on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any, NamedTuple, TypeAlias

from ledgerd.client.envelope import NodeCall
from ledgerd.protocol.operations.touched import touched
from ledgerd.protocol.types.identifiers import BlockId, block_number_of
from ledgerd.sdk.connection.node_link import NodeLink
from ledgerd.sdk.connection.nodes import HEAD, Nodes, Unsuited
from ledgerd.sdk.errors import NodeError, WrongAnswer
from ledgerd.sdk.running import in_order
from ledgerd.sdk.streams.cursor import PlaceInBlock
from ledgerd.sdk.streams.events import ReadBlock
from ledgerd.sdk.streams.reading.answers import (
    UNREADABLE,
    block_call,
    block_in,
    header_call,
    id_in,
    ids_in,
    operations_call,
    place_of,
    require_chain,
    rows_in,
)

NEWEST = -1
PAGE = 500
"""Entries of an account in one answer; nodes give 1,000 at most."""
PROBES = 20
"""Entries that are looked at in one request, while the first one is looked for."""
WORTHWHILE = 100
"""Shorter stretches of the past are read block by block."""
CALLS_OF_A_BLOCK = 3
PROBED_BEFORE = (0, 1, 2, 3, 4, 5, 6, 7, 11, 19, 35, 67, 131, 259, 515)
"""How far before a block others are searched for operations: if one has some, the node kept a history then."""

Places: TypeAlias = Mapping[int, AbstractSet[PlaceInBlock]]
"""Operations of the account by their blocks."""


class _Entry(NamedTuple):
    """An operation in the history of the account."""

    sequence: int
    block: int
    place: PlaceInBlock


class _NotTold(Exception):
    """The node does not say in which blocks something happened, or not so that it can be believed."""


class AccountBlocks:
    """The blocks of an account."""

    def __init__(self, nodes: Nodes, account: str, ahead: int) -> None:
        self._nodes, self._account, self._ahead = nodes, account, ahead
        self._at_a_time = max(1, (nodes.limits.largest_batch - 1) // CALLS_OF_A_BLOCK)

    async def among(self, numbers: range, behind: BlockId | None, node: NodeLink) -> AsyncGenerator[ReadBlock, None]:
        """Of a node's irreversible blocks those in which something happened to the account, in order, and the last of
        all; they begin after a block, if one is given. It ends early where the node does not tell them.
        """
        if len(numbers) < WORTHWHILE:
            return
        try:
            numbers, newest = await self._reach(numbers, behind, node)
            async for places in self._pages(numbers, newest, node):
                blocks = sorted(places)
                chunks = (blocks[at : at + self._at_a_time] for at in range(0, len(blocks), self._at_a_time))
                jobs = (partial(self._read, {each: places[each] for each in chunk}, node) for chunk in chunks)
                pieces = in_order(jobs, self._ahead)
                try:
                    async for piece in pieces:
                        for block in piece:
                            yield block
                finally:
                    await pieces.aclose()
        except (_NotTold, Unsuited, WrongAnswer, *UNREADABLE):
            return

    async def _reach(self, numbers: range, behind: BlockId | None, node: NodeLink) -> tuple[range, _Entry]:
        """The blocks over which the node's history reaches, and the account's newest entry.

        A history begins with some block and is kept from there on, up to a block near the head. So it has what there
        was in a stretch if it has operations of a block that is not after the first, and of the last one.
        """
        first, last = numbers[0], numbers[-1]
        offsets = PROBED_BEFORE[: max(1, (self._nodes.limits.largest_batch - 2) // 2)]
        older = [first - each for each in offsets if first > each]
        newer = [last - each for each in offsets if last - each >= first]
        calls = [*map(operations_call, older + newer), header_call(first), self._history_call(NEWEST, 1)]
        *answers, header, entries = await self._ask(calls, node)
        if behind is not None and id_in(header, "previous") != behind:
            raise _NotTold
        kept = [number for number, each in zip(older + newer, answers, strict=True) if _is_kept(each, number)]
        reach = range(first, max((each for each in kept if each in newer), default=0) + 1)
        if min(kept, default=last) > first or len(reach) < WORTHWHILE:
            raise _NotTold
        return reach, _entries_in(entries)[-1]

    async def _pages(self, numbers: range, newest: _Entry, node: NodeLink) -> AsyncGenerator[Places, None]:
        """The places in these blocks that the history of the account has, each block whole; in any case with the last
        block.
        """
        last = numbers[-1]
        places: defaultdict[int, set[PlaceInBlock]] = defaultdict(set)
        following = await self._first_from(numbers[0], newest, node)
        unread = numbers[0]
        while following <= newest.sequence and unread <= last:
            until = min(following + PAGE - 1, newest.sequence)
            calls = [operations_call(unread), self._history_call(until, max(1, until - following))]
            kept, answer = await self._ask(calls, node)
            if unread > numbers[0] and not _is_kept(kept, unread):
                raise _NotTold  # what was not read yet is not kept any more
            entries = [each for each in _entries_in(answer) if each.sequence >= following]
            if [each.sequence for each in entries] != [*range(following, until + 1)]:
                raise _NotTold
            for each in entries:
                if each.block < unread:
                    raise _NotTold
                unread = each.block
                if unread <= last:
                    places[unread].add(each.place)
            following = until + 1
            # The newest of these blocks may have more, in the next page.
            yield {number: places.pop(number) for number in sorted(places) if number < unread and number != last}
        places[last] |= set()
        yield places

    async def _first_from(self, number: int, newest: _Entry, node: NodeLink) -> int:
        """The sequence of the account's first entry in a block from a number on, or that after the newest."""
        if newest.block < number:
            return newest.sequence + 1
        low, high = 0, newest.sequence
        at_once = min(PROBES, self._nodes.limits.largest_batch)
        while low < high:
            probes = range(low, high, -(-(high - low) // at_once))
            answers = await self._ask([self._history_call(each, 1) for each in probes], node)
            for probe, answer in zip(probes, answers, strict=True):
                if _is_before(answer, probe, number):
                    low = probe + 1
                else:
                    high = probe
                    break
        return low

    async def _read(self, places: Places, node: NodeLink) -> list[ReadBlock]:
        """Blocks with all of their operations, those of the account being the ones that its history has."""
        numbers = sorted(places)
        calls = [
            HEAD,
            *map(block_call, numbers),
            *map(operations_call, numbers),
            *(header_call(number + 1) for number in numbers),
        ]
        head, *answers = await self._ask(calls, node)
        ends, count = ids_in(head), len(numbers)
        by_block = zip(numbers, answers[:count], answers[count : 2 * count], answers[2 * count :], strict=True)
        return [self._block(number, places[number], ends, answers) for number, *answers in by_block]

    def _block(
        self, number: int, places: AbstractSet[PlaceInBlock], ends: tuple[BlockId, BlockId], answers: Sequence[Any]
    ) -> ReadBlock:
        head, settled = ends
        block = block_in(answers[0], number, block_number_of(settled))
        require_chain([block], head, answers[2])
        rows = rows_in(answers[1], block)
        if rows is None or places != {each.place for each in rows if self._account in touched(each.operation)}:
            raise _NotTold
        return ReadBlock(block, rows)

    def _history_call(self, sequence: int, limit: int) -> NodeCall:
        return NodeCall("account_history", "get_account_history", (self._account, sequence, limit))

    async def _ask(self, calls: Sequence[NodeCall], node: NodeLink) -> Sequence[Any]:
        return (await self._nodes.ask(calls, lambda answers: answers, of=node)).value


def _is_kept(answer: object, number: int) -> bool:
    """Whether a node's history has operations of a block."""
    return isinstance(answer, list) and bool(answer) and answer[0]["block"] == number


def _entries_in(answer: object) -> list[_Entry]:
    if isinstance(answer, NodeError) or not isinstance(answer, list):
        raise _NotTold
    return [_Entry(int(number), int(row["block"]), place_of(row)) for number, row in answer]


def _is_before(answer: object, sequence: int, number: int) -> bool:
    """Whether an entry is of an earlier block. Those that a node does not keep any more are."""
    if isinstance(answer, NodeError):
        return True
    entries = _entries_in(answer)
    return not entries or entries[-1].sequence != sequence or entries[-1].block < number
