"""Messages between an API worker and the main process, and their frames on a stream socket. No I/O.

A frame holds a message in MessagePack. Both ends run the same version, and still limit sizes;
invalid data closes the link.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

import msgspec

from ledgerd.basics.framing.frames import FrameFault, framed
from ledgerd.codec.json.errors import Layer

MOST_FRAME = 16 * 1024 * 1024
"""The most bytes of a frame: more than the largest block, and than the largest request body that is passed on."""


class Ask(msgspec.Struct, frozen=True, tag="ask", array_like=True):
    """A worker's request to the main process."""

    number: int
    topic: str
    payload: bytes


class Reply(msgspec.Struct, frozen=True, tag="reply", array_like=True):
    """The answer to a request."""

    number: int
    payload: bytes


class ErrorReply(msgspec.Struct, frozen=True, tag="error", array_like=True):
    """A refused request, with the violation for the client. Without a name it is a `PlainError`."""

    number: int
    code: int
    name: str
    what: str
    layers: str
    """Formats with their values, as `packed_layers` has them."""


class Subscribe(msgspec.Struct, frozen=True, tag="subscribe", array_like=True):
    """A worker subscribes to a topic."""

    topic: str


class Unsubscribe(msgspec.Struct, frozen=True, tag="unsubscribe", array_like=True):
    """A worker has no listeners of a topic left."""

    topic: str


class TopicEvent(msgspec.Struct, frozen=True, tag="event", array_like=True):
    """An event under a topic."""

    topic: str
    payload: bytes


class Alive(msgspec.Struct, frozen=True, tag="alive", array_like=True):
    """A worker's heartbeat."""


LinkMessage = Ask | Reply | ErrorReply | Subscribe | Unsubscribe | TopicEvent | Alive


def packed_layers(layers: Iterable[Layer]) -> str:
    """The layers of an error as JSON in ASCII, since texts of clients in them need not be UTF-8."""
    return json.dumps([(layer.format, layer.data) for layer in layers])


def layers_of(packed: str) -> list[Layer]:
    return [Layer(layout, data) for layout, data in json.loads(packed)]


_encoder = msgspec.msgpack.Encoder()
_decoder: msgspec.msgpack.Decoder[LinkMessage] = msgspec.msgpack.Decoder(LinkMessage)


class LinkFault(FrameFault):
    """Data on the link is not a message, or too large."""


def frame(message: LinkMessage) -> bytes:
    payload = _encoder.encode(message)
    if len(payload) > MOST_FRAME:
        raise LinkFault(f"a message of {len(payload)} bytes")
    return framed(payload)


def read_message(payload: bytes) -> LinkMessage:
    """The message in a frame. `LinkFault`: it is none."""
    try:
        return _decoder.decode(payload)
    except msgspec.DecodeError as error:
        raise LinkFault(str(error)) from error
