"""Variants: a tag, then the record that it stands for (spec 01, sections 2.3, 3.1, 3.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from ledgerd.codec.errors import DecodeError, EncodeError
from ledgerd.codec.json.scalars import as_array, as_string, as_uint64
from ledgerd.codec.kinds import MAX_DEPTH, Kind, Reading
from ledgerd.codec.source import Source
from ledgerd.codec.types.lazy import lazy
from ledgerd.codec.types.records import ReadFunction, RecordKind, WriteFunction
from ledgerd.codec.types.varint import pack_varint, read_varint

RecordType = type[msgspec.Struct]


class Void(msgspec.Struct, frozen=True):
    """A record without fields: the only alternative of extensions that have none yet."""


class Variant(Kind):
    """One of several records, told apart by a tag; JSON is `[tag, value]`."""

    title = "variant"

    def __init__(self, resolve: Callable[[], dict[int, RecordKind]], memory: int = 8) -> None:
        self._resolve = resolve
        self._readers: dict[int, ReadFunction] = {}
        self._writers: dict[RecordType, tuple[bytes, WriteFunction]] = {}
        self._transcribers: dict[int, tuple[str, ReadFunction]] = {}
        self.memory = memory

    @lazy
    def kinds(self) -> dict[int, RecordKind]:
        """The alternatives by their tags, resolved late, since they may hold this variant again."""
        return self._resolve()

    @lazy
    def tags(self) -> dict[RecordType, int]:
        return {kind.record: tag for tag, kind in self.kinds.items()}

    def label(self, tag: int) -> str:
        return f"[{tag}]"

    def read_value(self, buf: bytes, pos: int, reading: Reading) -> tuple[Any, int]:
        tag = buf[pos]
        pos += 1
        if tag > 127:
            tag, pos = read_varint(buf, pos - 1, reading)
        reader = self._readers.get(tag)
        if reader is None:
            if tag not in self.kinds:
                raise DecodeError(f"unknown tag {tag}")
            reader = self._readers[tag] = self.kinds[tag].reader
        reading.depth += 1
        if reading.depth > MAX_DEPTH:
            raise DecodeError(f"nested more than {MAX_DEPTH} deep")
        try:
            value = reader(buf, pos, reading)
        except DecodeError as problem:
            raise problem.within(self.label(tag)) from None
        reading.depth -= 1
        return value

    def show_value(self, buf: bytes, pos: int, reading: Reading) -> tuple[str, int]:
        tag = buf[pos]
        pos += 1
        if tag > 127:
            tag, pos = read_varint(buf, pos - 1, reading)
        known = self._transcribers.get(tag)
        if known is None:
            if tag not in self.kinds:
                raise DecodeError(f"unknown tag {tag}")
            known = self._transcribers[tag] = (f"[{self.shown_tag(tag)},", self.kinds[tag].transcriber)
        reading.depth += 1
        if reading.depth > MAX_DEPTH:
            raise DecodeError(f"nested more than {MAX_DEPTH} deep")
        try:
            text, pos = known[1](buf, pos, reading)
        except DecodeError as problem:
            raise problem.within(self.label(tag)) from None
        reading.depth -= 1
        return f"{known[0]}{text}]", pos

    def write_value(self, value: Any, w: Callable[[bytes], None]) -> None:
        known = self._writers.get(type(value))
        if known is None:
            if type(value) not in self.tags:
                raise EncodeError(f"{type(value).__name__} is not one of its alternatives")
            tag = self.tags[type(value)]
            known = self._writers[type(value)] = (pack_varint(tag), self.kinds[tag].writer)
        w(known[0])
        try:
            known[1](value, w)
        except EncodeError as problem:
            raise problem.within(self.label(self.tags[type(value)])) from None

    def read(self, source: Source, target: str) -> None:
        source.add(f"{target}, pos = {source.bind(self.read_value)}(buf, pos, reading)")

    def show(self, source: Source, target: str) -> None:
        source.add(f"{target}, pos = {source.bind(self.show_value)}(buf, pos, reading)")

    def write(self, source: Source, value: str) -> None:
        source.add(f"{source.bind(self.write_value)}({value}, w)")

    def shown_tag(self, tag: int) -> str:
        """The name of an alternative in JSON."""
        return str(tag)

    def print_value(self, value: Any) -> str:
        tag = self.tags[type(value)]
        return f"[{self.shown_tag(tag)},{print_record(self.kinds[tag], value)}]"

    def text(self, source: Source, value: str) -> str:
        return f"{source.bind(self.print_value)}({value})"

    def tag_of(self, value: object) -> int:
        tag = as_uint64(value)
        if tag not in self.kinds:
            raise DecodeError(f"unknown tag {tag}")
        return tag

    def parse(self, value: object) -> Any:
        """`[tag, value]`; an array that is too short is silently the default (spec 01, section 3.1)."""
        pair = as_array(value)
        if len(pair) < 2:
            return self.default()
        tag = self.tag_of(pair[0])
        try:
            return self.kinds[tag].parse(pair[1])
        except DecodeError as problem:
            raise problem.within(self.label(tag)) from None

    def default(self) -> Any:
        return self.kinds[0].default()


class NamedVariant(Variant):
    """A variant whose JSON is `["name", {fields}]`, with the tag accepted in place of the name."""

    def __init__(
        self,
        resolve: Callable[[], dict[int, RecordKind]],
        memory: int,
        name_of: Callable[[RecordType], str],
        aliases: dict[str, str],
    ) -> None:
        super().__init__(resolve, memory)
        self._name_of = name_of
        self._aliases = aliases

    @lazy
    def names(self) -> dict[int, str]:
        return {tag: self._name_of(kind.record) for tag, kind in self.kinds.items()}

    @lazy
    def named(self) -> dict[str, int]:
        named = {name: tag for tag, name in self.names.items()}
        return named | {alias: named[name] for alias, name in self._aliases.items()}

    def label(self, tag: int) -> str:
        return self.names[tag]

    def shown_tag(self, tag: int) -> str:
        return f'"{self.names[tag]}"'

    def tag_of(self, value: object) -> int:
        """A number is the tag; anything else is a name, by its text (spec 01, section 3.5)."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return super().tag_of(value)
        name = as_string(value)
        if name not in self.named:
            raise DecodeError(f"Invalid operation name: {name}")
        return self.named[name]


def print_record(kind: RecordKind, value: Any) -> str:
    own = getattr(value, "json_text", None)
    return str(own()) if own is not None else kind.printer(value)
