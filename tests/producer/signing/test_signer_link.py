"""The node's side of a signer: two attempts of bounded time for the same header, and no other way to a signature."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path

import pytest

from ledgerd.basics.framing.frames import FrameBuffer
from ledgerd.producer.signing import signer_link
from ledgerd.producer.signing.signer_link import SignerLink, status_of
from ledgerd.producer.signing.signer_place import SignerPlace
from ledgerd.producer.signing.signing_frames import (
    MOST_FRAME,
    SignerAnswer,
    SigningQuestion,
    SigningVerdict,
    StatusQuestion,
    packed_answer,
    read_question,
)
from tests.patience import PATIENCE
from tests.signer.headers import KEY, NOW, header_of
from tests.signer.test_service import service_of

Answering = Callable[[int, SigningQuestion | StatusQuestion], bytes]
"""The bytes that answer a question on the connection of this number."""


class Hearing(asyncio.Protocol):
    """One connection to a double."""

    def __init__(self, double: Double) -> None:
        double.connections += 1
        self.double, self.number, self.frames = double, double.connections, FrameBuffer(MOST_FRAME)
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.double.hearing.append(self)

    def data_received(self, data: bytes) -> None:
        for frame in self.frames.frames_in(data):
            self.double.asked.append(read_question(frame))
            assert self.transport is not None
            self.transport.write(self.double.answering(self.number, self.double.asked[-1]))


class Double:
    """Listens as a signer does, and answers as a test wants."""

    def __init__(self, path: Path, answering: Answering) -> None:
        self.path, self.answering = path, answering
        self.asked: list[SigningQuestion | StatusQuestion] = []
        self.connections = 0
        self.hearing: list[Hearing] = []
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> SignerPlace:
        self._server = await asyncio.get_running_loop().create_unix_server(lambda: Hearing(self), str(self.path))
        return SignerPlace(path=self.path)

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for each in self.hearing:
            if each.transport is not None:
                each.transport.abort()
        await asyncio.sleep(0)  # the loop closes them in its next round


def honest(_number: int, question: SigningQuestion | StatusQuestion) -> bytes:
    return packed_answer(SERVICE.answer(question))


SERVICE = service_of()


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(globals(), "SERVICE", service_of())
    monkeypatch.setattr(signer_link, "ATTEMPT_SECONDS", 0.1)


def play(scene: Callable[[], Coroutine[object, object, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await scene()

    asyncio.run(bounded())


LONG = PATIENCE / 4
"""An attempt that ends when a test says so, and never because the machine is busy."""


def end_attempt() -> None:
    """Let the time of an attempt go by at once, by the clock of the loop."""
    loop = asyncio.get_running_loop()
    now = loop.time
    vars(loop)["time"] = lambda: now() + LONG


def test_the_chain_waits_for_no_answer_and_gives_up_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A signer that hears and says nothing is asked for the same header on a second connection, and then no more."""
    monkeypatch.setattr(signer_link, "ATTEMPT_SECONDS", LONG)

    def say_nothing(_number: int, _question: SigningQuestion | StatusQuestion) -> bytes:
        end_attempt()
        return b""

    double = Double(tmp_path / "socket", say_nothing)

    async def scene() -> None:
        async with double as place:
            signing = await SignerLink(place, None).sign(KEY.public, header_of(NOW))
        assert signing == (None, "no answer in time")
        first, second = double.asked
        assert isinstance(first, SigningQuestion)
        assert isinstance(second, SigningQuestion)
        assert first.header == second.header == header_of(NOW)
        assert double.connections == 2

    play(scene)


def test_an_answer_that_was_lost_is_given_again_on_the_second_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signer_link, "ATTEMPT_SECONDS", LONG)

    def losing_the_first(number: int, question: SigningQuestion | StatusQuestion) -> bytes:
        answer = honest(number, question)
        if number > 1:
            return answer
        end_attempt()
        return b""

    async def scene() -> None:
        async with Double(tmp_path / "socket", losing_the_first) as place:
            link = SignerLink(place, None)
            signing = await link.sign(KEY.public, header_of(NOW))
            link.close()
        assert signing.answer is not None
        assert signing.answer.signature

    play(scene)


def test_a_signer_that_starts_meanwhile_is_found_by_the_second_attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signer_link, "ATTEMPT_SECONDS", LONG)

    async def scene() -> None:
        link = SignerLink(SignerPlace(path=tmp_path / "socket"), None)
        asking = asyncio.ensure_future(link.sign(KEY.public, header_of(NOW)))
        await asyncio.sleep(0)
        async with Double(tmp_path / "socket", honest):
            end_attempt()
            signing = await asking
            link.close()
        assert signing.answer is not None
        assert signing.answer.signature

    play(scene)


def test_where_there_is_no_signer_the_reason_is_given(tmp_path: Path) -> None:
    async def scene() -> None:
        link = SignerLink(SignerPlace(path=tmp_path / "nothing"), None)
        assert await link.sign(KEY.public, header_of(NOW)) == (None, "No such file or directory")
        assert await status_of(link.place, None) == (None, "No such file or directory")

    play(scene)


@pytest.mark.parametrize(
    "answer", [b"\0\3abc", b"\xff\xff", packed_answer(SignerAnswer(99, SigningVerdict.SIGNED, bytes(65)))]
)
def test_what_is_no_answer_to_this_question_is_none(tmp_path: Path, answer: bytes) -> None:
    async def scene() -> None:
        async with Double(tmp_path / "socket", lambda _, __: answer) as place:
            signing = await SignerLink(place, None).sign(KEY.public, header_of(NOW))
        assert signing.answer is None
        assert signing.reason

    play(scene)


def test_the_operator_is_told_of_each_change_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signer_link, "RETRY_SECONDS", 0.01)
    monkeypatch.setattr(signer_link, "STATUS_SECONDS", 0.01)
    told: list[str] = []

    async def scene() -> None:
        changed = asyncio.Event()

        def tell(text: str) -> None:
            told.append(text)
            changed.set()

        link = SignerLink(SignerPlace(path=tmp_path / "socket"), None, tell)
        running = asyncio.ensure_future(link.run(lambda: None))
        await changed.wait()
        changed.clear()
        async with Double(tmp_path / "socket", honest) as place:
            await changed.wait()
            changed.clear()
            assert place.path is not None
            for _ in range(5):
                await asyncio.sleep(0.02)
        running.cancel()
        await asyncio.wait([running])

    play(scene)
    assert told[0].endswith("signs nothing: it is away: No such file or directory")
    assert told[1:] == [""]
