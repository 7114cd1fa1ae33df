"""A delivery is signed with its time, follows no redirect, and waits for a bounded answer for a bounded time."""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path

import pytest

from ledgerd.history.webhooks.sending import ANSWER_BYTES, NotDelivered, Sender, read_secret, signature
from ledgerd.history.webhooks.settings import target_of
from tests.history.webhooks.receivers import OK, HttpReceiver, receiving
from tests.rpc.loopback import play

NOW, BODY = 1_800_000_000, b'{"events":[]}'


def secret_in(folder: Path, mode: int = 0o600) -> Path:
    file = folder / "secret"
    file.write_text("between us\n")
    file.chmod(mode)
    return file


def sender_to(receiver: HttpReceiver, secret: Path, seconds: float = 30.0) -> Sender:
    target = target_of(f"http://127.0.0.1:{receiver.port}/deposits?shop=1")
    return Sender(target, secret, lambda: NOW + 0.9, seconds)


def test_a_receiver_can_check_who_sent_it_and_when(tmp_path: Path) -> None:
    async def scene() -> tuple[bytes, bytes]:
        async with receiving() as receiver:
            await sender_to(receiver, secret_in(tmp_path)).send(BODY)
            [got] = receiver.got
            return got

    head, body = play(scene)
    assert head.startswith(b"POST /deposits?shop=1 HTTP/1.1\r\nHost: 127.0.0.1:")
    found = re.search(rb"Ledgerd-Signature: t=([0-9]+),v1=([0-9a-f]{64})\r\n", head)
    assert found is not None
    assert int(found[1]) == NOW
    expected = hmac.new(b"between us", found[1] + b"." + body, hashlib.sha256).hexdigest()
    assert found[2].decode() == expected
    assert signature(b"between us", NOW + 1, body) != expected
    assert signature(b"between you", NOW, body) != expected


@pytest.mark.parametrize("status", [b"302 Found\r\nLocation: http://127.0.0.1:1/", b"400 Bad", b"500 Fault"])
def test_only_a_status_of_success_is_an_acknowledgement_and_a_redirect_is_not_followed(
    tmp_path: Path, status: bytes
) -> None:
    async def scene() -> int:
        async with receiving(lambda _head, _body: b"HTTP/1.1 " + status + b"\r\n\r\n") as receiver:
            with pytest.raises(NotDelivered, match=f"it answered {status[:3].decode()}"):
                await sender_to(receiver, secret_in(tmp_path)).send(BODY)
            return len(receiver.got)

    assert play(scene) == 1


@pytest.mark.parametrize("answer", [b"x" * (ANSWER_BYTES * 4), b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 abc\r\n"])
def test_an_answer_that_is_none_is_bounded_and_no_acknowledgement(tmp_path: Path, answer: bytes) -> None:
    async def scene() -> None:
        async with receiving(lambda _head, _body: answer) as receiver:
            with pytest.raises(NotDelivered):
                await sender_to(receiver, secret_in(tmp_path)).send(BODY)

    play(scene)


def test_a_receiver_that_hangs_has_so_much_time(tmp_path: Path) -> None:
    async def scene() -> None:
        async with receiving(lambda _head, _body: None) as receiver:
            with pytest.raises(NotDelivered, match=r"no answer within 0\.05 seconds"):
                await sender_to(receiver, secret_in(tmp_path), 0.05).send(BODY)

    play(scene)


def test_of_an_endless_answer_nothing_is_read_behind_its_first_line(tmp_path: Path) -> None:
    async def scene() -> None:
        async with receiving(lambda _head, _body: OK + b"x" * (1 << 24)) as receiver:
            await sender_to(receiver, secret_in(tmp_path)).send(BODY)

    play(scene)


def test_a_secret_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    assert read_secret(secret_in(tmp_path)) == b"between us"
    with pytest.raises(NotDelivered, match="chmod 600"):
        read_secret(secret_in(tmp_path, 0o640))
    with pytest.raises(NotDelivered, match="cannot be read"):
        read_secret(tmp_path / "missing")
    empty = tmp_path / "empty"
    empty.touch(0o600)
    with pytest.raises(NotDelivered, match="1 to"):
        read_secret(empty)
