"""The sockets of a signer, real ones on this machine: who is served, and what whoever misbehaves can do."""

from __future__ import annotations

import asyncio
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from ledgerd.basics.framing.frames import read_frame_of
from ledgerd.producer.signing.signer_link import SignerLink
from ledgerd.producer.signing.signer_place import SignerPlace, TlsFiles, tls_context
from ledgerd.producer.signing.signing_frames import MOST_FRAME, SigningVerdict, StatusQuestion, packed_question
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.signer import serving
from ledgerd.signer.clients import BURST, MOST_HANDSHAKES_OF_ADDRESS, MOST_OF_CLIENT, Clients
from ledgerd.signer.serving import TlsListener, listen_on_path
from ledgerd.signer.sockets import user_of
from ledgerd.supervision.this_process import on_a_loop
from ledgerd.supervision.work import Work
from tests.patience import PATIENCE
from tests.signer.certificates import Certificates
from tests.signer.headers import KEY, NOW, header_of
from tests.signer.test_service import service_of

HOST = "127.0.0.1"

Scene = Callable[[], Coroutine[object, object, None]]


def play(scene: Scene) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await scene()

    asyncio.run(bounded())


@asynccontextmanager
async def on_path(folder: Path, users: frozenset[int] | None = None) -> AsyncIterator[SignerPlace]:
    path, clients = folder / "socket", Clients()
    allowed = frozenset({os.getuid()}) if users is None else users
    server = await listen_on_path(path, service_of(), clients, allowed)
    try:
        yield SignerPlace(path=path)
    finally:
        server.close()
        clients.close_all()


@asynccontextmanager
async def on_tls(files: TlsFiles, clients: Clients | None = None) -> AsyncIterator[SignerPlace]:
    clients, work = clients or Clients(), Work("signer")
    listener = TlsListener(service_of(), clients, tls_context(files, is_signer=True), work)
    plug = listener.listen(Endpoint(HOST, 0))
    port = plug.getsockname()[1]
    try:
        yield SignerPlace(endpoint=Endpoint(HOST, port))
    finally:
        clients.close_all()
        await work.stop()
        plug.close()


def test_a_header_is_signed_over_a_unix_socket_that_nobody_else_may_open(tmp_path: Path) -> None:
    async def scene() -> None:
        async with on_path(tmp_path) as place:
            assert stat.S_IMODE((tmp_path / "socket").stat().st_mode) == 0o600
            link = SignerLink(place, None)
            signing = await link.sign(KEY.public, header_of(NOW))
            assert signing.answer is not None
            assert signing.answer.signature
            link.close()

    play(scene)


def test_a_user_that_is_not_named_is_not_served(tmp_path: Path) -> None:
    async def scene() -> None:
        async with on_path(tmp_path, frozenset({os.getuid() + 4321})) as place:
            assert stat.S_IMODE((tmp_path / "socket").stat().st_mode) == 0o666, "others may open it, and are asked who"
            signing = await SignerLink(place, None).sign(KEY.public, header_of(NOW))
            assert signing.answer is None

    play(scene)


def test_the_system_says_who_is_at_the_other_end() -> None:
    one, other = socket.socketpair(socket.AF_UNIX)
    with closing(one), closing(other):
        assert user_of(one.fileno()) == os.getuid()


def test_a_socket_that_was_left_behind_goes_and_one_that_answers_stays(tmp_path: Path) -> None:
    async def scene() -> None:
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(tmp_path / "socket"))
        async with on_path(tmp_path) as place:
            assert (await SignerLink(place, None).status()).validators
            with pytest.raises(OperatorError, match="another program listens"):
                async with on_path(tmp_path):
                    pass

    play(scene)


def stays(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def test_what_is_no_socket_that_we_have_left_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "socket"

    async def refused(reason: str) -> None:
        with pytest.raises(OperatorError, match=reason):
            async with on_path(tmp_path):
                pass
        assert stays(path)

    async def scene() -> None:
        path.write_text("kept")
        await refused("is no socket of this user")
        path.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(tmp_path / "other"))
            path.symlink_to(tmp_path / "other")
            await refused("is no socket of this user")
            path.unlink()
            (tmp_path / "other").rename(path)
            monkeypatch.setattr(os, "getuid", lambda: 4321)
            await refused("is no socket of this user")
            monkeypatch.undo()
            other.listen(0)  # it answers nobody, and has no room for another
            with closing(socket.socket(socket.AF_UNIX)) as waiting:
                waiting.connect(str(path))
                await refused("another program listens")

    play(scene)


def test_a_signer_that_stops_leaves_the_socket_of_the_next_one(tmp_path: Path) -> None:
    async def scene() -> None:
        first = await listen_on_path(tmp_path / "socket", service_of(), Clients(), {os.getuid()})
        (tmp_path / "socket").unlink()
        async with on_path(tmp_path) as place:
            first.close()
            assert (await SignerLink(place, None).status()).validators
        assert not (tmp_path / "socket").exists()

    play(scene)


def test_over_tls_both_sides_show_the_certificates_that_the_other_expects(certificates: Certificates) -> None:
    async def scene() -> None:
        async with on_tls(certificates.signer) as place:
            link = SignerLink(place, certificates.node)
            signing = await link.sign(KEY.public, header_of(NOW))
            assert signing.answer is not None
            assert signing.answer.signature
            link.close()
            for files, reason in ((certificates.stranger, ""), (certificates.deceived, "certificate verify failed")):
                signing = await SignerLink(place, files).sign(KEY.public, header_of(NOW))
                assert signing.answer is None
                assert reason in signing.reason

    play(scene)


def test_of_many_connections_on_the_loop_of_the_program_each_is_heard(certificates: Certificates) -> None:
    """What a client sends with its first packet must not be read by anybody before the handshake."""

    async def scene() -> None:
        async with asyncio.timeout(PATIENCE), on_tls(certificates.signer) as place:
            link = SignerLink(place, certificates.node)
            for _ in range(int(BURST) - 1):
                assert (await link.status()).validators
                link.close()

    on_a_loop(scene)


def test_whoever_shows_no_certificate_is_not_heard(certificates: Certificates) -> None:
    async def scene() -> None:
        async with on_tls(certificates.signer) as place:
            assert place.endpoint is not None
            reader, writer = await asyncio.open_connection(*place.endpoint)
            writer.write(packed_question(StatusQuestion(1)))
            assert b"validators" not in await reader.read()
            writer.close()

    play(scene)


def test_strangers_that_never_finish_their_handshake_are_few_and_short(
    certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "HANDSHAKE_SECONDS", 2.0)

    async def scene() -> None:
        async with on_tls(certificates.signer) as place:
            assert place.endpoint is not None
            silent = [await asyncio.open_connection(*place.endpoint) for _ in range(MOST_HANDSHAKES_OF_ADDRESS + 4)]
            ends = [await reader.read() for reader, _ in silent]
            assert ends == [b""] * len(silent)
            assert (await SignerLink(place, certificates.node).status()).validators
            for _, writer in silent:
                writer.close()

    play(scene)


@pytest.mark.parametrize(
    "garbage",
    [
        bytes((255, 255, 255, 255)) + bytes(100),
        (MOST_FRAME + 1).to_bytes(4, "big"),
        b"\0\0\0\3abc",
        b"\0\0\0\6" + bytes((9, 2, 0, 0, 0, 1)),
        b"\0\0\0\6" + bytes((1, 7, 0, 0, 0, 1)),
        b"\0\0\0\x2b" + bytes((1, 1, 0, 0, 0, 1)) + bytes(37),
    ],
)
def test_bytes_that_are_no_question_end_the_connection_and_nothing_else(tmp_path: Path, garbage: bytes) -> None:
    async def scene() -> None:
        async with on_path(tmp_path) as place:
            reader, writer = await asyncio.open_unix_connection(str(place.path))
            writer.write(garbage)
            assert await _rest(reader) == b""
            writer.close()
            assert (await SignerLink(place, None).status()).validators

    play(scene)


def test_a_name_that_is_no_text_is_refused_and_the_signer_goes_on(tmp_path: Path) -> None:
    """Names on the wire are bytes, and whoever has taken a node over sends any."""

    async def scene() -> None:
        async with on_path(tmp_path) as place:
            link = SignerLink(place, None)
            signing = await link.sign(KEY.public, header_of(NOW, name="ali\udc80\x1b[2J"))
            assert signing.answer is not None
            assert signing.answer.verdict is SigningVerdict.NOT_NAMED
            assert signing.answer.text == r"this signer does not sign for ali\udc80\x1b[2J"
            assert (await link.sign(KEY.public, header_of(NOW))).answer.signature  # type: ignore[union-attr]
            link.close()

    play(scene)


async def _rest(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read()
    except ConnectionError:
        return b""


def test_a_flood_of_questions_is_answered_as_its_rate_allows_and_delays_nobody_else(certificates: Certificates) -> None:
    """How long whoever asks too often has to wait is shown in `test_clients.py`."""
    told: list[float] = []

    class Watched(Clients):
        def wait_before(self, client: str, now: float) -> float:
            told.append(super().wait_before(client, now))
            return told[-1]

    async def scene() -> None:
        async with on_tls(certificates.of_both, Watched()) as place:
            assert place.endpoint is not None
            context = tls_context(certificates.stranger, is_signer=False)
            reader, writer = await asyncio.open_connection(*place.endpoint, ssl=context)
            writer.write(packed_question(StatusQuestion(1)) * 5_000)
            link = SignerLink(place, certificates.node)
            assert (await link.sign(KEY.public, header_of(NOW))).answer
            link.close()
            answers = int(BURST) + 3
            for _ in range(answers):
                assert await read_frame_of(reader, MOST_FRAME)
            assert any(told), "the last of them waited for their turns"
            assert told.count(0.0) >= answers + 1, "each was charged"
            assert (await link.sign(KEY.public, header_of(NOW))).answer
            link.close()
            writer.close()

    play(scene)


def test_many_connections_of_one_client_leave_room_for_its_next(tmp_path: Path) -> None:
    async def scene() -> None:
        async with on_path(tmp_path) as place:
            opened = [await asyncio.open_unix_connection(str(place.path)) for _ in range(MOST_OF_CLIENT * 3)]
            assert (await SignerLink(place, None).status()).validators
            for _, writer in opened:
                writer.close()

    play(scene)


def test_a_connection_that_says_nothing_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "SILENT_SECONDS", 0.05)

    async def scene() -> None:
        async with on_path(tmp_path) as place:
            reader, writer = await asyncio.open_unix_connection(str(place.path))
            writer.write(packed_question(StatusQuestion(1))[:-1])
            assert await _rest(reader) == b""
            writer.close()

    play(scene)
