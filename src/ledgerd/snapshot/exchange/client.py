"""The snapshot client: sockets to snapshot servers, and the downloaded file; `download` decides on the requests."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import shutil
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ledgerd.basics.durable import put_in_place
from ledgerd.basics.failures import reason_of
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.snapshot.exchange import frames
from ledgerd.snapshot.exchange.download import LARGEST_FILE, PART, Download, Unavailable, check, refusal
from ledgerd.snapshot.file.directory import DOWNLOAD, name_of
from ledgerd.supervision.progress import MEGABYTES, ProgressLine, shown
from ledgerd.supervision.tasks import all_of
from ledgerd.supervision.threads import in_thread

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 5.0
PART_SECONDS = 300.0
CONNECT_ATTEMPTS = 3
PAUSE_SECONDS = 2.0
SLOWEST = 16 << 10
"""Bytes a second; a download with a lower average is aborted, and another server is tried."""
SPARE_BYTES = 256 << 20
"""Bytes that must stay free on the disk besides the file."""
READ_BYTES = 1 << 18
"""Bytes that are read at once."""
MEGABYTE = 1_000_000
FRAME_BYTES = PART + 64
"""Bytes of a frame of the server: a part of the file, and what comes with it."""

FAULTS = (OSError, TimeoutError, frames.ProtocolFault, Unavailable)
"""Errors of a download, caused by peer, network or disk."""


class SnapshotConnection:
    """A connection to a snapshot server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._frames = frames.MessageReader(FRAME_BYTES)

    async def ask(self, request: frames.SnapshotMessage, seconds: float) -> frames.SnapshotMessage:
        async with asyncio.timeout(seconds):
            self._writer.write(frames.packed(request))
            await self._writer.drain()
            while (answer := self._frames.next()) is None:
                data = await self._reader.read(READ_BYTES)
                if not data:
                    raise ConnectionError("the connection was ended before the answer")
                self._frames.feed(data)
        return answer


@asynccontextmanager
async def connected(peer: Endpoint) -> AsyncIterator[SnapshotConnection]:
    async with asyncio.timeout(CONNECT_SECONDS):
        reader, writer = await asyncio.open_connection(peer.host, peer.port)
    try:
        yield SnapshotConnection(reader, writer)
    finally:
        writer.transport.abort()


async def ask(peer: Endpoint) -> frames.InfoReply:
    """Raises one of `FAULTS`."""
    async with connected(peer) as connection:
        answer = await connection.ask(frames.InfoRequest(), ANSWER_SECONDS)
    if not isinstance(answer, frames.InfoReply):
        raise refusal(answer)
    check(answer)
    return answer


class SnapshotOffer(NamedTuple):
    """A snapshot that a peer serves."""

    info: frames.InfoReply
    peer: Endpoint


class Fetched(NamedTuple):
    """A downloaded snapshot: its checksum is the announced one, and nothing else of it is verified yet."""

    number: int
    path: Path
    checksum: bytes
    peer: Endpoint
    others: tuple[SnapshotOffer, ...] = ()


async def fetch_newest(
    peers: Sequence[Endpoint],
    folder: Path,
    above: int = 0,
    *,
    refused: Collection[bytes] = (),
    pause: float = PAUSE_SECONDS,
) -> Fetched | None:
    """The snapshot of the highest block above a number, from the next peer if one fails; none that was refused."""
    replies = await all_of(_info_of(peer) for peer in peers)
    found = [SnapshotOffer(info, peer) for info, peer in zip(replies, peers, strict=True) if info is not None]
    useful = [each for each in found if each.info.number > above and each.info.checksum not in refused]
    if found and not useful:
        log.info("no trusted peer has a snapshot above block %(block)d that was not tried", {"block": above})
    for offer in sorted(useful, key=lambda each: each.info.number, reverse=True):
        info, peer = offer
        others = tuple(each for each in useful if each is not offer and each.info.number == info.number)
        path = folder / name_of(info.number)
        if await in_thread(_has_checksum, path, info.checksum):
            return Fetched(info.number, path, info.checksum, peer, others)
        log.info(
            "downloading the snapshot of block %(block)d, %(size)d bytes, from %(peer)s",
            {"block": info.number, "size": info.size, "peer": peer},
        )
        try:
            return (await download(peer, folder, above, pause=pause))._replace(others=others)
        except FAULTS as problem:
            log.warning("no snapshot from %(peer)s: %(reason)s", {"peer": peer, "reason": reason_of(problem)})
    return None


async def _info_of(peer: Endpoint) -> frames.InfoReply | None:
    try:
        info = await ask(peer)
    except FAULTS as problem:
        log.warning("no snapshot from %(peer)s: %(reason)s", {"peer": peer, "reason": reason_of(problem)})
        return None
    log.info(
        "%(peer)s has the snapshot of block %(block)d, %(size)d bytes",
        {"peer": peer, "block": info.number, "size": info.size},
    )
    return info


async def download(
    peer: Endpoint, folder: Path, above: int = 0, *, pause: float = PAUSE_SECONDS, most: int = LARGEST_FILE
) -> Fetched:
    """Download a peer's snapshot, of so many bytes at most, into an existing directory; a failed download leaves no
    file.
    """
    partial, progress = folder / DOWNLOAD, Download(most)
    try:
        with partial.open("wb") as file:
            await _fill(peer, file, progress, pause)
        info = progress.info
        if info is None or info.number <= above:
            raise Unavailable("it has an older snapshot by now")
        if not await in_thread(_has_checksum, partial, info.checksum):
            raise frames.ProtocolFault("what came is not what it announced: the checksum differs")
        path = folder / name_of(info.number)
        await in_thread(put_in_place, partial, path)
        return Fetched(info.number, path, info.checksum, peer)
    finally:
        partial.unlink(missing_ok=True)


async def _fill(peer: Endpoint, file: BinaryIO, progress: Download, pause: float) -> None:
    began, failures = _now(), 0
    while True:
        try:
            async with connected(peer) as connection:
                await _receive(connection, file, progress, began)
                return
        except (OSError, TimeoutError) as problem:
            if progress.may_resume:
                failures = 0
            else:
                failures += 1
                if progress.received or failures == CONNECT_ATTEMPTS:
                    raise
            log.info(
                "%(peer)s: %(reason)s; trying again from byte %(byte)d",
                {"peer": peer, "reason": reason_of(problem), "byte": progress.received},
            )
        await asyncio.sleep(pause)


async def _receive(connection: SnapshotConnection, file: BinaryIO, progress: Download, began: float) -> None:
    request: frames.SnapshotMessage | None = progress.connect()
    seconds = ANSWER_SECONDS
    line = ProgressLine("fetching the snapshot", progress.received // MEGABYTE, _now(), MEGABYTES)
    while request is not None:
        action = progress.receive(await connection.ask(request, seconds))
        if progress.info is not None and not progress.received:
            _require_room(file, progress.info.size)
        file.write(action.part)
        request, seconds = action.request, PART_SECONDS
        _report(line, progress)
        if _now() - began > PART_SECONDS + progress.received / SLOWEST:
            raise Unavailable(f"it is too slow: {progress.received} bytes in {_now() - began:.0f} seconds")


def _report(line: ProgressLine, progress: Download) -> None:
    if progress.info is not None:
        done, size = (-(-each // MEGABYTE) for each in (progress.received, progress.info.size))
        step = line.at(done if progress.received == progress.info.size else min(done, size - 1), size, _now())
        if step is not None:
            log.info("%s", step.text, extra=shown(step))


def _require_room(file: BinaryIO, size: int) -> None:
    free = shutil.disk_usage(Path(file.name).parent).free
    if free < size + SPARE_BYTES:
        raise Unavailable(f"no room for {size} bytes in {Path(file.name).parent}, which has {free}: free some space")


def _has_checksum(path: Path, checksum: bytes) -> bool:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest() == checksum
    except FileNotFoundError:
        return False


def _now() -> float:
    return asyncio.get_running_loop().time()
