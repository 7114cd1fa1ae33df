"""Processes that are asked for what a thread without an event loop would otherwise work out itself, while it works on.

Each answers in the order in which it was asked. When one is lost or hangs, all are ended, and what they have not
answered is left to who asked.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from selectors import EVENT_READ, EVENT_WRITE, DefaultSelector

from ledgerd.basics.closing import Closing
from ledgerd.basics.framing.frames import FrameBuffer, FrameFault, framed
from ledgerd.supervision.processes import Child

log = logging.getLogger(__name__)

RECEIVED_BYTES = 1 << 18
"""Bytes that are read at once."""
ENDING_SECONDS = 2.0


class AwaitedAnswer:
    """A question to a process, with its answer once that has come."""

    def __init__(self) -> None:
        self.answer: bytes | None = None
        self.is_lost = False
        """Whether no answer will come."""

    @property
    def is_open(self) -> bool:
        return self.answer is None and not self.is_lost


class _Asked:
    """One process, with the requests that are on their way to it and the answers that are on their way back."""

    def __init__(self, command: Sequence[str], introduction: bytes, most: int) -> None:
        self.process, self.connection = Child.on_socket(command)
        self.questions: deque[AwaitedAnswer] = deque()
        self._unsent = bytearray(framed(introduction))
        self._frames = FrameBuffer(most)

    def ask(self, request: bytes) -> AwaitedAnswer:
        question = AwaitedAnswer()
        self.questions.append(question)
        self._unsent += framed(request)
        return question

    @property
    def events(self) -> int:
        return EVENT_READ | EVENT_WRITE if self._unsent else EVENT_READ

    def exchange(self, events: int) -> None:
        if events & EVENT_WRITE:
            with suppress(BlockingIOError):
                del self._unsent[: self.connection.send(self._unsent)]
        if events & EVENT_READ:
            data = self.connection.recv(RECEIVED_BYTES)
            if not data:
                raise ConnectionError("a process has ended")
            for answer in self._frames.frames_in(data):
                self.questions.popleft().answer = answer

    def end(self) -> None:
        self.connection.close()

    def stop(self) -> None:
        self.end()
        self.process.wait_or_kill(ENDING_SECONDS)
        for question in self.questions:
            question.is_lost = True


class AskedProcesses(Closing):
    """Processes of one command that all get the same introduction. The caller can do without them if they fail."""

    def __init__(self, loss: str, command: Sequence[str], introduction: bytes, *, count: int, most: int) -> None:
        """`loss`: what is logged of a loss. An answer has at most so many bytes."""
        self._loss = loss
        self._asked: list[_Asked] = []
        try:
            for _ in range(count):
                self._asked.append(_Asked(command, introduction, most))
        except OSError as problem:
            self._lose(problem)

    @property
    def pids(self) -> list[int]:
        return [each.process.pid for each in self._asked]

    def ask(self, request: bytes, most_waiting: int) -> AwaitedAnswer | None:
        """Ask the process that has least to answer; None if all have so many questions."""
        least = min(self._asked, key=lambda each: len(each.questions), default=None)
        if least is None or len(least.questions) >= most_waiting:
            return None
        question = least.ask(request)
        self.exchange()
        return question

    def exchange(self) -> None:
        """Send and receive as much as can be without waiting."""
        self._exchange(0)

    def wait_for(self, question: AwaitedAnswer, seconds: float) -> None:
        """Wait until a question has its answer or is lost. Who says nothing for so long hangs."""
        self._exchange(0)
        while question.is_open:
            self._exchange(seconds)

    def _exchange(self, seconds: float) -> None:
        try:
            with DefaultSelector() as selector:
                for each in self._asked:
                    selector.register(each.connection, each.events, each)
                ready = selector.select(seconds) if self._asked else []
                for key, events in ready:
                    key.data.exchange(events)
            if seconds and not ready:
                raise TimeoutError(f"a process has said nothing for {seconds:.0f} seconds")
        except (OSError, FrameFault) as problem:
            self._lose(problem)

    def _lose(self, problem: Exception) -> None:
        log.warning("%(loss)s: %(reason)s", {"loss": self._loss, "reason": problem})
        for each in self._asked:
            each.process.kill()
        self.close()

    def end(self) -> None:
        """All have been asked all; they end while the caller works on, and `close` has less to wait for."""
        for each in self._asked:
            each.end()

    def close(self) -> None:
        asked, self._asked = self._asked, []
        for each in asked:
            each.stop()
