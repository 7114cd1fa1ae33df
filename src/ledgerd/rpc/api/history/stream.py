"""A stream of operations: recorded ones from a block on, then new ones, without gaps and duplicates.

Nothing is queued for a subscriber. A stream knows its next block, and reads on when its client has received the last
message and there are new blocks. So a slow client needs no memory, and one that reconnects continues where it was.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing, contextmanager

import msgspec

from ledgerd.chain.log.histories import History, HistoryView, RecordedOperation, Wanted
from ledgerd.codec.types.numbers import UInt32
from ledgerd.rpc.call.view import MainProcess
from ledgerd.rpc.link.link import HEAD

EXAMINED_AT_ONCE = 500
"""Operations that are examined for one message: about a millisecond of work, before other requests are served."""

SILENT_BLOCKS = 1_000
"""Blocks without a selected operation after which a message says how far the stream is."""


class StreamMessage(msgspec.Struct, frozen=True):
    """One message of a subscription: its name, or undone blocks, or the operations of blocks."""

    subscription: str | None
    next_block: UInt32 | None
    oldest_block: UInt32 | None
    undone_from: UInt32 | None
    first_block: UInt32 | None
    last_block: UInt32 | None
    irreversible_block: UInt32 | None
    operations: tuple[RecordedOperation, ...] | None


class HistoryStream:
    """The position of one subscriber."""

    def __init__(self, history: History, wanted: Wanted, next_block: int, *, reversible: bool) -> None:
        self._history = history
        self._wanted = wanted
        self._is_reversible = reversible
        self._next = next_block
        self._covered_from = next_block
        """The first block that no message has covered."""
        self._marks: dict[int, bytes] = {}

    def opening(self, name: str) -> str:
        with self._history.reading() as view:
            if not self._next:
                self._next = self._covered_from = self._last(view) + 1
            oldest = view.first_block_since(0)
        return f'{{"subscription":"{name}","next_block":{self._next},"oldest_block":{oldest}}}'

    def advance(self) -> tuple[str, bool]:
        """Examine some more blocks. Returns a message, if there is one, and whether there may be more at once."""
        with self._history.reading() as view:
            undone = self._undone_from(view) if self._marks else None
            if undone is not None:
                self._next = undone
                if undone < self._covered_from:
                    self._covered_from = undone
                    return f'{{"undone_from":{undone}}}', True
            last = self._last(view)
            if self._next > last or not self._is_ready(view):
                return "", False
            operations, reached = view.find_operations(self._next, last, self._wanted, EXAMINED_AT_ONCE)
            irreversible = view.irreversible_number
            for number in range(max(self._next, irreversible + 1), reached + 1):
                self._marks[number] = view.mark_of(number)
            self._next = reached + 1
        if not operations and self._next - self._covered_from < SILENT_BLOCKS:
            return "", reached < last
        first, self._covered_from = self._covered_from, self._next
        return (
            f'{{"first_block":{first},"last_block":{reached},"irreversible_block":{irreversible},'
            f'"operations":[{",".join(operations)}]{self._more(first, reached)}}}'
        ), reached < last

    def _is_ready(self, view: HistoryView) -> bool:  # noqa: ARG002
        """Whether all that a message is made of is at hand; if not, it will be with the next head."""
        return True

    def _more(self, first: int, last: int) -> str:  # noqa: ARG002
        """More members of the message: what a stream tells of blocks besides operations."""
        return ""

    def _last(self, view: HistoryView) -> int:
        return view.head_number if self._is_reversible else view.irreversible_number

    def _undone_from(self, view: HistoryView) -> int | None:
        """The first sent block that has been undone since; irreversible blocks are not checked again."""
        for number in sorted(self._marks, reverse=True):
            if view.mark_of(number) == self._marks[number]:
                # A block names its previous one, so all blocks before it are unchanged.
                first = number + 1
                break
            first = number
        undone = [number for number in self._marks if number >= first]
        final = view.irreversible_number
        self._marks = {number: mark for number, mark in self._marks.items() if final < number < first}
        return first if undone else None


async def messages_of(stream: HistoryStream, name: str, main: MainProcess) -> AsyncGenerator[str, None]:
    yield stream.opening(name)
    is_heard = True
    while is_heard:
        is_heard = False
        # Listening begins before reading, so nothing falls between. Whoever does not keep up with the heads is no
        # longer told of them; the stream then listens again, since it reads what it has missed.
        async with aclosing(main.events(HEAD)) as heads:
            while True:
                has_more = True
                while has_more:
                    message, has_more = stream.advance()
                    if message:
                        yield message
                    await asyncio.sleep(0)
                try:
                    await anext(heads)
                except StopAsyncIteration:
                    break
                is_heard = True


class Subscriptions:
    """The subscriptions of one worker, by random names, and their history, which has every block at once."""

    def __init__(self, history: History) -> None:
        self.history = history
        self._tasks: dict[str, asyncio.Task[object]] = {}

    @contextmanager
    def entered(self, task: asyncio.Task[object] | None) -> Iterator[str]:
        name = secrets.token_hex(8)
        if task is not None:
            self._tasks[name] = task
        try:
            yield name
        finally:
            self._tasks.pop(name, None)

    def end(self, name: str) -> bool:
        task = self._tasks.pop(name, None)
        return task is not None and task.cancel()

    def __len__(self) -> int:
        return len(self._tasks)
