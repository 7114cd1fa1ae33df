"""An archive on a plain web server: its files under one address, with or without a list of them."""

from __future__ import annotations

import hashlib
import http.client
import io
import socket
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from ledgerd.archive.arriving import Arriving
from ledgerd.archive.errors import SourceFault
from ledgerd.archive.listing import LIST_NAME, MOST_BYTES, listed
from ledgerd.archive.pace import LEAST_BYTES, SourcePace
from ledgerd.archive.sealed import SealedFile
from ledgerd.basics.printable import printable

T = TypeVar("T")

SECONDS = 30.0
"""Without a byte for so long, a server has stopped answering."""
READ_BYTES = 1 << 20
HEAD_BYTES = 1 << 20
"""What may come around a body besides as many bytes as it may have itself: its head, and what divides it in chunks."""
PROGRESS_BYTES = 1 << 20
"""A server that gives so much before it breaks off is asked for the rest again."""
ATTEMPTS = 3
FOUND, PARTIAL, MISSING, NOTHING_LEFT = 200, 206, 404, 416
FAULTS = (OSError, http.client.HTTPException, ssl.SSLError)


class _PacedBytes(io.RawIOBase):
    """What comes over a connection, counted: it has to be enough in a time, and not too much at all."""

    def __init__(self, raw: io.RawIOBase, pace: SourcePace) -> None:
        self._raw = raw
        self._pace = pace
        self.left = HEAD_BYTES

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int | None:  # noqa: ANN401 - a buffer of any kind, which has no name before 3.12
        count: int | None = self._raw.readinto(into)
        self._pace.took(count or 0)
        self.left -= count or 0
        if self.left < 0:
            raise SourceFault("the server sends more bytes around what it is asked for than anybody needs")
        return count

    def close(self) -> None:
        self._raw.close()
        super().close()


class _PacedResponse(http.client.HTTPResponse):
    """An answer that must come fast enough, and come to an end: its head, its body, everything.

    The library waits for ever for the end of interim answers, and of headers behind a body in chunks.
    """

    def __init__(self, sock: socket.socket, debuglevel: int = 0, method: str | None = None) -> None:
        super().__init__(sock, debuglevel, method)
        pace = SourcePace("the server", LEAST_BYTES, "bytes")
        self._paced = _PacedBytes(self.fp.detach(), pace)
        self.fp = io.BufferedReader(self._paced)

    def allow(self, body_bytes: int) -> None:
        """The head is there, and a body may follow."""
        self._paced.left = HEAD_BYTES + 2 * body_bytes


class WebArchive:
    """The files under an address. Redirects are not followed; a file that arrives in part is continued."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url.rstrip("/")
        self._parts = urlsplit(self._url)
        self._size = size
        self._connection: http.client.HTTPConnection | None = None
        self._left_of_file = 0
        if self._parts.scheme not in {"http", "https"} or not self._parts.hostname:
            raise SourceFault(f"{url} is no address of a web server")
        self._listed = self._list()

    def file_with(self, number: int) -> SealedFile | None:
        """By the list; without one, by the names that files of the usual size have."""
        if self._listed is None:
            first = number - number % self._size
            named = SealedFile(max(first, 1), first + self._size - 1)
            return named if self._has(named) else None
        having = [file for file in self._listed if file.first <= number <= file.last]
        return min(having, default=None)

    def obtain(self, file: SealedFile, path: Path, room: int) -> None:
        """Fetch a file, and compare it with the list."""
        self._left_of_file = 2 * file.most_bytes
        while True:
            begun = _size_of(path)
            try:
                self._tried(lambda: self._download(file, path, room))
                break
            except SourceFault:
                if _size_of(path) < begun + PROGRESS_BYTES:
                    raise
        wanted = None if self._listed is None else self._listed[file]
        if wanted is not None:
            with path.open("rb") as arrived:
                found = hashlib.file_digest(arrived, "sha256").hexdigest()
            if found != wanted:
                path.unlink()
                raise SourceFault(f"{self._url}/{file.name} is not the file of which {LIST_NAME} has the sum")

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _list(self) -> dict[SealedFile, str] | None:
        def read() -> dict[SealedFile, str] | None:
            with self._asked("GET", LIST_NAME, MOST_BYTES) as answer:
                raw = answer.read(MOST_BYTES + 1)
                if answer.status == MISSING:
                    return None
                self._require(answer, FOUND, LIST_NAME)
            if len(raw) > MOST_BYTES:
                raise SourceFault(f"{self._url}/{LIST_NAME} has more than {MOST_BYTES} bytes")
            return listed(raw.decode("utf-8", "replace"))

        return self._tried(read)

    def _has(self, file: SealedFile) -> bool:
        def look() -> bool:
            with self._asked("HEAD", file.name, 0) as answer:
                answer.read()
                if answer.status != MISSING:
                    self._require(answer, FOUND, file.name)
                return answer.status == FOUND

        return self._tried(look)

    def _download(self, file: SealedFile, path: Path, room: int) -> None:
        begun = _size_of(path)
        headers = {"Range": f"bytes={begun}-"} if begun else {}
        with self._asked("GET", file.name, file.most_bytes, headers) as answer:
            if begun and answer.status == NOTHING_LEFT:
                return
            if answer.status != PARTIAL:
                self._require(answer, FOUND, file.name)
                begun = 0
            to_come = answer.length
            if to_come is not None and to_come > room:
                raise SourceFault(
                    f"{file.name} needs {to_come >> 20} MB more, and the disk has {max(0, room) >> 20} MB"
                )
            most = file.most_bytes - begun
            if (to_come or 0) > most:
                raise _too_large(file)
            with Arriving(path, begun) as arriving:
                while data := answer.read(READ_BYTES):
                    room -= len(data)
                    most -= len(data)
                    self._left_of_file -= len(data)
                    if most < 0:
                        raise _too_large(file)
                    if self._left_of_file < 0:
                        raise SourceFault(f"{file.name} begins anew too often")
                    if room < 0:
                        raise SourceFault(f"{file.name} does not end before the disk is full")
                    arriving.write(data)
                    to_come = None if to_come is None else to_come - len(data)
            if to_come:
                raise http.client.IncompleteRead(b"", to_come)

    @contextmanager
    def _asked(
        self, method: str, name: str, most: int, headers: Mapping[str, str] | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer to a request, of so many bytes; the connection stays open when all of it was read."""
        if self._connection is None:
            secure = self._parts.scheme == "https"
            kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
            self._connection = kind(self._parts.hostname or "", self._parts.port, timeout=SECONDS)
            self._connection.response_class = _PacedResponse
        try:
            self._connection.request(method, f"{self._parts.path}/{quote(name)}", headers=dict(headers or {}))
            answer = self._connection.getresponse()
            if isinstance(answer, _PacedResponse):
                answer.allow(most)
            yield answer
        except BaseException:
            self.close()
            raise
        if not answer.isclosed():
            self.close()

    def _tried(self, call: Callable[[], T]) -> T:
        """What a call returns, which is made again when the connection fails."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return call()
            except FAULTS as problem:
                if attempt == ATTEMPTS:
                    raise SourceFault(
                        f"{self._url} does not answer: {printable(str(problem).strip()) or type(problem).__name__}"
                    ) from problem
        raise AssertionError

    def _require(self, answer: http.client.HTTPResponse, status: int, name: str) -> None:
        if answer.status != status:
            reason = printable(answer.reason[:80])
            raise SourceFault(f"{self._url}/{name}: the server answers with {answer.status} {reason}")


def _too_large(file: SealedFile) -> SourceFault:
    return SourceFault(f"{file.name} has more bytes than its blocks can have")


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
