"""An archive on a plain web server: its files under one address, with or without a list of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

from ledgerd.archive.arriving import LEAST_BYTES, Arriving, SourcePace
from ledgerd.archive.errors import SourceFault
from ledgerd.archive.sealed import LIST_NAME, MOST_BYTES, SealedFile, listed, sha256_of
from ledgerd.basics.printable import printable
from ledgerd.client.address import read_address
from ledgerd.client.blocking import HttpClient
from ledgerd.client.exchange import AnswerPart, AnswerReader, HttpFault, TooLarge, request_of
from ledgerd.protocol.errors import OperatorError

T = TypeVar("T")

SECONDS = 30.0
"""Without a byte for so long, a server has stopped answering."""
PROGRESS_BYTES = 1 << 20
"""A server that gives so much before it breaks off is asked for the rest again."""
ATTEMPTS = 3
"""How often a request is made while the connection fails."""
PIECE_BYTES = 1 << 20
"""Bytes that are written at once; a piece that comes too slowly is lost."""
FOUND, PARTIAL, MISSING, NOTHING_LEFT = 200, 206, 404, 416


class _WebPace(SourcePace):
    """Bytes have to come again and again, and enough of them in a time."""

    def __init__(self) -> None:
        super().__init__("the server", LEAST_BYTES, "bytes")

    def left(self) -> float:
        return SECONDS


class WebArchive:
    """The files under an address. Redirects are not followed; a file that arrives in part is continued."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url.rstrip("/")
        try:
            self._address = read_address(self._url)
        except OperatorError as problem:
            raise SourceFault(f"{url} is no address of a web server") from problem
        self._client = HttpClient(self._address)
        self._size = size
        self._left_of_file = 0
        self._listed = self._list()

    def file_with(self, number: int) -> SealedFile | None:
        """Find the file in the list of the archive; without a list, by the names that files of the usual size have."""
        if self._listed is None:
            first = number - number % self._size
            named = SealedFile(max(first, 1), first + self._size - 1)
            return named if self._has(named) else None
        having = [file for file in self._listed if file.first <= number <= file.last]
        return min(having, default=None)

    def obtain(self, file: SealedFile, path: Path, room: int) -> None:
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
        if wanted is not None and sha256_of(path) != wanted:
            path.unlink()
            raise SourceFault(f"{self._url}/{file.name} is not the file of which {LIST_NAME} has the sum")

    def close(self) -> None:
        self._client.close()

    def _list(self) -> dict[SealedFile, str] | None:
        def read() -> dict[SealedFile, str] | None:
            answer = AnswerReader(MOST_BYTES)
            with self._asked("GET", LIST_NAME, answer) as parts:
                if answer.status == MISSING:
                    return None
                self._require(answer, FOUND, LIST_NAME)
                return listed(b"".join(parts).decode("utf-8", "replace"))

        return self._tried(read)

    def _has(self, file: SealedFile) -> bool:
        def ask() -> bool:
            answer = AnswerReader(0, AnswerPart.HEAD)
            with self._asked("HEAD", file.name, answer):
                if answer.status != MISSING:
                    self._require(answer, FOUND, file.name)
                return answer.status == FOUND

        return self._tried(ask)

    def _download(self, file: SealedFile, path: Path, room: int) -> None:
        begun = _size_of(path)
        headers = {"Range": f"bytes={begun}-"} if begun else {}
        answer = AnswerReader(file.most_bytes + 2 * PIECE_BYTES)
        with self._asked("GET", file.name, answer, headers) as parts:
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
                for data in _pieces(parts):
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

    def _asked(
        self, method: str, name: str, answer: AnswerReader, headers: Mapping[str, str] | None = None
    ) -> AbstractContextManager[Iterator[bytes]]:
        """The answer to a request; the connection stays open when all of it was read."""
        path = f"{self._address.path.rstrip('/')}/{quote(name)}"
        return self._client.exchange(request_of(method, self._address, path, headers=headers), answer, _WebPace())

    def _tried(self, call: Callable[[], T]) -> T:
        """Make a call, and make it again when the connection fails."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return call()
            except TooLarge as problem:
                raise SourceFault(f"{self._url} sends {problem}") from problem
            except OSError as problem:
                if attempt == ATTEMPTS:
                    raise SourceFault(
                        f"{self._url} does not answer: {printable(str(problem).strip()) or type(problem).__name__}"
                    ) from problem
        raise AssertionError

    def _require(self, answer: AnswerReader, status: int, name: str) -> None:
        if answer.status != status:
            reason = printable(answer.reason[:80])
            raise SourceFault(f"{self._url}/{name}: the server answers with {answer.status} {reason}")


def _pieces(parts: Iterator[bytes]) -> Iterator[bytes]:
    piece = bytearray()
    try:
        for part in parts:
            piece += part
            if len(piece) >= PIECE_BYTES:
                yield bytes(piece)
                piece.clear()
    except HttpFault:
        yield bytes(piece)  # the rest is asked for from there on
        raise
    yield bytes(piece)


def _too_large(file: SealedFile) -> SourceFault:
    return SourceFault(f"{file.name} has more bytes than its blocks can have")


def _size_of(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
