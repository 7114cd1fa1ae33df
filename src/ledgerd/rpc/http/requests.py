"""One connection of HTTP/1.1: requests are read within limits, and answered one after the other, in turns."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections import deque

from ledgerd.rpc.http import responses
from ledgerd.rpc.http.places.connection_table import Activity
from ledgerd.rpc.http.reader import BETWEEN, PARSED_BYTES, PART_BYTES, Arrival, Refusal, Request, RequestReader
from ledgerd.rpc.http.service import Connection, Server


class RequestConnection(Connection):
    """The requests of a connection, and what of them waits for its answer."""

    def __init__(self, service: Server, reader: RequestReader) -> None:
        super().__init__(service)
        self._reader = reader
        self._waiting: deque[Request | Refusal] = deque()
        self._later_bytes = 0
        self._later: asyncio.Task[None] | None = None
        """The answer that is being made."""
        self._is_polling = False
        """Whether the client waits for an event, which has no deadline."""
        self._has_asked = False
        self._is_ending = False
        """Whether nothing more is taken, and the connection is closed after the answers."""
        self._has_left = False

    @abstractmethod
    def _answer(self, request: Request) -> None:
        """Answer a request, now or later."""

    # -- from the transport

    def data_received(self, data: bytes) -> None:
        if not self._is_ending:
            self.unread.add(data)
            self.go_on()
        self.read_in_turns(len(data))

    def _may_go_on(self) -> bool:
        return self._later is None and not self.is_congested and self.turns.has_time()

    def _account(self) -> None:
        waiting = self.arrived_bytes + len(self._waiting) * PART_BYTES
        self.count_buffered(self._reader.held + len(self.unread) + waiting + self._later_bytes)

    def cut_off(self, reason: str) -> None:  # noqa: ARG002 - a refusal has no text
        if self._later is not None:
            self._later.cancel()
            self._later, self._later_bytes = None, 0
        if not self._is_ending:
            self._end_after(responses.refusal(503))
        self.count_buffered(0)

    def _drop(self) -> None:
        self._is_ending = True
        self._reader.end()
        self.unread.clear()
        self._waiting.clear()
        self.arrived_bytes = 0

    def eof_received(self) -> bool:
        """EOF: a client may half-close and wait for its answers."""
        if self._later is None and not self._waiting and not self.unread:
            return False
        self._has_left = True
        self.steps += 1
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._is_ending = True
        self._waiting.clear()
        if self._later is not None:
            self._later.cancel()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.go_on()

    def go_on(self) -> None:
        reader = self._reader
        while not self._is_ending and self._may_go_on():
            if self._waiting:
                request = self._waiting.popleft()
                self.arrived_bytes -= len(request.body) if isinstance(request, Request) else 0
                self._has_asked = True
                if isinstance(request, Refusal):
                    self._end_after(responses.refusal(request.status))
                else:
                    self._answer(request)
            elif self.unread.size:
                for arrival in reader.feed(self.unread.take(max(PARSED_BYTES, reader.body_to_come))):
                    if not self._is_ending:
                        self._arrive(arrival)
            else:
                break
        self._account()
        if self._later is not None or self.is_congested or self.transport.is_closing():
            return
        if self._waiting or self.unread:
            self.go_on_later()
        elif self._has_left or (self.service.is_stopping and reader.place is BETWEEN):
            self._close()
        else:
            self.read_on()

    @abstractmethod
    def _arrive(self, arrival: Arrival) -> None:
        """Put what was read among what waits, or refuse it."""

    def _await(self, arrival: Request | Refusal) -> None:
        self._waiting.append(arrival)
        self.arrived_bytes += len(arrival.body) if isinstance(arrival, Request) else 0

    def _send(self, request: Request, response: bytes) -> None:
        self.steps += 1
        self.service.sent += len(response)
        self.transport.write(response)
        self.count_write_buffer()
        if not request.keeps_open or self.service.is_stopping or self.is_spare:
            self._close()

    # -- ends

    def _end_after(self, last_words: bytes) -> None:
        """Send a last answer, then discard received bytes until the client closes or a timeout: closing at once
        would reset the connection, and the client might lose the answer.
        """
        self._drop()
        self.steps += 1
        self.service.sent += len(last_words)
        self.transport.write(last_words)
        self.transport.write_eof()

    def _close(self) -> None:
        self._drop()
        self.transport.close()

    @property
    def activity(self) -> Activity:
        if self._later is not None or self._waiting or self.unread or self.is_congested:
            return Activity.WAITING
        return Activity.IDLE if self._reader.place is BETWEEN else Activity.SENDING

    def progress(self) -> int:
        return self.steps + self._reader.steps

    def time_limit(self) -> float | None:
        limits, place = self.service.limits, self._reader.place
        if self._later is not None:
            # A half-closed client may have disconnected, which only a write shows.
            return limits.idle_seconds if self._has_left else None
        if self._waiting or self.unread:
            return None
        if place is BETWEEN and self._has_asked and not self._is_ending:
            return limits.idle_seconds
        return limits.request_seconds

    def expire(self) -> None:
        if self.is_congested or self._is_ending or self._has_left:
            self.transport.abort()
        else:
            self._close()

    def finish(self) -> None:
        if self._later is not None and self._is_polling:
            self._later.cancel()
            self._close()
        elif self._reader.place is BETWEEN and self._later is None and not self._waiting and not self.unread:
            self._close()
