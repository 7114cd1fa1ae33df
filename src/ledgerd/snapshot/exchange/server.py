"""The snapshot server: the sockets of clients. `server_session` decides on the answers."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from ledgerd.basics.closing import on_error
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.exchange.frames import (
    MAX_REQUEST,
    AccessDenied,
    MessageReader,
    ProtocolFault,
    SnapshotMessage,
    packed,
    part_head,
)
from ledgerd.snapshot.exchange.server_session import AdmissionControl, Answer, FileRange, Offer, ServerSession
from ledgerd.snapshot.file.directory import StoredSnapshot, newest_in
from ledgerd.supervision.line_rates import LineRate, limited
from ledgerd.supervision.tasks import Tasks, stream_server
from ledgerd.supervision.threads import in_thread

log = logging.getLogger(__name__)

READ_BYTES = 1 << 16
"""Bytes that are read at once."""
PIECE_BYTES = 1 << 18
"""Bytes of the file that a connection has in memory; the next ones are read when the client has taken these."""
MOST_SOCKETS = 64
"""Connections at once, with those that only get a refusal."""
REFUSALS_SECONDS = 60.0
"""The pause between two log lines on refusals."""
REFUSALS = LineRate("refusals of a snapshot", burst=1, a_second=1 / REFUSALS_SECONDS)
"""The rate of log lines on clients that are not served: one a minute."""
FAREWELL_SECONDS = 2.0
"""The time for a client to receive the last message."""


class ServedSnapshot:
    """The newest snapshot of a directory, with its checksum, which is computed once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counting = asyncio.Lock()
        self._known: tuple[tuple[Path, int, int, int], bytes] | None = None
        """File, inode, size and time when the checksum was computed, and the checksum."""

    async def open(self) -> tuple[Offer, BufferedReader] | None:
        """The newest snapshot, as an open file, which stays readable if it is deleted."""
        async with self._counting:
            return await in_thread(self._open)

    def _open(self) -> tuple[Offer, BufferedReader] | None:
        newest = newest_in(self._folder)
        if newest is None:
            return None
        try:
            file = newest.path.open("rb")
        except OSError:
            return None
        with on_error(file.close):
            return self._offer(newest, file), file

    def _offer(self, kept: StoredSnapshot, file: BufferedReader) -> Offer:
        about = os.fstat(file.fileno())
        state = kept.path, about.st_ino, about.st_size, about.st_mtime_ns
        if self._known is None or self._known[0] != state:
            self._known = state, hashlib.file_digest(file, "sha256").digest()
        return Offer(kept.path, kept.number, about.st_size, self._known[1])


class SnapshotServer:
    """Serves the newest snapshot."""

    def __init__(self, served: ServedSnapshot, admission: AdmissionControl) -> None:
        self._served = served
        self._admission = admission
        self._server: asyncio.Server | None = None
        self._sessions = Tasks(_log_fault)

    async def start(self, host: str, port: int) -> int:
        """Listen; returns the port, which the system chooses for 0."""
        try:
            self._server = await stream_server(self._accept, host, port)
        except OSError as problem:
            raise OperatorError(
                f"cannot listen on {host}:{port} for those who want snapshots ({problem.strerror}): "
                "choose another snapshot-serve-endpoint, or switch allow-snapshot-serving off"
            ) from problem
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        server, self._server = self._server, None
        if server is None:
            return
        server.close()
        await self._sessions.stop()
        await server.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._server is None or len(self._sessions) >= MOST_SOCKETS:
            writer.transport.abort()
        else:
            self._sessions.begin(self._session(reader, writer))

    async def _session(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._admit(reader, writer)
        except asyncio.CancelledError:
            writer.transport.abort()
        except (OSError, TimeoutError, ProtocolFault) as problem:
            log.debug("a snapshot connection was closed: %s", problem or type(problem).__name__)
        finally:
            writer.close()

    async def _admit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = _address_of(writer)
        denial = self._admission.admit(address, _now())
        if denial is not None:
            log.info(
                "%(client)s is not served a snapshot: %(reason)s",
                {"client": address, "reason": AccessDenied(denial).text},
                extra=limited(REFUSALS),
            )
            _put(writer, packed(AccessDenied(denial)))
            await _finish(reader, writer)
            return
        try:
            await self._serve(reader, writer, address)
        finally:
            self._admission.leave(address)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, address: str) -> None:
        session, frames = ServerSession(_now()), MessageReader(MAX_REQUEST)
        request = await _next(reader, frames, session)
        if request is None:
            return
        opened = await self._served.open()
        offer, file = opened or (None, None)
        try:
            answer = session.begin(request, offer)
            if offer is not None and not answer.ends:
                log.info(
                    "%(client)s fetches the snapshot of block %(block)d, %(size)d bytes",
                    {"client": address, "block": offer.number, "size": offer.size},
                )
            while await self._send(writer, session, answer, file):
                following = await _next(reader, frames, session)
                if following is None:
                    return
                answer = session.answer(following)
            await _finish(reader, writer)
        finally:
            if file is not None:
                file.close()

    async def _send(
        self, writer: asyncio.StreamWriter, session: ServerSession, answer: Answer, file: BinaryIO | None
    ) -> bool:
        message = answer.message
        if isinstance(message, FileRange):
            if file is None or not await _send_part(writer, session, message, file):
                return False
        elif message is None:
            return False
        else:
            await _write(writer, session, packed(message))
        return not answer.ends


def _log_fault(problem: BaseException) -> None:
    log.error("a snapshot connection was closed after an error of this program", exc_info=problem)


def _put(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Write to a client; one that has left is no fault of ours, whatever the loop raises for it."""
    if writer.is_closing():
        raise ConnectionResetError("the client has left")
    writer.write(data)


async def _write(writer: asyncio.StreamWriter, session: ServerSession, data: bytes) -> None:
    _put(writer, data)
    async with asyncio.timeout_at(session.deadline):
        await writer.drain()


async def _send_part(writer: asyncio.StreamWriter, session: ServerSession, part: FileRange, file: BinaryIO) -> bool:
    """Send a part of the file, of which one piece is in memory at a time; `False` if the file has become shorter."""
    end = part.offset + part.size
    _put(writer, part_head(part.offset, part.size))
    for offset in range(part.offset, end, PIECE_BYTES):
        piece = await in_thread(_read, file, offset, min(PIECE_BYTES, end - offset))
        if len(piece) < min(PIECE_BYTES, end - offset):
            return False
        await _write(writer, session, piece)
        session.sent(len(piece))
    await _write(writer, session, bytes([part.is_last]))
    return True


def _read(file: BinaryIO, offset: int, size: int) -> bytes:
    file.seek(offset)
    return file.read(size)


async def _next(reader: asyncio.StreamReader, frames: MessageReader, session: ServerSession) -> SnapshotMessage | None:
    async with asyncio.timeout_at(session.deadline):
        while (message := frames.next()) is None:
            data = await reader.read(READ_BYTES)
            if not data:
                return None
            frames.feed(data)
    return message


async def _finish(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Closing with unread bytes would discard what was sent: wait until the client has received it."""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(FAREWELL_SECONDS):
            await writer.drain()
            if writer.can_write_eof():
                writer.write_eof()
            while await reader.read(READ_BYTES):
                pass


def _address_of(writer: asyncio.StreamWriter) -> str:
    name = writer.get_extra_info("peername")
    return str(name[0]).removeprefix("::ffff:") if name else ""


def _now() -> float:
    return asyncio.get_running_loop().time()
