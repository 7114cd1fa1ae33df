"""Reading a snapshot file: its header, and its records one after the other, as plain JSON (spec 03, section 27.1).

What the records mean to the state is in `load`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.json_scalars import as_object, as_string, as_uint64
from ledgerd.codec.json_text import Json
from ledgerd.protocol.identifiers import BlockId, ChainId
from ledgerd.snapshot.container import HEADER_KEY, STATE_KEY, unpacked
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.export import VERSION

_decode = json.JSONDecoder(strict=False).raw_decode


class Snapshot:
    """A snapshot file whose version and checksum are right."""

    def __init__(self, header: dict[str, Json], state: str) -> None:
        self.header = header
        self._state = state
        self.chain_id: ChainId = codec_of(ChainId).from_json(header.get("chain_id"))
        self.head_number = as_uint64(header.get("snapshot_block_num"))
        self.head_id: BlockId = codec_of(BlockId).from_json(header.get("snapshot_block_id"))

    @classmethod
    def from_bytes(cls, file: bytes) -> Snapshot:
        """The snapshot in the bytes of a file; `SnapshotError` says why there is none."""
        raw = unpacked(file)
        split = raw.find(STATE_KEY)
        if not raw.startswith(HEADER_KEY) or split < 0 or raw[-1:] != b"}":
            raise SnapshotError("this file is no snapshot: it does not begin with a header")
        header = _header(raw[len(HEADER_KEY) : split])
        version = header.get("version")
        if version != VERSION:
            raise SnapshotError(f"Unsupported snapshot version: {version}: another program wrote it")
        state = memoryview(raw)[split + len(STATE_KEY) : -1]
        if hashlib.sha256(state).hexdigest() != header.get("payload_checksum"):
            raise SnapshotError("Snapshot checksum mismatch: the file is damaged, download it again")
        try:
            return cls(header, str(state, "utf-8", "surrogateescape"))
        except DecodeError as error:
            raise SnapshotError(f"the header of the snapshot cannot be read ({error})") from error

    @classmethod
    def from_path(cls, path: Path) -> Snapshot:
        """The snapshot of a file."""
        return cls.from_bytes(path.read_bytes())

    def records(self) -> Iterator[tuple[str, Json]]:
        """The name of a section and a record of it, in the order of the file."""
        cursor = _Cursor(self._state)
        cursor.expect("{")
        while not cursor.takes("}"):
            name = as_string(cursor.value())
            cursor.expect(":")
            if cursor.takes("["):
                while not cursor.takes("]"):
                    yield name, cursor.value()
                    cursor.takes(",")
            else:
                yield name, cursor.value()
            cursor.takes(",")


class _Cursor:
    """A place in a JSON text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0

    def takes(self, character: str) -> bool:
        """Step over a character, if it stands here."""
        if not self._text.startswith(character, self._place):
            return False
        self._place += 1
        return True

    def expect(self, character: str) -> None:
        """Step over a character that must stand here."""
        if not self.takes(character):
            raise SnapshotError(f"the snapshot is damaged: no {character} where one must be")

    def value(self) -> Any:  # noqa: ANN401 - JSON of any kind
        """Step over a value."""
        value, self._place = _json(self._text, self._place)
        return value


def _json(text: str, place: int) -> tuple[Any, int]:
    try:
        return _decode(text, place)
    except (ValueError, RecursionError) as error:
        raise SnapshotError(f"the snapshot is damaged: what should be JSON is not ({error})") from error


def _header(raw: bytes) -> dict[str, Json]:
    value, _ = _json(raw.decode("utf-8", "surrogateescape"), 0)
    try:
        return as_object(value)
    except DecodeError as error:
        raise SnapshotError("this file is no snapshot: its header is no object") from error
