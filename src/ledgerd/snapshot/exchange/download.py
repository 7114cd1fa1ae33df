"""The download of a snapshot, without sockets (spec 06, section 14.3). It continues over new connections, since a
reference node closes each after a minute. The caller verifies the checksum of the whole file.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.snapshot.exchange import frames

LARGEST_FILE = 2 << 30
"""Bytes of a file that is fetched."""
PART = 1 << 20
MOST_CONNECTIONS = 9
"""Connections for one file; a reference node accepts ten an hour, one of which was used for the request."""


class Unavailable(Exception):
    """The server has no snapshot, or does not serve us now."""


class DownloadAction(NamedTuple):
    """The next request, and the bytes to write."""

    request: frames.SnapshotMessage | None
    part: bytes = b""


class Download:
    """The download of one file from one server, over one or more connections."""

    def __init__(self, most: int = LARGEST_FILE) -> None:
        self._most = most
        self.info: frames.InfoReply | None = None
        self.received = 0
        self._asked = 0
        self._connections = 0
        self._before = 0

    def connect(self) -> frames.SnapshotMessage:
        self._connections += 1
        self._before = self.received
        self._asked = 0
        return frames.InfoRequest()

    @property
    def may_resume(self) -> bool:
        """Whether to connect again after a connection broke: if it has delivered bytes."""
        return self.received > self._before and self._connections < MOST_CONNECTIONS

    def receive(self, message: frames.SnapshotMessage) -> DownloadAction:
        match message:
            case frames.InfoReply() if not self._asked:
                return self._begin(message)
            case frames.DataReply() if self._asked:
                return self._append(message)
        raise refusal(message)

    def _begin(self, info: frames.InfoReply) -> DownloadAction:
        check(info, self._most)
        if self.info is None:
            self.info = info
        elif info != self.info:
            raise Unavailable("it has another snapshot by now")
        return DownloadAction(self._request(info))

    def _append(self, reply: frames.DataReply) -> DownloadAction:
        info, size = self.info, len(reply.part)
        if info is None or reply.offset != self.received or not 0 < size <= self._asked:
            raise frames.ProtocolFault(
                f"{size} bytes at offset {reply.offset}, where at most {self._asked} at {self.received} are expected"
            )
        self.received += size
        if self.received == info.size:
            return DownloadAction(None, reply.part)
        if reply.is_last:
            raise frames.ProtocolFault(f"it ends the file at {self.received} of {info.size} bytes")
        return DownloadAction(self._request(info), reply.part)

    def _request(self, info: frames.InfoReply) -> frames.DataRequest:
        self._asked = min(PART, info.size - self.received)
        return frames.DataRequest(info.number, self.received, PART)


def check(info: frames.InfoReply, most: int = LARGEST_FILE) -> None:
    if not 0 < info.size <= most:
        raise frames.ProtocolFault(f"it announces a file of {info.size} bytes, where {most} are the most")
    if not info.number:
        raise frames.ProtocolFault("it announces a snapshot of block 0")


def refusal(message: frames.SnapshotMessage) -> Exception:
    match message:
        case frames.NoSnapshot():
            return Unavailable("it has no snapshot")
        case frames.AccessDenied():
            return Unavailable(f"it denies access: {message.text}")
    return frames.ProtocolFault(f"it answers with {type(message).__name__}, which was not asked for")
