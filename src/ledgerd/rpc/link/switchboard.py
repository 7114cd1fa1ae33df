"""The main process's end of the links to its workers: questions go to whoever the node has named for their topic,
events to the workers that listen. The other end is `link`.

Everything here runs on the loop of the main process's own I/O, never on the thread of the chain.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from ledgerd.protocol.errors import RuleViolation
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.frames import (
    Alive,
    Ask,
    ErrorReply,
    Event,
    LinkFault,
    LinkReader,
    Message,
    Reply,
    Subscribe,
    Unsubscribe,
    frame,
)
from ledgerd.rpc.link.link import HEAD, STOP
from ledgerd.rpc.link.topics import HEALTH, WAITING
from ledgerd.supervision.tasks import Tasks

log = logging.getLogger(__name__)

Handler = Callable[[bytes], Awaitable[bytes]]

HEARD_BY_ALL = frozenset((HEAD, HEALTH, STOP, WAITING))

MAX_RUNNING = 256
"""Questions of one worker that are worked on at a time; more wait their turn in the worker's socket."""

MAX_ADDED_UP = 16 * 1024 * 1024
"""Bytes of what waits that are kept for workers to come; one that comes when there is more sees the blocks alone."""

MAX_UNREAD = 64 * 1024 * 1024
"""A worker that leaves so many bytes unread is not in its right mind."""


class WorkerLink(asyncio.Protocol):
    """The link to one worker."""

    def __init__(self, board: Switchboard, on_sign: Callable[[], None]) -> None:
        self._board = board
        self._reader = LinkReader()
        self._transport: asyncio.Transport | None = None
        self._tasks = Tasks(self._failed)
        self.topics = set(HEARD_BY_ALL)
        self.signs = 0
        """Grows with each sign of life."""
        self._on_sign = on_sign

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._board.join(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - whoever watches the worker sees more
        self._board.leave(self)
        self._tasks.cancel()

    def data_received(self, data: bytes) -> None:
        try:
            for message in self._reader.feed(data):
                self._take(message)
        except LinkFault as fault:
            log.error("the link to an API worker is cut: %s", fault)  # noqa: TRY400 - no trace helps an operator
            self.close()

    def _take(self, message: Message) -> None:
        match message:
            case Ask():
                self._tasks.begin(self._work(message)).add_done_callback(self._worked)
                if len(self._tasks) >= MAX_RUNNING and self._transport is not None:
                    self._transport.pause_reading()
            case Subscribe(topic):
                self.topics.add(topic)
            case Unsubscribe(topic):
                self.topics.discard(topic)
            case Alive():
                self.signs += 1
                self._on_sign()
            case _:
                raise LinkFault(f"a worker said {message!r}")

    async def _work(self, ask: Ask) -> None:
        try:
            answer: Message = Reply(ask.number, await self._board.handlers[ask.topic](ask.payload))
        except PlainError as error:
            answer = ErrorReply(ask.number, error.code, "", "", error.message)
        except RuleViolation as error:
            answer = ErrorReply(ask.number, error.code, error.name, error.what, error.message)
        except Exception:
            log.exception("a question of an API worker could not be answered")
            answer = ErrorReply(ask.number, 0, "exception", "unspecified", "the node's log says more")
        self.send(frame(answer))

    def _failed(self, problem: BaseException) -> None:
        log.error("the link to an API worker is cut, because of a fault of its own", exc_info=problem)
        self.close()

    def _worked(self, _: asyncio.Task[None]) -> None:
        if self._transport is not None and not self._transport.is_closing() and len(self._tasks) < MAX_RUNNING:
            self._transport.resume_reading()

    def send(self, framed: bytes) -> None:
        """Send a message that is framed already; a worker that reads nothing is cut off."""
        if self._transport is None or self._transport.is_closing():
            return
        if self._transport.get_write_buffer_size() > MAX_UNREAD:
            log.error("an API worker does not read what it is told: its link is cut")
            self.close()
        else:
            self._transport.write(framed)

    def close(self) -> None:
        """Cut the link, which ends the worker."""
        if self._transport is not None:
            self._transport.abort()


class Switchboard:
    """All links. The node names who answers which topic, and says what happens."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.handlers = dict(handlers)
        self._lines: set[WorkerLink] = set()
        self._standing: dict[str, bytes] = {}
        self._waiting: list[bytes] = []
        """The events of `WAITING` since the last empty one: together they say what waits."""
        self._waiting_bytes = 0

    def line(self, on_sign: Callable[[], None]) -> WorkerLink:
        """The protocol of a new worker's link; the function is called at each sign of life."""
        return WorkerLink(self, on_sign)

    def join(self, line: WorkerLink) -> None:
        """A worker is there; it is told what it must know to begin."""
        self._lines.add(line)
        for topic, payload in self._standing.items():
            line.send(frame(Event(topic, payload)))
        if self._waiting_bytes <= MAX_ADDED_UP:
            for framed in self._waiting:
                line.send(framed)

    def leave(self, line: WorkerLink) -> None:
        """A worker is gone."""
        self._lines.discard(line)

    def is_heard(self, topic: str) -> bool:
        """Whether anybody listens, so that an event is worth making."""
        return any(topic in line.topics for line in self._lines)

    def publish(self, topic: str, payload: bytes) -> None:
        """Something has happened. Heads are published after their commit, and before what else a block brings."""
        listeners = [line for line in self._lines if topic in line.topics]
        if not listeners and topic != WAITING:
            return
        framed = frame(Event(topic, payload))
        if topic == WAITING:
            self._add_up(framed, is_last=not payload)
        for line in listeners:
            line.send(framed)

    def _add_up(self, framed: bytes, *, is_last: bool) -> None:
        if is_last:
            self._waiting.clear()
            self._waiting_bytes = 0
            return
        self._waiting_bytes += len(framed)
        if self._waiting_bytes <= MAX_ADDED_UP:
            self._waiting.append(framed)
        else:
            self._waiting.clear()

    def stand(self, topic: str, payload: bytes) -> None:
        """Say what holds from now on, to the workers that are there and to those that will come."""
        self._standing[topic] = payload
        self.publish(topic, payload)
