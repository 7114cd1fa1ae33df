"""JSON-RPC over WebSocket (spec 05, sections 2.3 and 2.4): each text message is a request, answers are sent when
they are ready, and those of subscriptions until the client disconnects. `websockets` parses the frames, without its
I/O.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import logging
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Mapping
from contextlib import aclosing
from functools import partial
from io import BytesIO

from websockets.frames import CloseCode, Frame, Opcode
from websockets.protocol import SEND_EOF, Protocol, Side, State
from websockets.utils import accept_key as accepted

from ledgerd.rpc.call.dispatch import AnswerMaker, Later
from ledgerd.rpc.call.limits import Asker
from ledgerd.rpc.http.places.connection_table import Activity
from ledgerd.rpc.http.reader import PARSED_BYTES, PART_BYTES
from ledgerd.rpc.http.service import Connection, Service

VERSIONS = frozenset((b"7", b"8", b"13"))
"""The versions whose frames are those of the standard."""

STEP_BYTES = 1 << 20
"""Bytes of a text that are checked at once for being UTF-8."""

NOT_TEXT = b"error: string payload expected"

_frame_log = logging.getLogger(f"{__name__}.frames")
_frame_log.setLevel(logging.ERROR)


def accept_key(headers: Mapping[bytes, bytes]) -> bytes | None:
    key = headers.get(b"sec-websocket-key", b"").strip()
    try:
        is_key = len(base64.b64decode(key, validate=True)) == 16
    except binascii.Error:
        return None
    if not is_key or headers.get(b"sec-websocket-version") not in VERSIONS:
        return None
    return accepted(key.decode("ascii")).encode("ascii")


class WebSocketConnection(Connection):
    """One WebSocket connection, after its handshake."""

    service: Service
    is_web_socket = True

    def __init__(self, service: Service, transport: asyncio.Transport, asker: Asker) -> None:
        super().__init__(service, asker)
        self.transport = transport
        limit = service.limits.body_bytes
        self._frames = Protocol(Side.SERVER, state=State.OPEN, max_size=limit, logger=_frame_log)
        self._message: BytesIO | None = None
        self._is_binary = False
        self._is_asked = False
        """Whether a ping was sent after the client's last frame."""
        self._late: dict[asyncio.Task[None], Later] = {}
        self._late_bytes = 0
        self._sending = asyncio.Lock()
        """Held while a late answer is sent: one after the other waits for the client to read."""
        self._is_over = False
        """Whether nothing more is taken: too much has arrived, or is waited for, or the client has left."""
        self._waiting: deque[Frame] = deque()
        """Received frames that are handled after the client has read its earlier answers."""
        self._taken = asyncio.Event()
        self._taken.set()

    # -- from the transport

    def data_received(self, data: bytes) -> None:
        if self._frames.state is State.CLOSED or self._is_over:
            return
        self._is_asked = False
        if not self._is_partial:
            self.steps += 1
        self.unread.add(data)
        self.go_on()
        self.read_in_turns(len(data))

    def go_on(self) -> None:
        """Handle the frames in order, while there is time and the client reads its answers."""
        turns = self.turns
        while not self.is_congested and turns.has_time():
            if self._waiting:
                frame = self._waiting.popleft()
                self.arrived_bytes -= len(frame.data) + PART_BYTES
                self._handle_frame(frame)
                self._flush()
            elif self.unread.size:
                self._parse(self.unread.take(PARSED_BYTES))
            else:
                break
        self._account()
        if not self.is_congested and not self.transport.is_closing():
            if self._waiting or self.unread:
                self.go_on_later()
            self.read_on()
        self._flush()

    def _parse(self, data: bytes) -> None:
        self._frames.receive_data(data)
        for event in self._frames.events_received():
            if isinstance(event, Frame):
                self._waiting.append(event)
                self.arrived_bytes += len(event.data) + PART_BYTES

    @property
    def may_read(self) -> bool:
        return not self.is_congested and super().may_read

    def _account(self) -> None:
        partial = len(self._frames.reader.buffer) + (0 if self._message is None else self._message.tell())
        self.count_buffered(len(self.unread) + partial + self.arrived_bytes + self._late_bytes)

    def cut_off(self, reason: str) -> None:
        self._end(CloseCode.TRY_AGAIN_LATER, reason)
        self._is_over = True
        self._message = None
        self._frames.reader.buffer.clear()
        self.unread.clear()
        self._waiting.clear()
        self.arrived_bytes = self._late_bytes = 0
        self.service.given_up.add(self._late)
        self.count_buffered(0)
        self.count_late_answers(0)

    def eof_received(self) -> bool:
        self._frames.receive_eof()
        self._flush()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._is_over = True
        self._waiting.clear()
        self.service.given_up.add(self._late)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._taken.clear()
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._taken.set()
        if not self.transport.is_closing():
            self.go_on()

    # -- messages

    def _handle_frame(self, frame: Frame) -> None:
        if frame.opcode in {Opcode.TEXT, Opcode.BINARY}:
            self._is_binary = frame.opcode is Opcode.BINARY
            self._message = None
        elif frame.opcode is not Opcode.CONT:
            if not self._is_partial:
                self.steps += 1
            return
        message = self._with_fragments(frame)
        if message is None:
            return
        self.steps += 1
        if self._is_binary:
            self._send(NOT_TEXT)
        elif not _is_utf8(message):
            self._frames.fail(CloseCode.INVALID_DATA, "a text message is UTF-8")
        else:
            self._answer(message)

    def _with_fragments(self, frame: Frame) -> bytes | None:
        if self._message is None and frame.fin:
            return bytes(frame.data)
        if self._message is None:
            self._message = BytesIO()
        self._message.write(frame.data)
        if not frame.fin:
            return None
        message, self._message = self._message.getvalue(), None
        return message

    def _answer(self, message: bytes) -> None:
        service = self.service
        if not service.may_ask(self.address):
            self._end(CloseCode.POLICY_VIOLATION, "too many requests from this address")
            return
        if service.refusal:
            self._send(service.refusal)
            return
        answer = service.dispatcher.answer(message, self.asker)
        if not isinstance(answer, Later):
            self._send(answer)
        elif option := service.late_answer_limit(self):
            service.count_limit(option, self.address)
            self._send(answer.refused(f"Too many subscriptions and unfinished answers ({option})"))
        else:
            task = service.tasks.begin(self._answer_later(answer))
            self._late[task] = answer
            self._late_bytes += answer.held
            self.count_late_answers(len(self._late))
            task.add_done_callback(self._is_answered)

    async def _answer_later(self, later: Later) -> None:
        turns, share = self.turns, self.asker.share
        try:
            async with aclosing(later.answers) as answers:
                async for answer in answers:
                    async with self._sending:
                        # Back-pressure: wait for a client that does not read. Events are queued, up to a limit.
                        while not await turns.do(share, partial(self._give_late, answer)):
                            await self._taken.wait()
        except Exception:
            self.transport.abort()
            raise

    def _give_late(self, answer: AnswerMaker) -> bool:
        if self.is_congested:
            return False
        self._send(answer())
        self._flush()
        return True

    def _is_answered(self, task: asyncio.Task[None]) -> None:
        self._late_bytes = max(0, self._late_bytes - self._late.pop(task).held)
        if not (self._is_over or self.transport.is_closing()):
            self._account()
            self.count_late_answers(len(self._late))
        if self.service.is_stopping and not self._late:
            self.finish()

    def _send(self, answer: bytes) -> None:
        if self._frames.state is State.OPEN:
            # A text message must be UTF-8: other bytes of the chain are replaced.
            text = answer if _is_utf8(answer) else answer.decode("utf-8", "replace").encode()
            self._frames.send_text(text)

    def _flush(self) -> None:
        for piece in self._frames.data_to_send():
            if piece is SEND_EOF:
                self.transport.close()
            elif not self.transport.is_closing():
                self.service.sent += len(piece)
                self.transport.write(piece)
        self.count_write_buffer()

    # -- ends

    @property
    def _is_partial(self) -> bool:
        return bool(self._message is not None or self._frames.reader.buffer)

    @property
    def activity(self) -> Activity:
        if self._late or self._waiting or self.unread or self.is_congested:
            return Activity.WAITING
        return Activity.SENDING if self._is_partial else Activity.IDLE

    def time_limit(self) -> float | None:
        limits = self.service.limits
        if (self._waiting or self.unread) and self._frames.state is State.OPEN:
            return None
        if self._is_partial or self._frames.state is not State.OPEN:
            return limits.request_seconds
        return limits.idle_seconds

    def expire(self) -> None:
        if self.is_congested or self._is_asked or self._frames.state is not State.OPEN:
            self.transport.abort()
        elif self._is_partial:
            self._end(CloseCode.POLICY_VIOLATION, "the message does not end")
        else:
            self._is_asked = True
            self.steps += 1
            self._frames.send_ping(b"")
            self._flush()

    def finish(self) -> None:
        for task, late in self._late.items():
            if late.is_endless:
                task.cancel()
        if not self._late:
            self._end(CloseCode.GOING_AWAY, "the node stops")

    def _end(self, code: CloseCode, reason: str) -> None:
        if self._frames.state is State.OPEN:
            self._frames.send_close(code, reason)
            self.steps += 1
            self._flush()


def _is_utf8(message: bytes) -> bool:
    if message.isascii():
        return True
    decoder = getincrementaldecoder("utf-8")()
    try:
        # In steps: a whole text would take four times its bytes.
        for start in range(0, len(message), STEP_BYTES):
            decoder.decode(message[start : start + STEP_BYTES], start + STEP_BYTES >= len(message))
    except UnicodeDecodeError:
        return False
    return True
