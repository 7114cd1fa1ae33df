"""Reading a snapshot (spec 03, section 27.1), a piece at a time: first for its checksum, then for its records."""

from __future__ import annotations

import hashlib
import io
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from ledgerd.basics.durable import open_file
from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.json.scalars import as_object, as_string, as_uint64
from ledgerd.codec.json.text import Json
from ledgerd.protocol.types.identifiers import BlockId, ChainId
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.batches import RecordBatch
from ledgerd.snapshot.file.container import HEADER_KEY, STATE_KEY, unpacked
from ledgerd.snapshot.file.cursor import JsonCursor
from ledgerd.snapshot.file.export import VERSION

LARGEST_HEADER = 1 << 20
"""Bytes of the header of a snapshot."""
RECORDS_A_STEP = 1_000


class Snapshot:
    """A snapshot file whose version and checksum are right."""

    def __init__(self, opening: Callable[[], BinaryIO]) -> None:
        self._opening = opening
        self.sections: dict[str, int | None] = {}
        """The number of records of each section that `records` has read; None for a member that is no array."""
        self.progress: Callable[[int], None] | None = None
        with opening() as file, closing(unpacked(file)) as pieces:
            front, rest = _split(pieces)
            self._start = len(HEADER_KEY) + len(front) + len(STATE_KEY)
            self.header = _header(front)
            version = self.header.get("version")
            if version != VERSION:
                raise SnapshotError(f"Unsupported snapshot version: {version}: another program wrote it")
            if _checksum_of(chain((rest,), pieces)) != self.header.get("payload_checksum"):
                raise SnapshotError("Snapshot checksum mismatch: the file is damaged, download it again")
        try:
            self.chain_id = _chain_id(self.header)
            self.head_number = as_uint64(self.header.get("snapshot_block_num"))
            self.head_id: BlockId = codec_of(BlockId).from_json(self.header.get("snapshot_block_id"))
            counts = as_object(self.header.get("object_counts", {}))
            self.object_counts = {name: as_uint64(count) for name, count in counts.items()}
        except DecodeError as error:
            raise SnapshotError(f"the header of the snapshot cannot be read ({error})") from error

    @classmethod
    def from_bytes(cls, file: bytes) -> Snapshot:
        return cls(lambda: io.BytesIO(file))

    @classmethod
    def from_path(cls, path: Path) -> Snapshot:
        return cls(lambda: open_file(path))

    @property
    def size(self) -> int:
        return sum(self.object_counts.values())

    def records(self) -> Iterator[tuple[str, Json]]:
        for batch in self.batches():
            for record in batch.records:
                yield batch.section, record

    def batches(self) -> Iterator[RecordBatch]:
        """Records, a number of them at a time. What is wrong with the file is raised after the records before it."""
        done = told = 0
        for batch in self._batches():
            yield batch
            done += batch.count
            if self.progress is not None and done - told >= RECORDS_A_STEP:
                told = done
                self.progress(done)
        if self.progress is not None:
            self.progress(done)

    def _batches(self) -> Iterator[RecordBatch]:
        with self._opening() as file, closing(unpacked(file)) as pieces:
            cursor = JsonCursor(_texts(pieces, self._start))
            cursor.expect("{")
            while not cursor.skips("}"):
                name = as_string(cursor.value())
                cursor.expect(":")
                self.sections[name] = None
                if cursor.skips("["):
                    count = 0
                    for batch in cursor.batches(name):
                        yield batch
                        count += batch.count
                    self.sections[name] = count
                else:
                    value = cursor.value()
                    yield RecordBatch.of_values(name, [value], [cursor.text])
                cursor.skips(",")


def chain_named_by(beginning: bytes) -> ChainId:
    """The chain of a snapshot file of which only the beginning is there. `SnapshotError`: it has no header."""
    with closing(unpacked(io.BytesIO(beginning))) as pieces:
        header = _header(_split(pieces)[0])
    try:
        return _chain_id(header)
    except DecodeError as error:
        raise SnapshotError(f"the header of the snapshot cannot be read ({error})") from error


def _chain_id(header: dict[str, Json]) -> ChainId:
    return codec_of(ChainId).from_json(header.get("chain_id"))


def _split(pieces: Iterator[bytes]) -> tuple[bytes, bytes]:
    raw = b""
    for piece in pieces:
        raw += piece
        found = raw.find(STATE_KEY)
        if found >= 0 and raw.startswith(HEADER_KEY):
            return raw[len(HEADER_KEY) : found], raw[found + len(STATE_KEY) :]
        if len(raw) > LARGEST_HEADER:
            break
    raise SnapshotError("this file is no snapshot: it does not begin with a header")


def _checksum_of(pieces: Iterator[bytes]) -> str:
    counted, last = hashlib.sha256(), b""
    for piece in filter(None, pieces):
        counted.update(last)
        counted.update(memoryview(piece)[:-1])
        last = piece[-1:]
    if last != b"}":
        raise SnapshotError("this file is no snapshot: it does not end with a brace")
    return counted.hexdigest()


def _texts(pieces: Iterator[bytes], start: int) -> Iterator[str]:
    """The text from a position on; bytes that are not UTF-8 are kept."""
    decoder = getincrementaldecoder("utf-8")("surrogateescape")
    for piece in pieces:
        if start < len(piece):
            yield decoder.decode(piece[start:])
        start = max(0, start - len(piece))


def _header(raw: bytes) -> dict[str, Json]:
    cursor = JsonCursor(iter((raw.decode("utf-8", "surrogateescape"),)))
    try:
        return as_object(cursor.value())
    except DecodeError as error:
        raise SnapshotError("this file is no snapshot: its header is no object") from error
