"""Reading a snapshot (spec 03, section 27.1), a piece at a time: first for its checksum, then for its records."""

from __future__ import annotations

import hashlib
import io
import json
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.json.scalars import as_object, as_string, as_uint64
from ledgerd.codec.json.text import Json
from ledgerd.protocol.types.identifiers import BlockId, ChainId
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.container import HEADER_KEY, STATE_KEY, unpacked
from ledgerd.snapshot.file.export import VERSION

LARGEST_HEADER = 1 << 20
LARGEST_RECORD = 64 << 20
"""Characters of one record; the largest possible one, a block as JSON, has a fifth of that."""

RECORDS_A_STEP = 1_000

RECORDS_A_BATCH, CHARACTERS_A_BATCH = 512, 128 << 10
"""A batch ends with the first of these."""

_decode = json.JSONDecoder(strict=False).raw_decode


class RecordBatch(NamedTuple):
    """Records of one section that follow each other."""

    section: str
    records: list[Json]
    texts: list[str]
    """As the file has them, but for one that is larger than a batch."""


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
            self.chain_id: ChainId = codec_of(ChainId).from_json(self.header.get("chain_id"))
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
        return cls(lambda: path.open("rb"))

    @property
    def size(self) -> int:
        return sum(self.object_counts.values())

    def records(self) -> Iterator[tuple[str, Json]]:
        for name, record, _ in self._records():
            yield name, record

    def batches(self) -> Iterator[RecordBatch]:
        """The same, a number of them at a time. What is wrong with the file is raised behind the records before it."""
        batch, characters, done = RecordBatch("", [], []), 0, 0
        try:
            for done, (name, record, cursor) in enumerate(self._records(), start=1):
                if name != batch.section or len(batch.records) >= RECORDS_A_BATCH or characters >= CHARACTERS_A_BATCH:
                    if batch.records:
                        yield batch
                    batch, characters = RecordBatch(name, [], []), 0
                batch.records.append(record)
                characters += cursor.size
                if cursor.size <= CHARACTERS_A_BATCH:
                    batch.texts.append(cursor.text)
                if self.progress is not None and done % RECORDS_A_STEP == 0:
                    self.progress(done)
        except SnapshotError:
            if batch.records:
                yield batch
            raise
        if batch.records:
            yield batch
        if self.progress is not None:
            self.progress(done)

    def _records(self) -> Iterator[tuple[str, Json, _Cursor]]:
        """Each record with its section, and the cursor behind it."""
        with self._opening() as file, closing(unpacked(file)) as pieces:
            cursor = _Cursor(_texts(pieces, self._start))
            cursor.expect("{")
            while not cursor.skips("}"):
                name = as_string(cursor.value())
                cursor.expect(":")
                self.sections[name] = None
                if cursor.skips("["):
                    count = 0
                    for count, record in enumerate(cursor.values(), start=1):  # noqa: B007 - read after the loop
                        yield name, record, cursor
                    self.sections[name] = count
                else:
                    yield name, cursor.value(), cursor
                cursor.skips(",")


class _Cursor:
    """A position in a JSON text that is read in pieces."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces = pieces
        self._text = ""
        self._place = 0
        self._begin = 0
        """Where the last value begins."""

    @property
    def size(self) -> int:
        """The characters of the last value."""
        return self._place - self._begin

    @property
    def text(self) -> str:
        """The last value, as it stands there."""
        return self._text[self._begin : self._place]

    def skips(self, character: str) -> bool:
        if self._place >= len(self._text) and not self._fetch(1):
            return False
        if not self._text.startswith(character, self._place):
            return False
        self._place += 1
        return True

    def expect(self, character: str) -> None:
        if not self.skips(character):
            raise SnapshotError(f"the snapshot is damaged: no {character} where one must be")

    def values(self) -> Iterator[Any]:
        while not self.skips("]"):
            yield self.value()
            while (found := self._next_at_hand()) is not None:
                yield found
            self.skips(",")

    def _next_at_hand(self) -> Any:  # noqa: ANN401 - (the same)
        """The object behind a comma, if all of it is in the text already and plain: most records of a snapshot are."""
        text, place = self._text, self._place
        if not text.startswith(",{", place):
            return None
        try:
            value, end = _decode(text, place + 1)
        except (ValueError, RecursionError):
            return None  # `value` says why, or fetches the rest
        if end == len(text) or text.find("\\u", place, end) >= 0:
            return None
        self._begin, self._place = place + 1, end
        return value

    def value(self) -> Any:  # noqa: ANN401 - JSON of any kind
        while True:
            problem: ValueError | None = None
            try:
                value, end = _decode(self._text, self._place)
            except RecursionError as error:
                raise SnapshotError(f"the snapshot is damaged: what should be JSON is not ({error})") from error
            except ValueError as error:
                problem, value, end = error, None, len(self._text)
            if end < len(self._text):
                return self._passed(value, end)
            here = len(self._text) - self._place
            if here > LARGEST_RECORD:
                raise SnapshotError(f"the snapshot is damaged: a record has more than {LARGEST_RECORD} characters")
            if self._fetch(here):
                continue
            if problem is not None:
                raise SnapshotError(f"the snapshot is damaged: what should be JSON is not ({problem})") from problem
            return self._passed(value, end)

    def _passed(self, value: Any, end: int) -> Any:  # noqa: ANN401 - (the same)
        """Step over a value. An escape can stand for half of a character, which nothing could write again."""
        if self._text.find("\\u", self._place, end) >= 0:
            try:
                json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogateescape")
            except UnicodeEncodeError as error:
                raise SnapshotError(f"the snapshot is damaged: a text is no Unicode ({error.reason})") from error
        self._begin, self._place = self._place, end
        return value

    def _fetch(self, count: int) -> bool:
        """Fetch at least a number of characters; `False` at the end of the text."""
        pieces, size = [self._text[self._place :]], 0
        for piece in self._pieces:
            pieces.append(piece)
            size += len(piece)
            if size >= count:
                break
        self._text, self._place = "".join(pieces), 0
        return size > 0


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
    cursor = _Cursor(iter((raw.decode("utf-8", "surrogateescape"),)))
    try:
        return as_object(cursor.value())
    except DecodeError as error:
        raise SnapshotError("this file is no snapshot: its header is no object") from error
