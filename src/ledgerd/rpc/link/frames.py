"""What a worker and the main process say to each other: messages, and their frames on a stream. No I/O.

A frame is a length of four bytes and a message in MessagePack. Both ends are of one program and one version, but
neither trusts the other to be in its right mind: sizes are bounded, and what is no message ends the link.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import msgspec

MAX_FRAME = 16 * 1024 * 1024
"""More than the largest block, or the largest body of a request that is passed on."""

_LENGTH = struct.Struct(">I")


class Ask(msgspec.Struct, frozen=True, tag="ask", array_like=True):
    """A worker wants something done."""

    number: int
    topic: str
    payload: bytes


class Reply(msgspec.Struct, frozen=True, tag="reply", array_like=True):
    """It is done."""

    number: int
    payload: bytes


class ErrorReply(msgspec.Struct, frozen=True, tag="error", array_like=True):
    """It breaks a rule: the violation, as the client is to see it. Without a name it is a plain error."""

    number: int
    code: int
    name: str
    what: str
    message: str


class Subscribe(msgspec.Struct, frozen=True, tag="subscribe", array_like=True):
    """A worker wants to hear of a topic."""

    topic: str


class Unsubscribe(msgspec.Struct, frozen=True, tag="unsubscribe", array_like=True):
    """A worker has nobody left who wants to hear of a topic."""

    topic: str


class Event(msgspec.Struct, frozen=True, tag="event", array_like=True):
    """Something has happened."""

    topic: str
    payload: bytes


class Alive(msgspec.Struct, frozen=True, tag="alive", array_like=True):
    """A worker's loop turns."""


Message = Ask | Reply | ErrorReply | Subscribe | Unsubscribe | Event | Alive

_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[Message] = msgspec.msgpack.Decoder(Message)


class LinkFault(Exception):
    """What came over the link is no message, or too large for one."""


def frame(message: Message) -> bytes:
    """A message as it is sent."""
    payload = _encoder.encode(message)
    if len(payload) > MAX_FRAME:
        raise LinkFault(f"a message of {len(payload)} bytes")
    return _LENGTH.pack(len(payload)) + payload


class LinkReader:
    """The messages of a stream, whatever pieces it comes in."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that are complete with these bytes."""
        self._buffer += data
        start = 0
        try:
            while len(self._buffer) - start >= _LENGTH.size:
                (size,) = _LENGTH.unpack_from(self._buffer, start)
                if size > MAX_FRAME:
                    raise LinkFault(f"a frame of {size} bytes")
                end = start + _LENGTH.size + size
                if len(self._buffer) < end:
                    break
                payload = bytes(self._buffer[start + _LENGTH.size : end])
                start = end
                yield _message(payload)
        finally:
            del self._buffer[:start]


def _message(payload: bytes) -> Message:
    try:
        return _decoder.decode(payload)
    except msgspec.DecodeError as error:
        raise LinkFault(str(error)) from error
