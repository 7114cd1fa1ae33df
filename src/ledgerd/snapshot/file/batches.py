"""Records of a snapshot in batches: as the file has them, until somebody asks what they say."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

import msgspec

from ledgerd.codec.json.text import Json
from ledgerd.codec.types.lazy import lazy
from ledgerd.snapshot.errors import SnapshotError

_strict = msgspec.json.Decoder().decode
_lenient = json.JSONDecoder(strict=False).decode
cut_array = msgspec.json.Decoder(list[msgspec.Raw]).decode
"""The texts of the values of an array, where it is strict JSON but for bytes that are no UTF-8."""


class RecordBatch:
    """Records of one section that follow each other."""

    def __init__(self, section: str, count: int, array: bytes) -> None:
        self.section = section
        self.count = count
        self.array = array
        """A JSON array of them, as the file has them; nothing if one of them is larger than a batch."""

    @classmethod
    def of_texts(cls, section: str, texts: Sequence[msgspec.Raw]) -> RecordBatch:
        return cls(section, len(texts), b"[" + b",".join(texts) + b"]")

    @classmethod
    def of_values(cls, section: str, values: list[Json], texts: list[str]) -> RecordBatch:
        """A batch of decoded records, with the texts of those that are not larger than a batch."""
        batch = cls(section, len(values), array_of_texts(texts) if len(texts) == len(values) else b"")
        batch.__dict__.update(records=values, texts=texts if batch.array else [])
        return batch

    @lazy
    def records(self) -> list[Json]:
        """`SnapshotError`: one of them cannot be decoded."""
        try:
            return decoded(self.array)
        except (ValueError, RecursionError) as problem:
            raise SnapshotError(f"the snapshot is damaged: a part is not valid JSON ({problem})") from problem

    @lazy
    def texts(self) -> list[str]:
        """The text of each record as it stands in the file; nothing if there is no array of them."""
        return [bytes(each).decode("utf-8", "surrogateescape") for each in cut_array(self.array)]


def array_of_texts(texts: Iterable[str]) -> bytes:
    return f"[{','.join(texts)}]".encode("utf-8", "surrogateescape")


def decoded(array: bytes) -> list[Json]:
    """The values of a JSON array, with any bytes in their texts. What is not JSON is a `ValueError`, what is nested too
    deeply a `RecursionError`. The strict decoder takes less time, and whatever it takes the lenient one takes alike.
    """
    values: list[Json]
    try:
        values = _strict(array)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        values = _lenient(array.decode("utf-8", "surrogateescape"))
    return values
