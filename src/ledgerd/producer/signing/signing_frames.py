"""What a node and its signer say to each other: frames of bounded size, each of them one question or one answer.

The signer is told the header, not its hash: what it signs, it has read. Nothing here does I/O.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import NamedTuple

import msgspec

from ledgerd.basics.framing.frames import FrameFault, framed
from ledgerd.basics.printable import printable
from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.block import BlockHeader
from ledgerd.protocol.crypto.keys import KEY_SIZE, PublicKey
from ledgerd.protocol.crypto.signatures import SIGNATURE_SIZE, Signature

VERSION = 1
MOST_FRAME = 8192
"""Bytes of a frame after its length. A header has fewer than 150; a status names validators and keys."""
MOST_NAMED = 64
"""Validators, and keys, of a signer: the status of so many fits into a frame."""

_HEAD = struct.Struct(">BBI")
"""Version, kind, and the number of the question, which its answer repeats."""

_ASK_TO_SIGN, _ASK_FOR_STATUS = 1, 2
MOST_TEXT = MOST_FRAME - _HEAD.size
"""Bytes of the text in an answer."""


class SigningVerdict(IntEnum):
    """The verdict in a signer's answer."""

    SIGNED = 0
    SIGNED_ANOTHER = 1
    """The slot has the signature of another header, which another node has asked for."""
    OLDER = 2
    """A later slot was signed before."""
    AHEAD = 3
    """The slot has not begun by the signer's clock."""
    OUT_OF_STEP = 4
    """No slot begins at that time."""
    NOT_NAMED = 5
    """The signer does not sign for this validator."""
    NO_KEY = 6
    """The signer does not hold the key that the chain asks for."""
    WAITING = 7
    """The signer was not stopped cleanly, and waits for a round."""
    CLOCK = 8
    """The signer does not trust its clock."""
    FAILED = 9
    """The signature could not be made durable."""
    STATUS = 10
    LATE = 11
    """The slot is over by the signer's clock."""


class SigningQuestion(NamedTuple):
    """A header to sign, with the key that the chain asks for."""

    number: int
    key: PublicKey
    header: BlockHeader


class StatusQuestion(NamedTuple):
    """A request for the status of the signer."""

    number: int


class SignerAnswer(NamedTuple):
    """The answer to a question."""

    number: int
    verdict: SigningVerdict
    content: bytes
    """The signature, a reason as text, or the status as JSON."""

    @property
    def signature(self) -> Signature | None:
        is_signed = self.verdict is SigningVerdict.SIGNED and len(self.content) == SIGNATURE_SIZE
        return Signature(self.content) if is_signed else None

    @property
    def text(self) -> str:
        """A reason, safe to be logged: others write it."""
        return printable(self.content.decode("utf-8", "replace"))


class SignerStatus(msgspec.Struct, frozen=True):
    """The status of a signer, for people and for `ledgerd doctor`."""

    validators: tuple[str, ...]
    keys: tuple[str, ...]
    last_slot: int
    """Seconds since 1970; 0 if nothing was signed."""
    problem: str
    """Why it signs nothing now; empty if it would."""


def packed_question(question: SigningQuestion | StatusQuestion) -> bytes:
    if isinstance(question, StatusQuestion):
        return framed(_HEAD.pack(VERSION, _ASK_FOR_STATUS, question.number))
    header = codec_of(BlockHeader).encode(question.header)
    return framed(_HEAD.pack(VERSION, _ASK_TO_SIGN, question.number) + question.key + header)


def read_question(frame: bytes) -> SigningQuestion | StatusQuestion:
    kind, number, rest = _opened(frame)
    if kind == _ASK_FOR_STATUS and not rest:
        return StatusQuestion(number)
    if kind != _ASK_TO_SIGN or len(rest) <= KEY_SIZE:
        raise FrameFault(f"a question of kind {kind} with {len(rest)} bytes")
    try:
        header = codec_of(BlockHeader).decode_exactly(rest[KEY_SIZE:])
    except CodecError as fault:
        raise FrameFault(f"no block header: {fault}") from fault
    return SigningQuestion(number, PublicKey(rest[:KEY_SIZE]), header)


def packed_answer(answer: SignerAnswer) -> bytes:
    """The frame of an answer; a text that is too long is cut."""
    return framed(_HEAD.pack(VERSION, answer.verdict, answer.number) + answer.content[:MOST_TEXT])


def read_answer(frame: bytes) -> SignerAnswer:
    kind, number, rest = _opened(frame)
    if kind not in set(SigningVerdict):
        raise FrameFault(f"an answer of kind {kind}")
    return SignerAnswer(number, SigningVerdict(kind), rest)


def read_status(answer: SignerAnswer) -> SignerStatus:
    try:
        status = msgspec.json.decode(answer.content, type=SignerStatus)
    except (msgspec.MsgspecError, UnicodeDecodeError) as fault:
        raise FrameFault("no status") from fault
    return msgspec.structs.replace(status, problem=printable(status.problem))


def _opened(frame: bytes) -> tuple[int, int, bytes]:
    if len(frame) < _HEAD.size:
        raise FrameFault(f"a frame of {len(frame)} bytes")
    version, kind, number = _HEAD.unpack_from(frame)
    if version != VERSION:
        raise FrameFault(f"a frame of version {version}, not {VERSION}")
    return kind, number, frame[_HEAD.size :]
