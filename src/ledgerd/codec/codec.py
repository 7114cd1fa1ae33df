"""The codec of a type: its four directions, each an entry point with one documented error."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar, Generic, TypeVar, overload

import msgspec

from ledgerd.codec.annotations import kind_of
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Kind, Reading
from ledgerd.codec.types.records import Field, ReadFunction, RecordKind, WriteFunction

T = TypeVar("T")


class Codec(Generic[T]):
    """Python values of one type to bytes and JSON, and back."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        record = kind if isinstance(kind, RecordKind) else _boxed(kind)
        self._boxed = record is not kind
        self._record = record
        self._read: ReadFunction | None = None
        self._write: WriteFunction | None = None

    def decode(self, data: bytes) -> T:
        """The value of bytes; trailing bytes are ignored everywhere (spec 01, section 2.1)."""
        return self.decode_from(data, 0)[0]

    def decode_from(self, data: bytes, pos: int) -> tuple[T, int]:
        read = self._read
        if read is None:
            read = self._read = self._record.reader
        value, end = read(data, pos, Reading())
        return (value.value if self._boxed else value), end

    def decode_exactly(self, data: bytes) -> T:
        """The value of bytes that this program has encoded: nothing may follow it."""
        value, end = self.decode_from(data, 0)
        if end != len(data):
            raise DecodeError(f"{len(data) - end} bytes follow the value")
        return value

    def encode(self, value: T) -> bytes:
        write = self._write
        if write is None:
            write = self._write = self._record.writer
        pieces: list[bytes] = []
        write(self._record.record(value) if self._boxed else value, pieces.append)
        return b"".join(pieces)

    def to_json(self, value: T) -> str:
        """The JSON text of a value, exactly as the reference prints it."""
        if self._boxed:
            return self._record.printer(self._record.record(value))
        own = getattr(value, "json_text", None)
        return str(own()) if own is not None else self._record.printer(value)

    def transcribe(self, data: bytes) -> str:
        """The JSON text of bytes that were decoded before, made without the value: nothing may follow it."""
        made: tuple[str, int] = self._record.transcriber(data, 0, Reading())
        text, end = made
        if end != len(data):
            raise DecodeError(f"the value ends at byte {end} of {len(data)}")
        return text

    def from_json(self, value: object) -> T:
        parsed: T = self.kind.parse(value)
        return parsed


class _Box(msgspec.Struct, frozen=True):
    """A record of one field, so that every type is compiled in the same way."""

    value: Any

    TRANSPARENT: ClassVar[bool] = True


def _boxed(kind: Kind) -> RecordKind:
    return RecordKind(_Box, lambda: [Field("value", "", kind, kind.default)])


@cache
def _codec_of(annotation: Any) -> Codec[Any]:
    return Codec(kind_of(annotation))


@overload
def codec_of(annotation: type[T]) -> Codec[T]: ...


@overload
def codec_of(annotation: object) -> Codec[Any]: ...


def codec_of(annotation: Any) -> Codec[Any]:
    """The codec of a type, compiled when it is first used."""
    return _codec_of(annotation)
