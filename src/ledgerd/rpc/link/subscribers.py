"""The subscribers of topics in one worker: each has a queue of events, which is bounded."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

MAX_QUEUED_EVENTS = 256
MAX_QUEUED_BYTES = 16 << 20
"""Events of a topic that are kept for a subscriber, in bytes; all subscribers keep the same ones."""

TOLD_AT_ONCE = 256
"""Subscribers that hear of an event before the loop does something else; each then has work of its own."""

MOST_UNTOLD = 8
"""Events of which not all subscribers have been told; with more, all are told of the oldest at once."""


class Subscription(AsyncGenerator[bytes, None]):
    """The events of one subscriber. It subscribes at once; a generator function would do so at its first `asend`,
    and miss earlier events.
    """

    def __init__(self, queue: asyncio.Queue[bytes | None], leave: Callable[[], None]) -> None:
        self._queue = queue
        self._leave = leave
        self._is_over = False

    async def asend(self, value: None) -> bytes:  # noqa: ARG002 - events take no value
        event = None if self._is_over else await self._queue.get()
        if event is None:
            await self.aclose()
            raise StopAsyncIteration
        return event

    async def athrow(self, *args: Any) -> bytes:  # noqa: ANN401 - as generators declare it
        """Raise an exception in place of the next event."""
        await self.aclose()
        raise args[0]

    async def aclose(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._leave()


class Subscribers:
    """Who listens to which topic. The functions get each topic that has its first subscriber, or has lost its last."""

    def __init__(self, begin: Callable[[str], None], end: Callable[[str], None]) -> None:
        self._begin = begin
        self._end_topic = end
        self._queues: dict[str, set[asyncio.Queue[bytes | None]]] = defaultdict(set)
        self._untold: deque[tuple[str, bytes, Iterator[asyncio.Queue[bytes | None]]]] = deque()
        """Events of which not all subscribers have been told, in their order."""
        self._is_over = False

    def events(self, topic: str) -> Subscription:
        """The events of a topic from now on."""
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_QUEUED_EVENTS)
        if topic not in self._queues:
            self._begin(topic)
        self._queues[topic].add(queue)
        if self._is_over:
            _end(queue)
        return Subscription(queue, partial(self._leave, topic, queue))

    def _leave(self, topic: str, queue: asyncio.Queue[bytes | None]) -> None:
        queues = self._queues[topic]
        queues.discard(queue)
        if not queues:
            del self._queues[topic]
            self._end_topic(topic)

    def are_of(self, topic: str) -> bool:
        """Whether somebody listens to a topic."""
        return topic in self._queues

    def end(self) -> None:
        """End every subscription, also those to come, after its last event."""
        self._is_over = True
        for queues in self._queues.values():
            for queue in queues:
                _end(queue)

    def tell(self, topic: str, payload: bytes) -> None:
        """Tell everybody who listens to a topic of an event, those of many in several rounds of the loop."""
        queues = self._queues.get(topic)
        if queues:
            self._untold.append((topic, payload, iter(tuple(queues))))
            if len(self._untold) == 1:
                self._tell_on()
            while len(self._untold) > MOST_UNTOLD:
                self._tell()

    def _tell_on(self) -> None:
        """Tell the next subscribers, and the others in the next round of the loop."""
        if self._untold:
            self._tell()
        if self._untold:
            asyncio.get_running_loop().call_soon(self._tell_on)

    def _tell(self) -> None:
        topic, payload, rest = self._untold[0]
        queues = self._queues.get(topic, ())
        room = min(MAX_QUEUED_EVENTS, MAX_QUEUED_BYTES // max(1, len(payload)))
        told = list(islice(rest, TOLD_AT_ONCE))
        for queue in told:
            if queue not in queues:
                continue
            if queue.qsize() >= max(1, room):
                # Back-pressure: a subscriber that reads too slowly is ended, so that its queue stays bounded.
                _end(queue)
            else:
                queue.put_nowait(payload)
        if len(told) < TOLD_AT_ONCE:
            self._untold.popleft()


def _end(queue: asyncio.Queue[bytes | None]) -> None:
    """End a queue after its last event, or at once if it is full."""
    with suppress(asyncio.QueueEmpty):
        if queue.full():
            queue.get_nowait()
    queue.put_nowait(None)
