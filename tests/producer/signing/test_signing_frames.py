"""What node and signer say to each other: whatever bytes come, it is a question, an answer or a fault."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.basics.framing.frames import FrameBuffer, FrameFault
from ledgerd.producer.signing.signing_frames import (
    MOST_FRAME,
    SignerAnswer,
    SignerStatus,
    SigningQuestion,
    SigningVerdict,
    StatusQuestion,
    packed_answer,
    packed_question,
    read_answer,
    read_question,
    read_status,
)
from ledgerd.protocol.blocks.block import BlockHeader, HardforkVote, RunningVersion
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.protocol.types.versions import HardforkVersionVote, Version

NUMBERS = st.integers(0, (1 << 32) - 1)
EXTENSIONS = st.sampled_from(
    [(), (RunningVersion(Version(4 << 24)), HardforkVote(HardforkVersionVote(Version(15 << 16), 1_800_000_000)))]
)
HEADERS = st.builds(
    BlockHeader,
    st.binary(min_size=20, max_size=20).map(BlockId),
    NUMBERS,
    st.text("abcdefghijklmnopqrstuvwxyz.-0123456789", max_size=32),
    st.binary(min_size=20, max_size=20).map(MerkleRoot),
    EXTENSIONS,
)
QUESTIONS = st.builds(SigningQuestion, NUMBERS, st.binary(min_size=33, max_size=33).map(PublicKey), HEADERS)


def frames_of(*pieces: bytes) -> list[bytes]:
    buffer = FrameBuffer(MOST_FRAME)
    return [frame for piece in pieces for frame in buffer.frames_in(piece)]


@given(st.lists(QUESTIONS | st.builds(StatusQuestion, NUMBERS), max_size=4), st.integers(1, 40))
def test_questions_are_read_as_they_were_asked_in_whatever_pieces_they_come(
    questions: list[SigningQuestion | StatusQuestion], size: int
) -> None:
    data = b"".join(map(packed_question, questions))
    pieces = [data[place : place + size] for place in range(0, len(data), size)]
    assert [read_question(frame) for frame in frames_of(*pieces)] == questions
    assert all(len(frame) <= MOST_FRAME for frame in frames_of(data))


@given(NUMBERS, st.sampled_from(SigningVerdict), st.binary(max_size=2 * MOST_FRAME))
def test_answers_are_read_as_they_were_given_and_cut_where_they_are_too_long(
    number: int, verdict: SigningVerdict, content: bytes
) -> None:
    (frame,) = frames_of(packed_answer(SignerAnswer(number, verdict, content)))
    answer = read_answer(frame)
    assert answer[:2] == (number, verdict)
    assert content.startswith(answer.content)
    assert len(answer.content) >= min(len(content), 1_000)


@given(st.binary(max_size=200))
def test_other_bytes_are_a_fault(frame: bytes) -> None:
    for read in (read_question, read_answer):
        try:
            read(frame)
        except FrameFault:
            continue


def test_an_answer_holds_a_signature_where_it_is_one() -> None:
    assert SignerAnswer(1, SigningVerdict.SIGNED, bytes(65)).signature == bytes(65)
    assert SignerAnswer(1, SigningVerdict.SIGNED, bytes(64)).signature is None
    assert SignerAnswer(1, SigningVerdict.OLDER, bytes(65)).signature is None


def test_a_reason_from_outside_is_safe_to_be_logged() -> None:
    assert SignerAnswer(1, SigningVerdict.OLDER, b"a\n\x1b[31mb\xff").text == "a\\n\\x1b[31mb\ufffd"


def test_what_a_status_says_is_safe_to_be_logged() -> None:
    status = msgspec.json.encode(SignerStatus((), (), 0, "a\n\x1b[31mb"))
    assert read_status(SignerAnswer(1, SigningVerdict.STATUS, status)).problem == r"a\n\x1b[31mb"


def test_a_status_that_is_none_is_a_fault() -> None:
    with pytest.raises(FrameFault):
        read_status(SignerAnswer(1, SigningVerdict.STATUS, b"{}"))
