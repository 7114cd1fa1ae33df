"""A worker's end of the link to the main process: requests with answers, and events with their subscribers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable

from ledgerd.basics.framing.connection import FrameConnection
from ledgerd.basics.framing.frames import FrameFault
from ledgerd.protocol.errors import RuleViolation
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link import frames
from ledgerd.rpc.link.subscribers import Subscribers
from ledgerd.supervision.tasks import Tasks

log = logging.getLogger(__name__)

HEAD = "head"
"""The topic of new heads; every worker gets it and clears its answer cache."""

STOP = "stop"

MOST_QUESTIONS = 4_096
"""Requests of a worker that have no answer yet; a further one fails at once."""

ANSWER_SECONDS = 60.0
"""A request takes one turn of the chain's thread at most; what takes longer, such as a confirmation, is an event."""

ALIVE_SECONDS = 1.0


class Unreachable(PlainError):
    """The main process has not answered in time."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The node cannot be reached: {reason}")


class Violation(RuleViolation):
    """A rule violation that the main process answered with."""

    def __init__(self, refused: frames.ErrorReply) -> None:
        super().__init__("")
        self.code, self.name, self.what = refused.code, refused.name, refused.what
        self.layers = frames.layers_of(refused.layers)


class Link(FrameConnection):
    """The link of one worker. When it is closed, the node has ended, and the worker ends."""

    def __init__(self, number: int = 0, *, answer_seconds: float = ANSWER_SECONDS) -> None:
        super().__init__(frames.MOST_FRAME)
        self.number = number
        self.lost = asyncio.Event()
        self._answer_seconds = answer_seconds
        self._questions: dict[int, asyncio.Future[bytes]] = {}
        self._next_question = 0
        self._subscribers = Subscribers(
            lambda topic: self._send(frames.Subscribe(topic)), lambda topic: self._send(frames.Unsubscribe(topic))
        )
        self._callbacks: dict[str, Callable[[bytes], None]] = {}
        self._beat: asyncio.TimerHandle | None = None
        self.tasks = Tasks(self._failed)
        """Tasks that run as long as the worker. A failure ends the worker, and the node starts another."""

    def _failed(self, problem: BaseException) -> None:
        log.error("an API worker stops: internal error", exc_info=problem)
        self.lost.set()

    async def ask(self, topic: str, payload: bytes) -> bytes:
        if self.lost.is_set() or len(self._questions) >= MOST_QUESTIONS:
            raise Unreachable("the link is down" if self.lost.is_set() else "too many questions are open")
        self._next_question += 1
        number = self._next_question
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._questions[number] = answer
        try:
            self._send(frames.Ask(number, topic, payload))
            async with asyncio.timeout(self._answer_seconds):
                return await answer
        except TimeoutError:
            raise Unreachable("it took too long to answer") from None
        finally:
            self._questions.pop(number, None)
            # A refusal holds this frame, with the payload: if the frame held the refusal, both would stay.
            del answer

    def events(self, topic: str) -> AsyncGenerator[bytes, None]:
        return self._subscribers.events(topic)

    def on(self, topic: str, callback: Callable[[bytes], None]) -> None:
        """Call a function at each event of a topic, before its subscribers get it."""
        self._callbacks[topic] = callback

    def beat(self) -> None:
        self._send(frames.Alive())
        self._beat = asyncio.get_running_loop().call_later(ALIVE_SECONDS, self.beat)

    def refuse(self, fault: FrameFault) -> None:
        self.close()
        raise fault

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the reason does not matter
        self.lost.set()
        if self._beat is not None:
            self._beat.cancel()
        for answer in self._questions.values():
            if not answer.done():
                answer.set_exception(Unreachable("the link is down"))
        self._subscribers.end()

    def receive(self, frame: bytes) -> None:
        message = frames.read_message(frame)
        match message:
            case frames.Reply(number, payload):
                answer = self._questions.get(number)
                if answer is not None and not answer.done():
                    answer.set_result(payload)
            case frames.ErrorReply(number):
                answer = self._questions.get(number)
                if answer is not None and not answer.done():
                    answer.set_exception(_refusal(message))
            case frames.TopicEvent(topic, payload):
                if topic in self._callbacks:
                    self._callbacks[topic](payload)
                self._subscribers.publish(topic, payload)
            case _:
                raise frames.LinkFault(f"a worker was told {message!r}")

    def _send(self, message: frames.LinkMessage) -> None:
        if self._transport is not None and self.is_open:
            self._transport.write(frames.frame(message))


def _refusal(refused: frames.ErrorReply) -> Exception:
    if refused.name:
        return Violation(refused)
    return PlainError(frames.layers_of(refused.layers)[0].format, refused.code)
