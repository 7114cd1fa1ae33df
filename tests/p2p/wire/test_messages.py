"""The bytes of all messages, as other nodes write and read them (spec 04, sections 2, 4 and 26)."""

from __future__ import annotations

import hashlib

import pytest

from ledgerd.p2p.wire.endpoints import wire_endpoint
from ledgerd.p2p.wire.frames import Frame, FrameReader, Undecodable, UnknownType
from ledgerd.p2p.wire.messages import (
    MESSAGES,
    BlockRangeReply,
    BlockReply,
    ForkStatus,
    GapFillReply,
    GapFillRequest,
    GetBlock,
    GetBlockRange,
    Hello,
    HelloReply,
    KnownPeer,
    Message,
    NodeId,
    NotAvailable,
    PeerExchangeRateLimited,
    PeerExchangeReply,
    PeerExchangeRequest,
    RangeReply,
    RangeRequest,
    SoftBan,
    TransactionMessage,
    block_frame,
    gap_reply_frame,
    range_reply_frame,
    read_message,
)
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from tests.p2p.conversations import conversation

HEAD, HEAD_ID = 79881136, BlockId(bytes.fromhex("04c2e3b00102030405060708090a0b0c0d0e0f10"))
LIB, LIB_ID = 79881121, BlockId(bytes.fromhex("04c2e3a12122232425262728292a2b2c2d2e2f30"))
EARLIEST = 79781122
NODE = NodeId(bytes.fromhex("0263d96ed833728b257bffd4bf79d22bc50adc3b1550106085f6dca01c6cc9c941"))
BLOCK = bytes.fromhex(
    "04c2e3b00102030405060708090a0b0c0d0e0f1004183d6a056361726f6c000000000000000000000000000000000000000000"
    "1f7770e162a1c7420ea40af747c94114d2ad58a0fa962fbe98313671a0bacc5aca08b4b62350873073222f000ff86af9a8f38ebca4451c548e"
    "357d50a09b1d1a1300"
)
TRANSACTION = bytes.fromhex(
    "b0e30102030440183d6a010205616c69636503626f62e8030000000000000356495a00000000026869000"
    "11f4c615fa8b0b3c8d252c3e59876c28dbb0fc5054b957b4809d2a8e961f10ceb743b52fbb4e5ac997cac3b0c125cab688603a3bed08b08504b"
    "b64b43260e1aa1a5"
)


def read(number: int, payload: bytes) -> Message:
    return read_message(Frame(number, payload))


def block() -> BlockReply:
    message = read(5107, BLOCK + bytes(4) + b"\1")
    assert isinstance(message, BlockReply)
    return message


SPECIFIED: list[tuple[Message, str]] = [
    (
        Hello(1, HEAD_ID, HEAD, LIB_ID, LIB, EARLIEST, LIB, False, False, 0, 1, NODE),
        (
            "5f000000ec130000010004c2e3b00102030405060708090a0b0c0d0e0f10b0e3c204"
            "04c2e3a12122232425262728292a2b2c2d2e2f30a1e3c204"
            "025dc104a1e3c204000000010263d96ed833728b257bffd4bf79d22bc50adc3b1550106085f6dca01c6cc9c941"
        ),
    ),
    (
        HelloReply(True, True, NO_BLOCK, LIB_ID, EARLIEST, LIB, 0, 1),
        (
            "34000000ed1300000101000000000000000000000000000000000000000004c2e3a12122232425262728292a2b2c2d2e2f30"
            "025dc104a1e3c2040001"
        ),
    ),
    (RangeRequest(HEAD, HEAD_ID), "18000000ee130000b0e3c20404c2e3b00102030405060708090a0b0c0d0e0f10"),
    (RangeReply(EARLIEST, LIB, True), "09000000ef130000025dc104a1e3c20401"),
    (GetBlockRange(LIB, HEAD, HEAD_ID), "1c000000f0130000a1e3c204b0e3c20404c2e3b00102030405060708090a0b0c0d0e0f10"),
    (BlockRangeReply((), 0, False), "06000000f1130000000000000000"),
    (BlockRangeReply((block().block,), 0, True), "7b000000f113000001" + BLOCK.hex() + "0000000001"),
    (GetBlock(HEAD, NO_BLOCK), "18000000f2130000b0e3c2040000000000000000000000000000000000000000"),
    (block(), "7a000000f3130000" + BLOCK.hex() + "0000000001"),
    (NotAvailable(HEAD), "04000000f4130000b0e3c204"),
    (
        ForkStatus(0, HEAD_ID, HEAD, LIB_ID, LIB, EARLIEST, LIB, 1),
        (
            "3a000000f51300000004c2e3b00102030405060708090a0b0c0d0e0f10b0e3c204"
            "04c2e3a12122232425262728292a2b2c2d2e2f30a1e3c204025dc104a1e3c20401"
        ),
    ),
    (PeerExchangeRequest(), "00000000f6130000"),
    (
        PeerExchangeReply((KnownPeer(wire_endpoint(Endpoint("62.109.17.82", 2001)), NODE),)),  # type: ignore[arg-type]
        "28000000f71300000152116d3ed1070263d96ed833728b257bffd4bf79d22bc50adc3b1550106085f6dca01c6cc9c941",
    ),
    (PeerExchangeRateLimited(241), "04000000f8130000f1000000"),
    (read(5113, TRANSACTION), "6c000000f9130000" + TRANSACTION.hex()),
    (
        SoftBan(3600, "spam strike threshold exceeded"),
        "23000000fa130000100e00001e7370616d20737472696b65207468726573686f6c64206578636565646564",
    ),
    (GapFillRequest((HEAD, HEAD + 1, HEAD + 2)), "0d000000fb13000003b0e3c204b1e3c204b2e3c204"),
    (GapFillReply(()), "01000000fc13000000"),
]


@pytest.mark.parametrize(("message", "frame"), SPECIFIED, ids=lambda value: type(value).__name__)
def test_a_message_has_the_specified_bytes_both_ways(message: Message, frame: str) -> None:
    assert message.frame.hex() == frame
    reader = FrameReader()
    reader.receive(bytes.fromhex(frame), 0)
    parsed = reader.next_frame(0)
    assert parsed is not None
    assert read_message(parsed) == message


def test_every_message_is_specified() -> None:
    assert {message.NUMBER for message, _ in SPECIFIED} == set(MESSAGES) == set(range(5100, 5117))


@pytest.mark.parametrize(
    ("number", "digest"),
    [
        (5100, "d4bcc834de63b01a762f43b6540be8903ffe31d91e183071c857647319533d07"),
        (5101, "08b2cab812a65d36b687bfbd9bfbe59f7ba4f1a731301a7a258fd61433d2d48d"),
        (5104, "a082d6806adc20724d74a9dfed6383a5773acffd1f1d15d15a36aca40b8b9697"),
        (5107, "4825c1f3e8c4d9e725eb851dd74968d9d4e000f3bd0bcfc2f7c5f9a97d0121d8"),
        (5109, "956108a138433717f86d5ee5e8fe14c0cc5a42d41e1725a60ee8ebeecd7b63b5"),
        (5111, "57e184296e72bebed3c02c49ed43b343d44b47c16519102c09e58f15ddd08dd9"),
        (5113, "8f823fbfebc7647bc96c36e744e7842ce87d970a829fec71ab34f73d69e0328c"),
    ],
)
def test_whole_frames_have_the_specified_hashes(number: int, digest: str) -> None:
    message = next(message for message, _ in SPECIFIED if number == message.NUMBER)
    assert hashlib.sha256(message.frame).hexdigest() == digest


def test_the_transaction_of_the_specification_has_its_id() -> None:
    message = read(5113, TRANSACTION)
    assert isinstance(message, TransactionMessage)
    assert message.trx.id.hex() == "1d3ea039cdb814811d5967244a9c901da26fa06a"


def test_the_block_of_the_specification_has_its_id() -> None:
    assert block().block.id.hex() == "04c2e3b1f38cc3242d4d23c3c7041e4c9e06cea3"


def test_frames_of_packed_blocks_are_those_of_the_messages() -> None:
    parsed = block()
    assert block_frame(BLOCK, 0, is_last=True) == parsed.frame
    assert range_reply_frame([BLOCK], 7, is_last=False) == BlockRangeReply((parsed.block,), 7, False).frame
    assert gap_reply_frame([BLOCK, BLOCK]) == GapFillReply((parsed.block, parsed.block)).frame


# -- hello, as older nodes send it, and leftovers


def test_a_hello_without_a_node_id_is_read() -> None:
    message, frame = SPECIFIED[0]
    payload = bytes.fromhex(frame)[8 : 8 + 62]
    for length in (62, 63, 94):
        old = read(5100, payload + bytes([9]) * (length - 62))
        assert isinstance(old, Hello)
        assert old.node_id == bytes(33)
        assert isinstance(message, Hello)
        assert old.head_block_id == message.head_block_id


def test_an_empty_hello_means_defaults() -> None:
    assert read(5100, b"") == Hello()


def test_a_hello_that_is_too_short_cannot_be_read() -> None:
    with pytest.raises(Undecodable):
        read(5100, bytes(61))


@pytest.mark.parametrize(("message", "frame"), SPECIFIED, ids=lambda value: type(value).__name__)
def test_bytes_behind_the_last_field_are_ignored(message: Message, frame: str) -> None:
    assert read(message.NUMBER, bytes.fromhex(frame)[8:] + b"more") == message


@pytest.mark.parametrize(
    ("message", "frame"),
    [
        each for each in SPECIFIED if each[0].NUMBER not in (5100, 5110)
    ],  # the last field may be missing, or there is none
    ids=lambda value: type(value).__name__,
)
def test_a_payload_without_its_last_byte_cannot_be_read(message: Message, frame: str) -> None:
    payload = bytes.fromhex(frame)[8:]
    with pytest.raises(Undecodable):
        read(message.NUMBER, payload[:-1])


def test_a_flag_is_zero_or_one() -> None:
    with pytest.raises(Undecodable):
        read(5103, bytes(8) + b"\2")


@pytest.mark.parametrize("number", [0, 5099, 5117, 0xFFFFFFFF])
def test_other_numbers_are_unknown(number: int) -> None:
    with pytest.raises(UnknownType):
        read(number, b"")


@pytest.mark.parametrize("name", ["join", "third"])
def test_every_recorded_message_is_read_and_written_as_it_was(name: str) -> None:
    for said in conversation(name):
        message = read(said.number, said.payload)
        assert message.frame[8:] == said.payload
