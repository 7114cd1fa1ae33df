"""What a node and a replica say to each other: frames as in the log of changes, of bounded size.

The replica says hello; from then on only the node speaks. Nothing here does I/O.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TypeVar

import msgspec

from ledgerd.replica.digest import DIGEST_BYTES
from ledgerd.rpc.blocks.records import RECORD_BYTES
from ledgerd.state.files.change_frames import POSITION, ChangeFault, framed

VERSION = 1
MOST_HELLO = 4096
"""Bytes of the first message of a replica."""

T = TypeVar("T", bound=msgspec.Struct)

_NUMBER = struct.Struct(">Q")
_CHECK = struct.Struct(f">{POSITION.size}s{DIGEST_BYTES}s")


class MessageKind(IntEnum):
    """The frames besides those of a record."""

    HELLO = 10
    WELCOME = 11
    REFUSED = 12
    STATE = 13
    """A whole state follows, in rows."""
    ROWS = 14
    STATE_END = 15
    BLOCKS = 16
    BLOCK_INFO = 17
    CHECK = 18
    """The digest of the state at a position."""
    HEAD = 19


class ReplicaHello(msgspec.Struct, frozen=True):
    """The position of a replica: its state, and the blocks of its log."""

    version: int
    layout: bytes
    chain_id: bytes
    """Empty where it has no state."""
    position: bytes
    """Empty where it needs a whole state."""
    logged: int
    """The last block in its log, 0 without any."""
    logged_id: bytes


class Welcome(msgspec.Struct, frozen=True):
    """The chain of the node, and from where it sends."""

    chain_id: bytes
    head: int
    log_from: int
    """The first block that it will send; where it does not continue the replica's log, that begins anew."""


class NotServed(msgspec.Struct, frozen=True):
    """Why the node sends nothing."""

    reason: str


class StateBegins(msgspec.Struct, frozen=True):
    """A whole state follows."""

    position: bytes
    revision: int
    size: int
    """Bytes of the file that it is in."""


class StateEnds(msgspec.Struct, frozen=True):
    """The whole state was sent."""

    position: bytes


class NewHead(msgspec.Struct, frozen=True):
    """The head of the node: sent after each commit, and every few seconds."""

    head: int


class LoggedBlocks(msgspec.Struct, frozen=True, array_like=True):
    """Irreversible blocks, packed."""

    first: int
    blocks: tuple[bytes, ...]


def packed(kind: MessageKind, content: msgspec.Struct) -> bytes:
    return framed(kind, msgspec.msgpack.encode(content))


def read(body: bytes, kind: type[T]) -> T:
    """The message of a body. `ChangeFault`: it is none."""
    try:
        return msgspec.msgpack.decode(body, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise ChangeFault(f"no {kind.__name__}: {fault}") from fault


def packed_check(position: bytes, digest: bytes) -> bytes:
    return framed(MessageKind.CHECK, _CHECK.pack(position, digest))


def read_check(body: bytes) -> tuple[bytes, bytes]:
    """A position and the digest there. `ChangeFault`: it is none."""
    if len(body) != _CHECK.size:
        raise ChangeFault(f"a digest of {len(body)} bytes")
    position, digest = _CHECK.unpack(body)
    return position, digest


def packed_block_info(first: int, records: bytes) -> bytes:
    return framed(MessageKind.BLOCK_INFO, _NUMBER.pack(first) + records)


def read_block_info(body: bytes) -> tuple[int, bytes]:
    """The number of the first block, and the records. `ChangeFault`: it is none."""
    if len(body) < _NUMBER.size or (len(body) - _NUMBER.size) % RECORD_BYTES:
        raise ChangeFault(f"records of blocks in {len(body)} bytes")
    return _NUMBER.unpack_from(body)[0], body[_NUMBER.size :]
