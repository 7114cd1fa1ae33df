"""Over sockets of this machine: our client fetches from our server, and each copes with a stranger as the other."""

from __future__ import annotations

import asyncio
import hashlib
import struct
import tracemalloc
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

import pytest

from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.exchange import client, server
from ledgerd.snapshot.exchange.client import ask, download, fetch_newest
from ledgerd.snapshot.exchange.download import PART, Unavailable
from ledgerd.snapshot.exchange.frames import (
    AccessDenied,
    DataReply,
    DataRequest,
    Denial,
    InfoReply,
    InfoRequest,
    NoSnapshot,
    ProtocolFault,
    packed,
)
from ledgerd.snapshot.exchange.server import PIECE_BYTES, ServedSnapshot, SnapshotServer
from ledgerd.snapshot.exchange.server_session import LARGEST_PART, AdmissionControl, ServerSession
from ledgerd.snapshot.file.directory import name_of
from tests.patience import PATIENCE

HOST = "127.0.0.1"
DATA = bytes(range(251)) * (2 * PART // 251) + bytes(777)

Speech = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


def shelf_of(folder: Path, number: int = 40, data: bytes = DATA) -> ServedSnapshot:
    folder.mkdir(exist_ok=True)
    (folder / name_of(number)).write_bytes(data)
    return ServedSnapshot(folder)


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    folder = tmp_path / "ours"
    folder.mkdir()
    return folder


def in_time(main: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            await main()

    asyncio.run(bounded())


async def serving(shelf: ServedSnapshot, door: AdmissionControl | None = None) -> tuple[SnapshotServer, Endpoint]:
    server = SnapshotServer(shelf, door or AdmissionControl())
    return server, Endpoint(HOST, await server.start(HOST, 0))


async def saying(speech: Speech) -> tuple[asyncio.Server, Endpoint]:
    """A server with a handler of the test's own."""

    async def speak(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await speech(reader, writer)
        writer.close()

    server = await asyncio.start_server(speak, HOST, 0)
    return server, Endpoint(HOST, server.sockets[0].getsockname()[1])


async def reference_client(peer: Endpoint) -> tuple[bytes, bytes]:
    """The bytes that a reference node sends, and what it makes of the answers: checksum and file."""
    reader, writer = await asyncio.open_connection(*peer)
    writer.write(bytes.fromhex("0000000001000000"))
    size, kind = struct.unpack("<II", await reader.readexactly(8))
    assert (size, kind) == (64, 2)
    number, _, checksum, length = struct.unpack("<I20s32sQ", await reader.readexactly(64))
    whole = b""
    while len(whole) < length:
        writer.write(struct.pack("<IIIQI", 16, 3, number, len(whole), 1 << 20))
        size, kind = struct.unpack("<II", await reader.readexactly(8))
        payload = await reader.readexactly(size)
        assert (kind, struct.unpack_from("<Q", payload)) == (4, (len(whole),))
        end = 8
        while payload[end] & 0x80:
            end += 1
        whole += payload[end + 1 : -1]
        assert payload[-1] == (len(whole) == length)
    assert await reader.read() == b""
    writer.close()
    return checksum, whole


def test_a_snapshot_is_fetched_whole(tmp_path: Path, ours: Path) -> None:
    async def main() -> None:
        server, peer = await serving(shelf_of(tmp_path / "theirs"))
        kept = await fetch_newest([peer], ours)
        await server.stop()
        assert kept is not None
        assert kept.path.name == "snapshot-block-40.vizjson"
        assert kept.path.read_bytes() == DATA

    in_time(main)
    assert [path.name for path in ours.iterdir()] == ["snapshot-block-40.vizjson"]


def test_a_reference_node_fetches_from_ours(tmp_path: Path) -> None:
    async def main() -> None:
        server, peer = await serving(shelf_of(tmp_path / "theirs"))
        assert await reference_client(peer) == (hashlib.sha256(DATA).digest(), DATA)
        await server.stop()

    in_time(main)


def test_the_newest_of_all_is_fetched_by_name_and_the_next_if_that_fails(tmp_path: Path, ours: Path) -> None:
    async def lie(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)
        writer.write(packed(InfoReply(99, NO_BLOCK, bytes(32), 10)))
        await reader.readexactly(24)
        writer.write(packed(DataReply(0, bytes(10), is_last=True)))
        await reader.read()

    async def main() -> None:
        liar, lying = await saying(lie)
        old, older = await serving(shelf_of(tmp_path / "old", 39, b"old"))
        new, newer = await serving(shelf_of(tmp_path / "new", 41, b"new"))
        peers = [older, lying, Endpoint("localhost", newer.port), Endpoint("nowhere.invalid", 1)]
        kept = await fetch_newest(peers, ours, pause=0)
        assert kept is not None
        assert kept.path.read_bytes() == b"new"
        assert await fetch_newest(peers[:1], ours, above=39, pause=0) is None
        liar.close()
        for each in (old, new):
            await each.stop()

    in_time(main)


def test_a_connection_that_is_cut_off_is_resumed(tmp_path: Path) -> None:
    connections = 0

    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        await reader.readexactly(8)
        writer.write(packed(InfoReply(40, NO_BLOCK, hashlib.sha256(DATA).digest(), len(DATA))))
        _, _, _, offset, size = struct.unpack("<IIIQI", await reader.readexactly(24))
        part = DATA[offset : offset + size]
        writer.write(packed(DataReply(offset, part, is_last=offset + len(part) == len(DATA))))
        await writer.drain()

    async def main() -> None:
        server, peer = await saying(cut)
        kept = await download(peer, tmp_path, pause=0)
        server.close()
        assert kept.path.read_bytes() == DATA

    in_time(main)
    assert connections == 3


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (packed(NoSnapshot()), Unavailable),
        (packed(AccessDenied(Denial.TOO_OFTEN)), Unavailable),
        (packed(InfoReply(1, NO_BLOCK, bytes(32), (2 << 30) + 1)), ProtocolFault),
        (b"\xff" * 8, ProtocolFault),
        (packed(DataReply(0, b"x", is_last=True)), ProtocolFault),
        (b"", ConnectionError),
    ],
)
def test_what_a_peer_says_instead_of_a_snapshot_is_told(tmp_path: Path, answer: bytes, fault: type[Exception]) -> None:
    async def say(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(8)
        writer.write(answer)
        await writer.drain()

    async def main() -> None:
        server, peer = await saying(say)
        with pytest.raises(fault):
            await ask(peer)
        with pytest.raises(fault):
            await download(peer, tmp_path, pause=0)
        server.close()

    in_time(main)
    assert list(tmp_path.iterdir()) == []


def test_a_silent_server_has_a_deadline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.05)

    async def listen(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async def main() -> None:
        server, peer = await saying(listen)
        assert await fetch_newest([peer], tmp_path) is None
        server.close()

    in_time(main)


def test_a_download_without_disk_space_is_not_started(
    tmp_path: Path, ours: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "SPARE_BYTES", 1 << 62)

    async def main() -> None:
        server, peer = await serving(shelf_of(tmp_path / "theirs"))
        with pytest.raises(Unavailable, match="no room"):
            await download(peer, ours)
        await server.stop()

    in_time(main)
    assert list(ours.iterdir()) == []


def test_a_client_that_is_not_served_is_told_why(tmp_path: Path) -> None:
    async def main() -> None:
        server, peer = await serving(shelf_of(tmp_path), AdmissionControl(frozenset()))
        with pytest.raises(Unavailable, match="addresses that it trusts alone"):
            await ask(peer)
        await server.stop()

    in_time(main)


def test_the_fourth_connection_at_once_is_told_why(tmp_path: Path) -> None:
    async def main() -> None:
        server, peer = await serving(shelf_of(tmp_path))
        held = [await asyncio.open_connection(*peer) for _ in range(3)]
        for reader, writer in held:
            writer.write(bytes.fromhex("0000000001000000"))
            await reader.readexactly(72)
        with pytest.raises(Unavailable, match="too many sessions"):
            await ask(peer)
        for _, writer in held:
            writer.close()
        await server.stop()

    in_time(main)


def test_without_a_snapshot_there_is_nothing_to_fetch(tmp_path: Path) -> None:
    async def main() -> None:
        server, peer = await serving(ServedSnapshot(tmp_path / "empty"))
        with pytest.raises(Unavailable, match="has no snapshot"):
            await ask(peer)
        await server.stop()

    in_time(main)


@pytest.mark.parametrize("words", [b"\xff" * 64, bytes.fromhex("0000000003000000"), b"GET / HTTP/1.1\r\n\r\n", b""])
def test_a_client_of_another_protocol_is_disconnected(tmp_path: Path, words: bytes) -> None:
    async def main() -> None:
        server, peer = await serving(shelf_of(tmp_path))
        reader, writer = await asyncio.open_connection(*peer)
        writer.write(words)
        writer.write_eof()
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()
        assert (await ask(peer)).number == 40
        await server.stop()

    in_time(main)


def test_of_a_part_that_is_not_taken_one_piece_is_in_memory(tmp_path: Path) -> None:
    async def main() -> None:
        server, peer = await serving(shelf_of(tmp_path, data=bytes(LARGEST_PART)))
        reader, writer = await asyncio.open_connection(*peer)
        writer.write(packed(InfoRequest()))
        await reader.readexactly(72)
        tracemalloc.start()
        try:
            writer.write(packed(DataRequest(40, 0, LARGEST_PART)))
            await reader.readexactly(PIECE_BYTES)
            _, most = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        writer.close()
        await server.stop()
        assert most < LARGEST_PART // 2

    in_time(main)


def test_the_bytes_of_a_large_part_are_those_of_one_frame(tmp_path: Path) -> None:
    data = bytes(range(251)) * (3 * PIECE_BYTES // 251)

    async def main() -> None:
        server, peer = await serving(shelf_of(tmp_path, data=data))
        reader, writer = await asyncio.open_connection(*peer)
        writer.write(packed(InfoRequest()))
        await reader.readexactly(72)
        writer.write(packed(DataRequest(40, 251, LARGEST_PART)))
        whole = packed(DataReply(251, data[251:], is_last=True))
        assert await reader.readexactly(len(whole)) == whole
        writer.close()
        await server.stop()

    in_time(main)


def test_the_file_that_was_begun_is_served_to_its_end_though_another_has_come(tmp_path: Path) -> None:
    async def main() -> None:
        shelf = shelf_of(tmp_path)
        taken = await shelf.open()
        assert taken is not None
        file = taken[1]
        (tmp_path / name_of(40)).unlink()
        (tmp_path / name_of(50)).write_bytes(b"new")
        with file:
            file.seek(0)
            assert file.read() == DATA
        later = await shelf.open()
        assert later is not None
        assert (later[0].number, later[0].size) == (50, 3)
        later[1].close()

    in_time(main)


def test_a_client_that_has_left_meanwhile_is_no_fault_of_ours() -> None:
    class Gone:
        """A writer whose loop raises what is no `OSError` once its transport is closed."""

        def is_closing(self) -> bool:
            return True

        def write(self, _: bytes) -> None:
            raise RuntimeError("the handler is closed")

    with pytest.raises(OSError, match="has left"):
        asyncio.run(server._write(cast("asyncio.StreamWriter", Gone()), ServerSession(0), b"x"))  # noqa: SLF001
