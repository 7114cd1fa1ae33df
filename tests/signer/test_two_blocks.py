"""A node that was taken over wants two blocks for one slot: every way to ask for the second, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.basics.framing.frames import FrameBuffer, FrameFault
from ledgerd.codec import codec_of
from ledgerd.producer.signing.signing_frames import (
    MOST_FRAME,
    SigningQuestion,
    SigningVerdict,
    packed_question,
    read_question,
)
from ledgerd.protocol.blocks.block import BlockHeader
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.crypto.signatures import Signature, recover
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.signer.service import SigningService
from tests.signer.headers import KEY, NAME, NOW, OTHER_KEY, at, header_of, rule_of

FIRST = header_of(NOW)
HEADER = codec_of(BlockHeader).encode(FIRST)
QUESTION = packed_question(SigningQuestion(1, KEY.public, FIRST))
HEAD = 4 + 6 + 33
"""Bytes of a frame before its header: length, version, kind and number, key."""


class Signatures:
    """A signer that runs, and every signature that has left it, by what it signs."""

    def __init__(self) -> None:
        self._service = SigningService(rule_of(), lambda: at(NOW + 1), [NAME], [KEY.public, OTHER_KEY.public])
        self.left: dict[int, set[tuple[bytes, PublicKey, Signature]]] = {}

    def ask(self, data: bytes) -> SigningVerdict | None:
        """Send bytes; nothing where they end the connection."""
        verdict = None
        try:
            for frame in FrameBuffer(MOST_FRAME).frames_in(data):
                question = read_question(frame)
                answer = self._service.answer(question)
                verdict = answer.verdict
                if isinstance(question, SigningQuestion) and answer.signature is not None:
                    digest = question.header.digest
                    signed = (digest, recover(answer.signature, digest), answer.signature)
                    self.left.setdefault(question.header.timestamp, set()).add(signed)
        except FrameFault:
            return None
        return verdict

    @property
    def most(self) -> int:
        """Of one slot."""
        return max((len(each) for each in self.left.values()), default=0)


def with_header(raw: bytes, key: PublicKey = KEY.public) -> bytes:
    body = QUESTION[2:8] + key + raw
    return len(body).to_bytes(2, "big") + body


def other(**fields: object) -> bytes:
    """The same slot, and another of the fields."""
    return with_header(codec_of(BlockHeader).encode(msgspec.structs.replace(FIRST, **fields)))


NAME_AT = 20 + 4
"""Where the length of the name stands in a header."""

TRICKS: dict[str, Callable[[], bytes]] = {
    "another parent": lambda: other(previous=BlockId((101).to_bytes(4, "big") + bytes(16))),
    "a parent of another branch": lambda: other(previous=BlockId((100).to_bytes(4, "big") + bytes(15) + b"\1")),
    "other transactions": lambda: other(transaction_merkle_root=MerkleRoot(b"\1" * 20)),
    "another key of the signer": lambda: with_header(HEADER, OTHER_KEY.public),
    "another header with another key": lambda: with_header(
        codec_of(BlockHeader).encode(header_of(NOW, 1)), OTHER_KEY.public
    ),
    "the length of the name written longer": lambda: with_header(
        HEADER[:NAME_AT] + bytes((len(NAME) | 0x80, 0)) + HEADER[NAME_AT + 1 :]
    ),
    "a zero after the name": lambda: other(validator=f"{NAME}\0"),
    "the name in capitals": lambda: other(validator=NAME.upper()),
    "bytes after the header": lambda: with_header(HEADER + b"\0"),
    "a header cut short": lambda: with_header(HEADER[:-1]),
    "an extension of no known kind": lambda: with_header(HEADER[:-1] + b"\1\x63"),
    "as many extensions as there are numbers": lambda: with_header(HEADER[:-1] + b"\xff\xff\xff\xff\x0f"),
    "the slot before it": lambda: other(timestamp=NOW - 3),
    "a second later": lambda: other(timestamp=NOW + 1),
    "the next slot, ahead of the clock": lambda: other(timestamp=NOW + 3),
    "the time of 136 years later, which ends in the same bits": lambda: other(timestamp=(NOW + (1 << 32)) & 0xFFFFFFFF),
    "another number of the question": lambda: QUESTION[:6] + b"\0\0\0\2" + QUESTION[10:],
    "another version": lambda: QUESTION[:4] + b"\2" + QUESTION[5:],
    "a frame of the largest length": lambda: b"\xff\xff\xff\xff" + QUESTION[4:],
}


@pytest.mark.parametrize("trick", TRICKS)
def test_no_trick_gets_a_second_signature_for_a_slot(trick: str) -> None:
    """After the first block, in its place, and between two questions for it."""
    for order in ((QUESTION, TRICKS[trick]()), (TRICKS[trick](), QUESTION), (QUESTION, TRICKS[trick](), QUESTION)):
        signer = Signatures()
        for each in order:
            signer.ask(each)
        assert signer.most == 1

    signer = Signatures()
    assert signer.ask(QUESTION) is SigningVerdict.SIGNED
    again = signer.ask(TRICKS[trick]())
    assert again is not SigningVerdict.SIGNED or len(signer.left[NOW]) == 1


def test_the_bytes_of_a_frame_in_any_pieces_are_one_question() -> None:
    frames = FrameBuffer(MOST_FRAME)
    for place in range(len(QUESTION)):
        assert frames.missing
        frames.add(QUESTION[place : place + 1])
    assert read_question(frames.next()) == SigningQuestion(1, KEY.public, FIRST)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.integers(HEAD - 33, len(QUESTION) - 1), st.integers(0, 255)), max_size=4))
def test_no_changed_bytes_get_a_second_signature(changes: list[tuple[int, int]]) -> None:
    changed = bytearray(QUESTION)
    for place, byte in changes:
        changed[place] = byte
    signer = Signatures()
    for data in (QUESTION, bytes(changed), QUESTION):
        signer.ask(data)
    assert signer.most == 1
