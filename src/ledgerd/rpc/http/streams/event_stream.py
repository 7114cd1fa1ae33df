"""Server-Sent Events: an answer that does not end. One connection with one stream, after its request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial

from ledgerd.rpc.call.limits import Asker
from ledgerd.rpc.http.places.connection_table import Activity
from ledgerd.rpc.http.responses import EVENT_STREAM_HEAD
from ledgerd.rpc.http.service import Connection, Service

HEARTBEAT_SECONDS = 15.0
"""After this time without an event a comment is sent, which shows whether the client is still there."""

HEARTBEAT = b":\n\n"

Events = AsyncGenerator[bytes, None]


class EventStreamConnection(Connection):
    """A connection to which events are sent. Nothing is queued: an event is made when the client has read the one
    before.
    """

    def __init__(self, service: Service, transport: asyncio.Transport, asker: Asker, events: Events) -> None:
        super().__init__(service, asker)
        self.transport = transport
        self._events = events
        self._taken = asyncio.Event()
        self._taken.set()
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        self._write(EVENT_STREAM_HEAD)
        self._task = self.service.tasks.begin(self._send_events())

    async def _send_events(self) -> None:
        turns, share = self.turns, self.asker.share
        try:
            async with aclosing(self._events) as events:
                async for event in events:
                    while not await turns.do(share, partial(self._give, event)):
                        await self._taken.wait()
        except Exception:
            self.transport.abort()
            raise
        self.transport.close()

    def _give(self, event: bytes) -> bool:
        if self.is_congested:
            return False
        self._write(event)
        return True

    def _write(self, data: bytes) -> None:
        if not self.transport.is_closing():
            self.steps += 1
            self.service.sent += len(data)
            self.transport.write(data)
            self.count_write_buffer()

    def data_received(self, data: bytes) -> None:
        """Ignore what a client sends: nothing more can be asked on such a connection."""
        self.read_in_turns(len(data))

    def go_on(self) -> None:
        """There is nothing to parse."""

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._taken.set()
        if self._task is not None:
            self.service.given_up.add([self._task])

    def pause_writing(self) -> None:
        super().pause_writing()
        self._taken.clear()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._taken.set()

    @property
    def activity(self) -> Activity:
        return Activity.WAITING

    def time_limit(self) -> float | None:
        return HEARTBEAT_SECONDS

    def expire(self) -> None:
        if self.is_congested:
            self.transport.abort()
        else:
            self._write(HEARTBEAT)

    def cut_off(self, reason: str) -> None:  # noqa: ARG002 - such an answer ends without one
        self.transport.abort()

    def finish(self) -> None:
        if self._task is not None:
            self._task.cancel()
        self.transport.close()
