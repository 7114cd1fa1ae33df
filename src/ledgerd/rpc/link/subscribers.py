"""The subscribers of topics in one worker: each has a queue of events, which is bounded."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from functools import partial
from itertools import islice
from typing import Any

MOST_QUEUED_EVENTS, MOST_QUEUED_BYTES = 256, 16 << 20
"""Events of a topic that are kept for a subscriber, and their bytes; all subscribers keep the same ones."""

DELIVERED_AT_ONCE = 256
"""Subscribers that hear of an event before the loop does something else; each then has work of its own."""

MOST_UNDELIVERED = 8
"""Events that not all subscribers have yet; with more, the oldest is delivered to all at once."""


class Subscription(AsyncGenerator[bytes, None]):
    """The events of one subscriber, from now on: a generator function would subscribe at its first `asend`."""

    # There are thousands of them: each further object of one is another for the search for cycles, which stops all.
    __slots__ = ("_events", "_is_over", "_leave", "_waiter")

    def __init__(self, leave: Callable[[Subscription], None]) -> None:
        self._leave = leave
        self._events = deque[bytes | None]()
        self._waiter: asyncio.Future[None] | None = None
        self._is_over = False

    def __len__(self) -> int:
        return len(self._events)

    def end(self) -> None:
        """End after the last event, or before it if there are too many."""
        if len(self._events) >= MOST_QUEUED_EVENTS:
            self._events.popleft()
        self.deliver(None)

    def deliver(self, event: bytes | None) -> None:
        self._events.append(event)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def __anext__(self) -> Coroutine[Any, Any, bytes]:
        return self.asend(None)

    async def asend(self, value: None) -> bytes:  # noqa: ARG002 - events take no value
        if self._is_over:
            raise StopAsyncIteration
        if not self._events:
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        event = self._events.popleft()
        if event is None:
            await self.aclose()
            raise StopAsyncIteration
        return event

    async def athrow(self, *args: Any) -> bytes:  # noqa: ANN401 - as generators declare it
        await self.aclose()
        raise args[0]

    async def aclose(self) -> None:
        if not self._is_over:
            self._is_over = True
            self._leave(self)


class Subscribers:
    """The subscribers of each topic. `begin` gets a topic at its first subscriber, `end` when the last has left."""

    def __init__(self, begin: Callable[[str], None], end: Callable[[str], None]) -> None:
        self._begin = begin
        self._end_topic = end
        self._subscriptions: dict[str, set[Subscription]] = defaultdict(set)
        self._undelivered: deque[tuple[str, bytes, Iterator[Subscription]]] = deque()
        """Events that not all subscribers have yet, in their order."""
        self._is_over = False

    def events(self, topic: str) -> Subscription:
        subscription = Subscription(partial(self._leave, topic))
        if topic not in self._subscriptions:
            self._begin(topic)
        self._subscriptions[topic].add(subscription)
        if self._is_over:
            subscription.end()
        return subscription

    def _leave(self, topic: str, subscription: Subscription) -> None:
        others = self._subscriptions[topic]
        others.discard(subscription)
        if not others:
            del self._subscriptions[topic]
            self._end_topic(topic)

    def has_subscriber(self, topic: str) -> bool:
        return topic in self._subscriptions

    def end(self) -> None:
        """End every subscription, also those to come, after its last event."""
        self._is_over = True
        for subscriptions in self._subscriptions.values():
            for subscription in subscriptions:
                subscription.end()

    def publish(self, topic: str, payload: bytes) -> None:
        """Send an event to the subscribers of its topic; to many of them in several rounds of the loop."""
        subscriptions = self._subscriptions.get(topic)
        if subscriptions:
            self._undelivered.append((topic, payload, iter(tuple(subscriptions))))
            if len(self._undelivered) == 1:
                self._deliver_rest()
            while len(self._undelivered) > MOST_UNDELIVERED:
                self._deliver_next()

    def _deliver_rest(self) -> None:
        if self._undelivered:
            self._deliver_next()
        if self._undelivered:
            asyncio.get_running_loop().call_soon(self._deliver_rest)

    def _deliver_next(self) -> None:
        topic, payload, rest = self._undelivered[0]
        subscriptions = self._subscriptions.get(topic, ())
        room = min(MOST_QUEUED_EVENTS, MOST_QUEUED_BYTES // max(1, len(payload)))
        served = list(islice(rest, DELIVERED_AT_ONCE))
        for subscription in served:
            if subscription not in subscriptions:
                continue
            if len(subscription) >= max(1, room):
                # Back-pressure: a subscriber that reads too slowly is ended, so that its queue stays bounded.
                subscription.end()
            else:
                subscription.deliver(payload)
        if len(served) < DELIVERED_AT_ONCE:
            self._undelivered.popleft()
