"""The main process's end of the links to workers: requests go to handlers, events to the workers that subscribed."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from ledgerd.basics.framing.connection import FrameConnection
from ledgerd.basics.framing.frames import FrameFault
from ledgerd.codec.json.errors import Layer
from ledgerd.protocol.errors import RuleViolation
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link import frames
from ledgerd.rpc.link.link import HEAD, STOP
from ledgerd.rpc.link.topics import DETAILS, HEALTH, PENDING, PLUGIN_APIS, SHADOW_GATE, STATUS
from ledgerd.supervision.tasks import Tasks

log = logging.getLogger(__name__)

Handler = Callable[[bytes], Awaitable[bytes]]

LOGGED = Layer("the node's log says more", {})

SENT_TO_ALL = frozenset((DETAILS, HEAD, HEALTH, PLUGIN_APIS, SHADOW_GATE, STATUS, STOP, PENDING))

MOST_RUNNING = 256
"""Unanswered requests of one worker; with more, its socket is not read (back-pressure)."""

MOST_PENDING_BYTES = 16 * 1024 * 1024
"""Bytes of pending changes kept for workers that start later; above that, a new worker sees only committed state."""

MOST_UNREAD = 64 * 1024 * 1024
"""The largest send buffer of a worker's link."""


class WorkerLink(FrameConnection):
    """The link to one worker."""

    def __init__(self, board: Switchboard, on_heartbeat: Callable[[], None]) -> None:
        super().__init__(frames.MOST_FRAME)
        self._board = board
        self._tasks = Tasks(self._failed)
        self.topics = set(SENT_TO_ALL)
        self.heartbeats = 0
        self._on_heartbeat = on_heartbeat

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._board.join(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - `workers` sees how the process ends
        self._board.leave(self)
        self._tasks.cancel()

    def refuse(self, fault: FrameFault) -> None:
        log.error("the link to an API worker is cut: %(reason)s", {"reason": fault})
        self.close()

    def receive(self, frame: bytes) -> None:
        message = frames.read_message(frame)
        match message:
            case frames.Ask():
                self._tasks.begin(self._work(message)).add_done_callback(self._worked)
                if len(self._tasks) >= MOST_RUNNING and self._transport is not None:
                    self._transport.pause_reading()
            case frames.Subscribe(topic):
                self.topics.add(topic)
            case frames.Unsubscribe(topic):
                self.topics -= {topic} - SENT_TO_ALL
            case frames.Alive():
                self.heartbeats += 1
                self._on_heartbeat()
            case _:
                raise frames.LinkFault(f"a worker said {message!r}")

    async def _work(self, ask: frames.Ask) -> None:
        try:
            answer: frames.LinkMessage = frames.Reply(ask.number, await self._board.handlers[ask.topic](ask.payload))
        except PlainError as error:
            answer = frames.ErrorReply(ask.number, error.code, "", "", frames.packed_layers([Layer(error.message, {})]))
        except RuleViolation as error:
            answer = frames.ErrorReply(
                ask.number, error.code, error.name, error.what, frames.packed_layers(error.layers)
            )
        except Exception:
            log.exception("a question of an API worker could not be answered")
            answer = frames.ErrorReply(ask.number, 0, "exception", "unspecified", frames.packed_layers([LOGGED]))
        self.send(frames.frame(answer))

    def _failed(self, problem: BaseException) -> None:
        log.error("the link to an API worker is cut: internal error", exc_info=problem)
        self.close()

    def _worked(self, _: asyncio.Task[None]) -> None:
        if self._transport is not None and self.is_open and len(self._tasks) < MOST_RUNNING:
            self._transport.resume_reading()

    def send(self, framed: bytes) -> None:
        """Send a frame; disconnect the worker if its send buffer is full."""
        if self._transport is None or not self.is_open:
            return
        if self._transport.get_write_buffer_size() > MOST_UNREAD:
            log.error("the send buffer of an API worker is full: its link is cut")
            self.close()
        else:
            self._transport.write(framed)


class Switchboard:
    """All links. The node gives it a handler for each topic of requests, and publishes events."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        self.handlers = dict(handlers)
        self._links: set[WorkerLink] = set()
        self._retained: dict[str, bytes] = {}
        self._pending: list[bytes] = []
        """The events of `PENDING` since the last empty one: together the changes of all pending transactions."""
        self._pending_bytes = 0

    def link(self, on_heartbeat: Callable[[], None]) -> WorkerLink:
        return WorkerLink(self, on_heartbeat)

    def join(self, link: WorkerLink) -> None:
        self._links.add(link)
        for topic, payload in self._retained.items():
            link.send(frames.frame(frames.TopicEvent(topic, payload)))
        if self._pending_bytes <= MOST_PENDING_BYTES:
            for framed in self._pending:
                link.send(framed)

    def leave(self, link: WorkerLink) -> None:
        self._links.discard(link)

    def has_subscriber(self, topic: str) -> bool:
        return any(topic in link.topics for link in self._links)

    def publish(self, topic: str, payload: bytes) -> None:
        """Send an event to its subscribers. A head is published after its commit, before other events of its block."""
        listeners = [link for link in self._links if topic in link.topics]
        if not listeners and topic != PENDING:
            return
        framed = frames.frame(frames.TopicEvent(topic, payload))
        if topic == PENDING:
            self._keep_pending(framed, is_last=not payload)
        for link in listeners:
            link.send(framed)

    def _keep_pending(self, framed: bytes, *, is_last: bool) -> None:
        if is_last:
            self._pending.clear()
            self._pending_bytes = 0
            return
        self._pending_bytes += len(framed)
        if self._pending_bytes <= MOST_PENDING_BYTES:
            self._pending.append(framed)
        else:
            self._pending.clear()

    def publish_retained(self, topic: str, payload: bytes) -> None:
        self._retained[topic] = payload
        self.publish(topic, payload)
