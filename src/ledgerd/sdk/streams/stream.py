"""A stream as programs have it: an iterator that knows up to where everything was given."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Generic, Protocol, Self, TypeVar

from ledgerd.sdk.streams.cursor import StreamCursor


class HasCursor(Protocol):
    """An event."""

    @property
    def cursor(self) -> StreamCursor: ...


E = TypeVar("E", bound=HasCursor)


class ChainStream(AsyncIterator[E], Generic[E]):
    """Events, one after the other. To end it before its end, close it, or leave the `async with` of it or the client's.

    `cursor` is the place from which another stream would go on. It moves past what nobody asked for, too: store it now
    and then where events are rare. None before anything was read.
    """

    def __init__(self, begin: Callable[[Callable[[StreamCursor], None]], AsyncGenerator[E, None]]) -> None:
        self.cursor: StreamCursor | None = None
        self._events = begin(self._move)
        self._is_read = False

    def _move(self, cursor: StreamCursor) -> None:
        self.cursor = cursor

    async def __anext__(self) -> E:
        self._is_read = True
        try:
            event = await anext(self._events)
        finally:
            self._is_read = False
        self.cursor = event.cursor
        return event

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End it; where another task waits for its next event, that task has to be ended instead."""
        if not self._is_read:
            await self._events.aclose()
