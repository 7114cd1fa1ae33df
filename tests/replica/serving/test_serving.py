"""Strangers at the sockets of a node's changes, and replicas that stall: cut, and nobody else notices."""

from __future__ import annotations

import asyncio
import logging
import stat
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from ledgerd.basics.framing.frames import FrameBuffer, FrameFault, read_frame_of
from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.producer.signing.signer_place import TlsFiles, tls_context
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.replica.messages import VERSION, MessageKind, NotServed, ReplicaHello, packed, read
from ledgerd.replica.serving.hub import Hub
from ledgerd.replica.serving.places import MOST_REPLICAS, MOST_STRANGERS_OF_ADDRESS
from ledgerd.replica.serving.serving import ReplicaServer
from ledgerd.replica.settings import StreamSettings, read_stream_place
from ledgerd.replica.source import LAYOUT, NodeFiles
from ledgerd.state.files.change_frames import MOST_FRAME, opened
from ledgerd.state.files.change_log import CHANGES_FOLDER, ChangeLog
from ledgerd.supervision.tasks import Tasks
from ledgerd.supervision.this_process import on_a_loop
from tests.chain.networks import SMALL, Network
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.signer.certificates import Certificates

HELLO = ReplicaHello(VERSION, LAYOUT, b"", b"", 0, b"")
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Connect = Callable[[], Coroutine[None, None, Connection]]


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A node that stands still."""
    folder = tmp_path_factory.mktemp("served") / "node"
    Network(folder).chain.close()
    log = ChangeLog(folder / STATE_FOLDER / CHANGES_FOLDER, b"test run")
    Chain.open(folder, TESTNET, clock=lambda: 0.0, space=SMALL._replace(changes=log)).close()
    return folder / STATE_FOLDER


@asynccontextmanager
async def serving(state: Path, settings: StreamSettings) -> AsyncIterator[Connect]:
    files, failed = NodeFiles(state, state, state / "archive"), list[BaseException]()
    tasks, hub = Tasks(failed.append), Hub(files)
    server = ReplicaServer(hub, settings, tasks)
    tasks.begin(server.accept())
    tasks.begin(hub.run())
    place = settings.place
    assert place is not None

    async def connect() -> Connection:
        if place.path is not None:
            return await asyncio.open_unix_connection(place.path)
        assert place.endpoint is not None
        return await asyncio.open_connection(*place.endpoint)

    async def connect_and_keep() -> Connection:
        kept.append(await connect())
        return kept[-1]

    kept: list[Connection] = []
    try:
        async with asyncio.timeout(PATIENCE):
            yield connect_and_keep
    finally:
        for _, writer in kept:
            writer.transport.abort()
        server.close()
        await tasks.stop()
        files.close()
    assert failed == []


def at_socket(folder: Path) -> StreamSettings:
    return StreamSettings(read_stream_place(f"unix:{folder / 'socket'}"))


async def answer_to(connection: Connection, data: bytes) -> tuple[int, bytes]:
    """The first frame that comes for these bytes; an end is of kind 0."""
    reader, writer = connection
    writer.write(data)
    try:
        frame = await read_frame_of(reader, MOST_FRAME)
    except (OSError, FrameFault):
        frame = None
    return (0, b"") if frame is None else opened(frame)


@pytest.fixture(autouse=True)
def _hear(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "ledgerd.replica")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", "a frame of"),
        (packed(MessageKind.WELCOME, HELLO), "in place of its hello"),
        (packed(MessageKind.HELLO, NotServed("")), "no ReplicaHello"),
        (packed(MessageKind.HELLO, HELLO)[:-3], "it said no hello"),
        (b"", "it said no hello"),
    ],
)
def test_a_stranger_is_cut(
    data: bytes,
    reason: str,
    node: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if reason == "it said no hello":
        monkeypatch.setattr("ledgerd.replica.serving.conversation.HELLO_SECONDS", 0.05)

    async def meet() -> None:
        async with serving(node, at_socket(tmp_path)) as connect:
            assert await answer_to(await connect(), data) == (0, b"")

    asyncio.run(meet())
    assert reason in caplog.text


@pytest.mark.parametrize(
    ("hello", "reason"),
    [
        (ReplicaHello(VERSION + 1, LAYOUT, b"", b"", 0, b""), "run the same version on both"),
        (ReplicaHello(VERSION, b"other", b"", b"", 0, b""), "other tables"),
        (ReplicaHello(VERSION, LAYOUT, b"other", b"", 0, b""), "of another chain"),
    ],
)
def test_a_replica_that_does_not_fit_is_told_why(hello: ReplicaHello, reason: str, node: Path, tmp_path: Path) -> None:
    async def meet() -> None:
        async with serving(node, at_socket(tmp_path)) as connect:
            kind, body = await answer_to(await connect(), packed(MessageKind.HELLO, hello))
            assert kind == MessageKind.REFUSED
            assert reason in read(body, NotServed).reason

    asyncio.run(meet())


def test_a_replica_that_stalls_is_cut_and_another_is_served_meanwhile(
    node: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("ledgerd.replica.serving.conversation.STALLED_SECONDS", 1.0)
    monkeypatch.setattr("ledgerd.replica.serving.conversation.HEAD_SECONDS", 0.05)

    async def meet() -> None:
        async with serving(node, at_socket(tmp_path)) as connect:
            _stalled, writer = await connect()
            writer.write(packed(MessageKind.HELLO, HELLO))
            writer.transport.pause_reading()  # type: ignore[attr-defined] # a transport that reads
            reader, other = await connect()
            other.write(packed(MessageKind.HELLO, HELLO))
            frames, kinds = FrameBuffer(MOST_FRAME), set[int]()
            while MessageKind.STATE_END not in kinds or "it took nothing" not in caplog.text:
                data = await reader.read(1 << 18)
                assert data, "the other one was cut"
                kinds.update(opened(frame)[0] for frame in frames.frames_in(data))

    asyncio.run(meet())


def test_a_replica_that_speaks_on_is_cut(node: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def meet() -> None:
        async with serving(node, at_socket(tmp_path)) as connect:
            reader, writer = await connect()
            await answer_to((reader, writer), packed(MessageKind.HELLO, HELLO))
            writer.write(b"more")
            while "speaks where it should listen" not in caplog.text:
                await reader.read(1 << 18)

    asyncio.run(meet())


def test_so_many_strangers_are_heard_at_once_and_the_oldest_gives_way(node: Path, tmp_path: Path) -> None:
    async def meet() -> None:
        async with serving(node, at_socket(tmp_path)) as connect:
            (oldest, _), *kept = [await connect() for _ in range(MOST_STRANGERS_OF_ADDRESS + 1)]
            assert await oldest.read(1) == b""
            for each in kept:
                assert (await answer_to(each, packed(MessageKind.HELLO, HELLO)))[0] == MessageKind.WELCOME

    asyncio.run(meet())


def test_so_many_replicas_are_served(node: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def meet() -> None:
        async with serving(node, at_socket(tmp_path)) as connect:
            for _ in range(MOST_REPLICAS):
                await answer_to(await connect(), packed(MessageKind.HELLO, HELLO))
            assert await answer_to(await connect(), packed(MessageKind.HELLO, HELLO)) == (0, b"")

    asyncio.run(meet())
    assert "there are too many" in caplog.text


def test_the_socket_is_for_the_user_of_the_node_alone(node: Path, tmp_path: Path) -> None:
    async def look() -> int:
        async with serving(node, at_socket(tmp_path)):
            return stat.S_IMODE((tmp_path / "socket").stat().st_mode)

    assert asyncio.run(look()) == 0o600
    assert not (tmp_path / "socket").exists()


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("certificates"))


def test_only_who_shows_the_right_certificate_is_served(node: Path, certificates: Certificates) -> None:
    async def meet(own: TlsFiles) -> int:
        files = certificates.signer
        endpoint = read_stream_place(f"tcp://127.0.0.1:{free_port()}")
        settings = StreamSettings(endpoint, files.certificate, files.certificate_key, files.authority)
        async with serving(node, settings):
            assert endpoint.endpoint is not None
            context = tls_context(own, is_signer=False)
            try:
                connection = await asyncio.open_connection(*endpoint.endpoint, ssl=context)
            except OSError:
                return 0
            try:
                return (await answer_to(connection, packed(MessageKind.HELLO, HELLO)))[0]
            finally:
                connection[1].transport.abort()

    assert asyncio.run(meet(certificates.node)) == MessageKind.WELCOME
    assert asyncio.run(meet(certificates.stranger)) == 0
    assert asyncio.run(meet(certificates.deceived)) == 0


@asynccontextmanager
async def silence(settings: StreamSettings) -> AsyncIterator[asyncio.StreamReader]:
    """The oldest of 64 connections that say nothing, of eight addresses; one of them is that of the replica."""
    place = settings.place
    assert place is not None
    assert place.endpoint is not None
    kept = [
        await asyncio.open_connection(*place.endpoint, local_addr=(f"127.0.0.{1 + number % 8}", 0))
        for number in range(64)
    ]
    try:
        yield kept[0][0]
    finally:
        for _, writer in kept:
            writer.transport.abort()


def test_silent_connections_do_not_keep_a_replica_with_its_certificate_out(
    node: Path, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.replica.serving.serving.HELLO_SECONDS", 3600.0)  # none of them ends by itself
    files = certificates.signer
    endpoint = read_stream_place(f"tcp://127.0.0.1:{free_port()}")
    settings = StreamSettings(endpoint, files.certificate, files.certificate_key, files.authority)

    async def meet() -> None:
        async with serving(node, settings) as connect, silence(settings) as oldest:
            reader, writer = await connect()
            await writer.start_tls(tls_context(certificates.node, is_signer=False), server_hostname="127.0.0.1")
            kind, _ = await answer_to((reader, writer), packed(MessageKind.HELLO, HELLO))
            assert kind == MessageKind.WELCOME
            assert await oldest.read() == b""

    on_a_loop(meet)


def test_silent_connections_do_not_keep_a_replica_of_this_machine_out(
    node: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.replica.serving.conversation.HELLO_SECONDS", 3600.0)  # none of them ends by itself
    settings = StreamSettings(read_stream_place(f"tcp://127.0.0.1:{free_port()}"))

    async def meet() -> None:
        async with serving(node, settings) as connect, silence(settings) as oldest:
            kind, _ = await answer_to(await connect(), packed(MessageKind.HELLO, HELLO))
            assert kind == MessageKind.WELCOME
            assert await oldest.read() == b""

    on_a_loop(meet)


def test_an_address_that_is_taken_is_told(node: Path) -> None:
    async def listen_twice() -> None:
        place = StreamSettings(read_stream_place(f"tcp://127.0.0.1:{free_port()}"))
        async with serving(node, place):
            with pytest.raises(OperatorError, match="cannot be listened on"):
                ReplicaServer(None, place, Tasks(lambda _: None))  # type: ignore[arg-type] # nobody comes

    asyncio.run(listen_twice())
