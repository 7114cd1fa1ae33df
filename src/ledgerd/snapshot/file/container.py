"""The container of a snapshot: one zlib stream over one JSON text (spec 03, section 27.1). The header comes first and
has a checksum of the state after it: so the state is compressed into a temporary file before, and never in memory.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import deque
from collections.abc import Generator, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import BinaryIO, Final

from ledgerd.basics.closing import Closing
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.supervision.threads import thread_pool

LEVEL = 6
STREAM_HEAD = b"\x78\x9c"
"""A zlib stream of that level, with the usual window."""

HEADER_KEY: Final = b'{"header":'
STATE_KEY: Final = b',"state":'
LARGEST_TEXT = 16 << 30
"""The largest size of an unpacked snapshot."""

_CHUNK = 1 << 20
_MOST_BEGUN = 2
"""Texts that wait for the thread that compresses them; they are large."""
_ADLER_BASE = 65_521


class StateWriter(Closing):
    """Receives the text of the state in pieces, compresses it into a temporary file, then gives the bytes of the
    snapshot.
    """

    def __init__(self, folder: Path | None = None) -> None:
        """The work on a text, half of all that a snapshot takes, is done on a thread beside the caller."""
        self._hash = hashlib.sha256()
        self._packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._packed = SpooledTemporaryFile(_CHUNK, dir=str(folder) if folder else None)  # noqa: SIM115 - lives as long as this
        self._adler = 1
        self._length = 0
        self._beside = thread_pool(1, "snapshot")
        self._begun: deque[Future[None]] = deque()

    def add(self, text: str) -> None:
        if len(self._begun) >= _MOST_BEGUN:
            self._begun.popleft().result()
        self._begun.append(self._beside.submit(self._compress, text))

    def _compress(self, text: str) -> None:
        raw = text.encode("utf-8", "surrogateescape")
        self._hash.update(raw)
        self._pack(raw)

    def _catch_up(self) -> None:
        """Wait until all texts are compressed; what failed with one is raised."""
        while self._begun:
            self._begun.popleft().result()

    def _pack(self, raw: bytes) -> None:
        self._packed.write(self._packer.compress(raw))
        self._adler = zlib.adler32(raw, self._adler)
        self._length += len(raw)

    @property
    def checksum(self) -> str:
        self._catch_up()
        return self._hash.hexdigest()

    def finish(self, header: str) -> Iterator[bytes]:
        self._catch_up()
        self._pack(b"}")
        self._packed.write(self._packer.flush())
        front = HEADER_KEY + header.encode() + STATE_KEY
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        yield STREAM_HEAD
        yield packer.compress(front) + packer.flush(zlib.Z_SYNC_FLUSH)
        self._packed.seek(0)
        yield from iter(partial(self._packed.read, _CHUNK), b"")
        self.close()
        yield joined_adler32(zlib.adler32(front), self._adler, self._length).to_bytes(4, "big")

    def close(self) -> None:
        self._beside.shutdown(cancel_futures=True)
        self._packed.close()


def joined_adler32(first: int, second: int, length: int) -> int:
    """The checksum of two joined texts, from their checksums and the length of the second."""
    low = (first & 0xFFFF) + (second & 0xFFFF) - 1
    high = (first >> 16) + (second >> 16) + length * ((first & 0xFFFF) - 1)
    return high % _ADLER_BASE << 16 | low % _ADLER_BASE


def unpacked(file: BinaryIO) -> Generator[bytes]:
    unpacker = zlib.decompressobj()
    total, rest = 0, b""
    try:
        while not unpacker.eof:
            rest = rest or file.read(_CHUNK)
            piece = unpacker.decompress(rest, _CHUNK)
            if not piece and not rest and not unpacker.eof:
                raise SnapshotError("the snapshot is cut off: download it again")
            rest = unpacker.unconsumed_tail
            total += len(piece)
            if total > LARGEST_TEXT:
                raise SnapshotError(
                    f"the snapshot unpacks to more than {LARGEST_TEXT} bytes, more than any snapshot has"
                )
            if piece:
                yield piece
    except zlib.error as error:
        raise SnapshotError(f"the snapshot is damaged ({error}): download it again") from error
