"""What a signer answers, and what it tells its operator."""

from __future__ import annotations

import logging

import pytest

from ledgerd.basics.framing.frames import LENGTH
from ledgerd.producer.signing.signing_frames import (
    MOST_NAMED,
    SigningVerdict,
    StatusQuestion,
    packed_answer,
    read_answer,
    read_status,
)
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.signer.service import SigningService
from tests.signer.headers import KEY, NAME, NOW, at, question_of, rule_of


def service_of(*, is_ready: bool = True, now: float = NOW) -> SigningService:
    return SigningService(rule_of(is_ready=is_ready), lambda: at(now), [NAME], [KEY.public])


def test_a_signature_is_told_once_and_a_refusal_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    service = service_of()
    with caplog.at_level(logging.INFO):
        answers = [service.answer(question_of(NOW, variant, number)) for number, variant in enumerate((0, 0, 1))]

    assert [answer.number for answer in answers] == [0, 1, 2]
    assert [answer.verdict for answer in answers] == [
        SigningVerdict.SIGNED,
        SigningVerdict.SIGNED,
        SigningVerdict.SIGNED_ANOTHER,
    ]
    assert answers[0].signature == answers[1].signature
    assert answers[2].signature is None
    lines = [record.getMessage() for record in caplog.records]
    assert lines[0] == "signed the slot 2027-01-15T08:00:00 of alice"
    assert [line[:14] for line in lines[1:]] == ["refused to sig"]


def test_the_status_says_for_whom_with_what_and_why_not() -> None:
    service = service_of(is_ready=False)
    status = read_status(service.answer(StatusQuestion(7)))

    assert (status.validators, status.keys, status.last_slot) == ((NAME,), (public_key_text(KEY.public),), 0)
    assert "was not stopped cleanly" in status.problem

    ready = service_of()
    ready.answer(question_of(NOW))
    assert read_status(ready.answer(StatusQuestion(8))).last_slot == NOW
    assert read_status(ready.answer(StatusQuestion(8))).problem == ""


def test_the_status_of_as_many_validators_and_keys_as_a_signer_may_have_fits_into_a_frame() -> None:
    names = [f"{number:02}{'m' * 14}" for number in range(MOST_NAMED)]
    keys = [PrivateKey(bytes((number + 1,)) * 32).public for number in range(MOST_NAMED)]
    service = SigningService(rule_of(is_ready=False), lambda: at(NOW), names, keys)

    frame = packed_answer(service.answer(StatusQuestion(7)))
    status = read_status(read_answer(frame[LENGTH.size :]))
    assert (len(status.validators), len(status.keys)) == (MOST_NAMED, MOST_NAMED)


def test_no_line_and_no_answer_has_the_key(caplog: pytest.LogCaptureFixture) -> None:
    service = service_of()
    with caplog.at_level(logging.DEBUG):
        answers = [service.answer(question_of(NOW + ahead)) for ahead in (0, 1, 3, 6, 300)]
    told = caplog.text.encode() + b"".join(answer.content for answer in answers) + repr(service.__dict__).encode()
    for secret in (KEY.secret, KEY.secret.hex().encode(), KEY.wif.encode()):
        assert secret not in told
