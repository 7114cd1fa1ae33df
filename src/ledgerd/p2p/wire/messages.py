"""The seventeen messages, as records in the order of the wire (spec 04, section 4)."""

from __future__ import annotations

from typing import ClassVar, NewType

import msgspec

from ledgerd.codec import DecodeError, codec_of, declare
from ledgerd.codec.partial import bytes_before
from ledgerd.codec.types.numbered import NumberedRecord, by_number
from ledgerd.codec.types.numbers import UInt8, UInt16, UInt32
from ledgerd.codec.types.strings import FixedBytes
from ledgerd.codec.types.varint import pack_varint
from ledgerd.p2p.wire.endpoints import WireEndpoint
from ledgerd.p2p.wire.frames import Frame, Undecodable, UnknownType, pack_frame
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId

NodeId = NewType("NodeId", bytes)
"""A random number of 33 bytes that identifies a running process. It is not authenticated."""

declare(NodeId, FixedBytes(33, "node id"))

NO_NODE = NodeId(bytes(33))

SYNC, FORWARD = 0, 1

NORMAL, LOOKING, MINORITY = 0, 1, 2


class Message(NumberedRecord, frozen=True):
    """A message of the peer protocol."""

    @property
    def frame(self) -> bytes:
        return pack_frame(self.NUMBER, codec_of(type(self)).encode(self))


class Hello(Message, frozen=True, tag=5100):
    """The node, and the head and range of its chain."""

    protocol_version: UInt16 = 1
    head_block_id: BlockId = NO_BLOCK
    head_block_num: UInt32 = 0
    lib_block_id: BlockId = NO_BLOCK
    lib_block_num: UInt32 = 0
    dlt_earliest_block: UInt32 = 0
    dlt_latest_block: UInt32 = 0
    emergency_active: bool = False
    has_emergency_key: bool = False
    fork_status: UInt8 = NORMAL
    node_status: UInt8 = SYNC
    node_id: NodeId = NO_NODE


class HelloReply(Message, frozen=True, tag=5101):
    """The answer to a hello."""

    exchange_enabled: bool
    fork_alignment: bool
    initiator_head_seen: BlockId
    initiator_lib_seen: BlockId
    our_dlt_earliest: UInt32
    our_dlt_latest: UInt32
    our_fork_status: UInt8
    our_node_status: UInt8


class RangeRequest(Message, frozen=True, tag=5102):
    """Asks which blocks a peer has around this one."""

    block_num: UInt32
    block_id: BlockId


class RangeReply(Message, frozen=True, tag=5103):
    """The blocks that the sender has, or none."""

    range_start: UInt32
    range_end: UInt32
    has_blocks: bool


class GetBlockRange(Message, frozen=True, tag=5104):
    """Asks for a range of blocks."""

    start_block_num: UInt32
    end_block_num: UInt32
    prev_block_id: BlockId


class BlockRangeReply(Message, frozen=True, tag=5105):
    """Blocks of a range, and whether they are the last ones."""

    blocks: tuple[Block, ...]
    last_block_next_available: UInt32
    is_last: bool


class GetBlock(Message, frozen=True, tag=5106):
    """Asks for a block."""

    block_num: UInt32
    prev_block_id: BlockId


class BlockReply(Message, frozen=True, tag=5107):
    """One block: the answer to a request, or a pushed new block."""

    BESIDE_BLOCK: ClassVar[int] = 64
    """Bytes of the payload beside the block: those of `ReplyEnd`, and some for later versions."""

    block: Block
    next_available: UInt32
    is_last: bool


class NotAvailable(Message, frozen=True, tag=5108):
    """The sender does not have the requested block."""

    block_num: UInt32


class ForkStatus(Message, frozen=True, tag=5109):
    """The current head and fork status of the sender."""

    fork_status: UInt8
    head_block_id: BlockId
    head_block_num: UInt32
    lib_block_id: BlockId
    lib_block_num: UInt32
    dlt_earliest_block: UInt32
    dlt_latest_block: UInt32
    node_status: UInt8


class PeerExchangeRequest(Message, frozen=True, tag=5110):
    """Asks for endpoints of other nodes."""


class KnownPeer(msgspec.Struct, frozen=True):
    """A node that the sender is connected to."""

    endpoint: WireEndpoint
    node_id: NodeId


class PeerExchangeReply(Message, frozen=True, tag=5111):
    """The endpoints of nodes."""

    peers: tuple[KnownPeer, ...]


class PeerExchangeRateLimited(Message, frozen=True, tag=5112):
    """The request for endpoints came too soon."""

    wait_seconds: UInt32


class TransactionMessage(Message, frozen=True, tag=5113):
    """A transaction, pushed."""

    trx: Transaction


class SoftBan(Message, frozen=True, tag=5114):
    """The sender closes the connection for a reason, and accepts no new one for a time."""

    ban_duration_sec: UInt32
    reason: str


class GapFillRequest(Message, frozen=True, tag=5115):
    """Asks for blocks by their numbers."""

    block_nums: tuple[UInt32, ...]


class GapFillReply(Message, frozen=True, tag=5116):
    """The requested blocks that the sender has."""

    blocks: tuple[Block, ...]


MESSAGES = by_number(Message)

HELLO_WITHOUT_NODE_ID = bytes_before(Hello, "node_id")
HELLO_SIZE = HELLO_WITHOUT_NODE_ID + len(NO_NODE)


def read_message(frame: Frame) -> Message:
    """Bytes after its last field are ignored (spec 04, section 2)."""
    kind = MESSAGES.get(frame.number)
    if kind is None:
        raise UnknownType(f"a message of type {frame.number}")
    try:
        if kind is Hello:
            return _read_hello(frame.payload)
        return codec_of(kind).decode(frame.payload)
    except DecodeError as error:
        raise Undecodable(f"a message of type {frame.number} that cannot be read: {error}") from error


def _read_hello(payload: bytes) -> Hello:
    """An empty one means defaults; older nodes do not send their id (spec 04, section 4.1)."""
    if not payload:
        return Hello()
    if HELLO_WITHOUT_NODE_ID <= len(payload) < HELLO_SIZE:
        payload = payload[:HELLO_WITHOUT_NODE_ID] + NO_NODE
    return codec_of(Hello).decode(payload)


# -- frames of packed blocks, which are sent without decoding


class ReplyEnd(msgspec.Struct, frozen=True):
    """The fields after the blocks of a `BlockRangeReply`, and after the block of a `BlockReply`."""

    next_available: UInt32
    is_last: bool


def range_reply_frame(packed: list[bytes], next_available: int, *, is_last: bool) -> bytes:
    end = codec_of(ReplyEnd).encode(ReplyEnd(next_available, is_last))
    return pack_frame(BlockRangeReply.NUMBER, b"".join([pack_varint(len(packed)), *packed, end]))


def gap_reply_frame(packed: list[bytes]) -> bytes:
    return pack_frame(GapFillReply.NUMBER, b"".join([pack_varint(len(packed)), *packed]))


def block_frame(packed: bytes, next_available: int, *, is_last: bool) -> bytes:
    return pack_frame(BlockReply.NUMBER, packed + codec_of(ReplyEnd).encode(ReplyEnd(next_available, is_last)))
