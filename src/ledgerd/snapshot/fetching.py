"""Fetching a snapshot, without sockets: what is asked for, and which answers are taken (spec 06, section 14.3).

A peer is believed in nothing: not in what it announces, not in where a part belongs. A connection that breaks is
resumed, since a reference node ends each after a minute; the whole file is checked by whoever has written it down.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.snapshot.frames import (
    AccessDenied,
    DataReply,
    DataRequest,
    InfoReply,
    InfoRequest,
    Message,
    NotAvailable,
    ProtocolFault,
)

LARGEST_FILE = 2 << 30
PART = 1 << 20
MOST_CONNECTIONS = 9
"""For one file; a reference node lets nobody in more than ten times an hour, and one was needed to ask."""


class Unavailable(Exception):
    """The peer has nothing for us, or not now."""


class DownloadAction(NamedTuple):
    """What follows from an answer."""

    request: Message | None
    """To be sent; nothing when all is there."""
    part: bytes = b""
    """To be written behind what was written before."""


class Download:
    """One file of one peer, over as many connections as it takes."""

    def __init__(self) -> None:
        self.info: InfoReply | None = None
        self.received = 0
        self._asked = 0
        self._connections = 0
        self._before = 0

    def connect(self) -> Message:
        """A connection stands: the first request on it."""
        self._connections += 1
        self._before = self.received
        self._asked = 0
        return InfoRequest()

    @property
    def may_resume(self) -> bool:
        """Whether another connection is worth it after one that broke: if that one brought something."""
        return self.received > self._before and self._connections < MOST_CONNECTIONS

    def take(self, message: Message) -> DownloadAction:
        """An answer has come."""
        match message:
            case InfoReply() if not self._asked:
                return self._begin(message)
            case DataReply() if self._asked:
                return self._append(message)
        raise refusal(message)

    def _begin(self, info: InfoReply) -> DownloadAction:
        check(info)
        if self.info is None:
            self.info = info
        elif info != self.info:
            raise Unavailable("it has another snapshot by now")
        return DownloadAction(self._request(info))

    def _append(self, reply: DataReply) -> DownloadAction:
        info, size = self.info, len(reply.part)
        if info is None or reply.offset != self.received or not 0 < size <= self._asked:
            raise ProtocolFault(
                f"{size} bytes for place {reply.offset}, where {self._asked} for {self.received} belong"
            )
        self.received += size
        if self.received == info.size:
            return DownloadAction(None, reply.part)
        if reply.is_last:
            raise ProtocolFault(f"it ends the file at {self.received} of {info.size} bytes")
        return DownloadAction(self._request(info), reply.part)

    def _request(self, info: InfoReply) -> DataRequest:
        self._asked = min(PART, info.size - self.received)
        return DataRequest(info.number, self.received, PART)


def check(info: InfoReply) -> None:
    """Whether what a peer announces can be a snapshot."""
    if not 0 < info.size <= LARGEST_FILE:
        raise ProtocolFault(f"it announces a file of {info.size} bytes, where {LARGEST_FILE} are the most")
    if not info.number:
        raise ProtocolFault("it announces a snapshot of block 0")


def refusal(message: Message) -> Exception:
    """What an answer means that brings nothing."""
    match message:
        case NotAvailable():
            return Unavailable("it has no snapshot")
        case AccessDenied():
            return Unavailable(f"it denies access: {message.text}")
    return ProtocolFault(f"it says {type(message).__name__}, which answers nothing")
