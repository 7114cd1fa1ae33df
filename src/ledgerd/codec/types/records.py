"""Records: a class of annotated fields becomes one function for each direction, compiled at its first use.

Neighbouring fields of fixed size are packed together. An error finds its field by the number of the line that raised
it, so valid input has no cost for errors.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec

from ledgerd.codec.errors import CodecError, DecodeError, EncodeError
from ledgerd.codec.json.scalars import as_object
from ledgerd.codec.kinds import Kind, Reading, read_fixed, show_fixed, unusual, write_fixed
from ledgerd.codec.source import Source, count_parts
from ledgerd.codec.types.containers import Optional
from ledgerd.codec.types.lazy import lazy

ReadFunction = Callable[[bytes, int, Reading], tuple[Any, int]]
WriteFunction = Callable[[Any, Callable[[bytes], None]], None]
FieldPlace = tuple[str, str | None]


class Field(NamedTuple):
    """One field of a record: its name in Python and in JSON, its kind, and its value when JSON leaves it out."""

    attribute: str
    name: str
    kind: Kind
    default: Callable[[], Any]
    marks: tuple[object, ...] = ()
    """The other marks of the annotation; most of them mean nothing to a codec."""


class RecordKind(Kind):
    """A class of annotated fields, in the order of the wire.

    A class may have a JSON form of its own (`json_text`, `from_json`), may be `TRANSPARENT` (its JSON is that of
    its only field), may know fields by `FORMER_NAMES` where JSON has none of their name, may state its size in the
    reference's memory (`MEMORY`), and may want to keep the bytes that it was read from (`KEEPS_PACKED`, with a cached
    property `packed`).
    """

    def __init__(self, record: type[msgspec.Struct], resolve: Callable[[], list[Field]]) -> None:
        self.record = record
        self._resolve = resolve
        self.title = getattr(record, "TITLE", record.__name__)

    @lazy
    def fields(self) -> list[Field]:
        """The fields, resolved late, since records may hold one another."""
        return self._resolve()

    @lazy
    def letters(self) -> str:
        """A record of fixed fields only, unless it keeps its bytes, is packed with its neighbours."""
        if getattr(self.record, "KEEPS_PACKED", False) or not all(field.kind.letters for field in self.fields):
            return ""
        return "".join(field.kind.letters for field in self.fields)

    @property
    def is_transparent(self) -> bool:
        return getattr(self.record, "TRANSPARENT", False)

    @lazy
    def memory(self) -> int:
        """The number of the class, or the sum over its fields."""
        return getattr(self.record, "MEMORY", 0) or max(1, sum(field.kind.memory for field in self.fields))

    # -- inside other records

    def build(self, parts: list[str], source: Source) -> str:
        built, start = [], 0
        for field in self.fields:
            end = start + count_parts(field.kind.letters)
            built.append(field.kind.build(parts[start:end], source))
            start = end
        return f"{source.bind(self.record)}({', '.join(built)})"

    def text_of_parts(self, parts: list[str], source: Source) -> str:
        function = getattr(self.record, "TEXT_OF_FIELDS", None)
        return (
            super().text_of_parts(parts, source) if function is None else f"{source.bind(function)}({', '.join(parts)})"
        )

    def parts(self, value: str) -> list[str]:
        return [part for field in self.fields for part in field.kind.parts(f"{value}.{field.attribute}")]

    def read(self, source: Source, target: str) -> None:
        if self.letters:
            super().read(source, target)
        else:
            source.add(f"{target}, pos = {source.bind(self.reader)}(buf, pos, reading)")

    def write(self, source: Source, value: str) -> None:
        if self.letters:
            item = source.fresh("r")
            source.add(f"{item} = {value}")
            super().write(source, item)
        else:
            source.add(f"{source.bind(self.writer)}({value}, w)")

    def show(self, source: Source, target: str) -> None:
        """Call the transcriber of the record, unless it has a JSON form of its own or only fixed fields."""
        if self.letters or hasattr(self.record, "json_text"):
            super().show(source, target)
        else:
            source.add(f"{target}, pos = {source.bind(self.transcriber)}(buf, pos, reading)")

    def text(self, source: Source, value: str) -> str:
        if hasattr(self.record, "json_text"):
            return f"{value}.json_text()"
        return f"{source.bind(self.printer)}({value})"

    # -- the functions of the record itself

    @lazy
    def reader(self) -> ReadFunction:
        source = Source()
        opening(source)
        keeps = getattr(self.record, "KEEPS_PACKED", False)
        if keeps:
            source.add("start = pos")
        names = [source.fresh("f") for _ in self.fields]
        run: list[tuple[Kind, str]] = []
        for field, name in zip(self.fields, names, strict=True):
            source.field = field.name
            if field.kind.letters:
                run.append((field.kind, name))
                continue
            if run:
                read_fixed(source, run)
                run = []
            field.kind.read(source, name)
        if run:
            read_fixed(source, run)
        source.field = ""
        source.add(f"made = {source.bind(self.record)}({', '.join(names)})")
        if keeps:
            source.add("if not reading.normalised:")
            source.add("    made.__dict__['packed'] = buf[start:pos]")
        source.add("return made, pos")
        closing(source, "(IndexError, KeyError, StructError, CodecError)", DecodeError)
        return source.compiled(f"read_{self.record.__name__}", "buf, pos, reading")

    @lazy
    def writer(self) -> WriteFunction:
        """`(record, w)`, where `w` takes pieces of bytes."""
        source = Source()
        opening(source)
        run: list[tuple[Kind, str]] = []
        for field in self.fields:
            value = f"v.{field.attribute}"
            if field.kind.letters:
                run.append((field.kind, value))
                continue
            if run:
                write_fixed(source, run)
                run = []
            source.field = field.name
            field.kind.write(source, value)
        if run:
            write_fixed(source, run)
        source.add("return None")
        closing(source, "(StructError, CodecError)", EncodeError)
        return source.compiled(f"write_{self.record.__name__}", "v, w")

    @lazy
    def printer(self) -> Callable[[Any], str]:
        """`(record) -> JSON text`; optional fields that are not set are left out."""
        source = Source()
        if self.is_transparent:
            source.add(f"return {self.fields[0].kind.text(source, 'v.' + self.fields[0].attribute)}")
        else:
            pieces = []
            may_begin_later = bool(self.fields) and isinstance(self.fields[0].kind, Optional)
            for position, field in enumerate(self.fields):
                value = f"v.{field.attribute}"
                head = ("," if position or may_begin_later else "{") + f'"{field.name}":'
                piece = source.fresh("t")
                if isinstance(field.kind, Optional):
                    inner = field.kind.inner.text(source, value)
                    source.add(f"{piece} = '' if {value} is None else {head!r} + {inner}")
                    pieces.append(f"{{{piece}}}")
                else:
                    source.add(f"{piece} = {field.kind.text(source, value)}")
                    pieces.append(f"{head.replace('{', '{{')}{{{piece}}}")
            if may_begin_later:
                source.add(f"return '{{' + f'{''.join(pieces)}'[1:] + '}}'")
            else:
                source.add(f"return f'{''.join(pieces) or '{{'}}}}}'")
        return source.compiled(f"print_{self.record.__name__}", "v")

    @lazy
    def transcriber(self) -> ReadFunction:
        """`(buf, pos, reading) -> (JSON text, end)`: reader and printer in one, without the record between them.

        Only for bytes that were decoded before: if they were truncated since, the end lies beyond them.
        """
        return self.framed_transcriber()

    def framed_transcriber(
        self, before: str = "", after: str = "", parameters: tuple[str, ...] = ()
    ) -> Callable[..., tuple[str, int]]:
        """A transcriber with parts of a format string around its text: one format string is faster than two."""
        source = Source()
        opening(source)
        if hasattr(self.record, "json_text"):
            super().show(source, "inner")
            text = "{inner}"
        elif self.is_transparent:
            self.fields[0].kind.show(source, "inner")
            text = "{inner}"
        else:
            text = show_fields(source, self.fields)
        source.add(f"text = f'{before}{text}{after}'")
        source.field = ""
        source.add("return text, pos")
        closing(source, "(IndexError, KeyError, StructError, CodecError)", DecodeError)
        names = ", ".join(("buf, pos, reading", *parameters))
        return source.compiled(f"show_{self.record.__name__}", names)

    @lazy
    def _members(self) -> tuple[tuple[str, str, Callable[[Any], Any], Callable[[], Any]], ...]:
        """For each field: its name, its former name or again its name, its parser, and its default."""
        former: dict[str, str] = getattr(self.record, "FORMER_NAMES", {})
        return tuple(
            (each.name, former.get(each.name, each.name), each.kind.parse, each.default) for each in self.fields
        )

    @lazy
    def _own_parse(self) -> Callable[[object], Any] | None:
        """The parser of a record whose JSON is not an object of its fields; None for any other record."""
        if self.is_transparent and not hasattr(self.record, "from_json"):
            inner = self.fields[0].kind
            return lambda value: self.record(inner.parse(value))
        return getattr(self.record, "from_json", None)

    def parse(self, value: object) -> Any:
        """A JSON object; unknown keys are ignored, missing ones take their default."""
        if self._own_parse is not None:
            return self._own_parse(value)
        given, made, name = as_object(value), [], ""
        try:
            for today, formerly, parse, default in self._members:
                name = today if today in given else formerly
                made.append(parse(given[name]) if name in given else default())
        except DecodeError as problem:
            raise problem.within(name) from None
        return self.record(*made)

    def parse_quickly(self, source: Source, value: str) -> str:
        if self.is_transparent or hasattr(self.record, "from_json"):
            return super().parse_quickly(source, value)
        return f"{source.bind(self.quick_parser)}({value})"

    @lazy
    def quick_parser(self) -> Callable[[Any], Any]:
        """`(JSON object) -> record`: what `parse` makes of an object of exactly these fields, or one of `UNUSUAL`."""
        source = Source()
        values = [source.fresh("v") for _ in self.fields]
        source.add(f"if len(given) != {len(values)}:")
        source.add(f"    {source.bind(unusual)}()")
        for field, value in zip(self.fields, values, strict=True):
            source.add(f"{value} = given[{field.name!r}]")
        made = [field.kind.parse_quickly(source, value) for field, value in zip(self.fields, values, strict=True)]
        attributes = tuple(field.attribute for field in self.fields)
        if attributes != self.record.__struct_fields__[: len(attributes)]:
            made = [f"{attribute}={value}" for attribute, value in zip(attributes, made, strict=True)]
        source.add(f"return {source.bind(self.record)}({', '.join(made)})")
        return source.compiled(f"parse_{self.record.__name__}", "given")

    def default(self) -> Any:
        own = getattr(self.record, "json_default", None)
        return own() if own is not None else self.record(*[field.default() for field in self.fields])


def show_fields(source: Source, fields: list[Field]) -> str:
    """Write the lines that read the fields of a record as texts; returns the format string of their object."""
    pieces: list[str] = []
    run: list[tuple[Kind, str]] = []
    for field in fields:
        head, text = ("," if pieces else "{") + f'"{field.name}":', source.fresh("t")
        if field.kind.letters:
            run.append((field.kind, text))
        else:
            show_fixed(source, run)
            run = []
            source.field = field.name
            if isinstance(field.kind, Optional):
                field.kind.show_member(source, text, head)
                head = ""
            else:
                field.kind.show(source, text)
        pieces.append(f"{head.replace('{', '{{')}{{{text}}}")
    show_fixed(source, run)
    return f"{''.join(pieces) or '{{'}}}}}"


def opening(source: Source) -> None:
    """Begin the part of a function in which a failure is given its place."""
    source.add("try:")
    source.indent += 1


def closing(source: Source, caught: str, error: type[CodecError]) -> None:
    """End it: any failure leaves as the documented error, with the field it happened in."""
    source.indent -= 1
    places: list[FieldPlace] = list(source.places)
    source.names.update(StructError=struct.error, CodecError=CodecError)
    source.add(f"except {caught} as problem:")
    source.add(f"    raise {source.bind(locate)}(problem, {source.bind(places)}, {source.bind(error)}) from None")


def locate(problem: Exception, places: list[FieldPlace], error: type[CodecError]) -> CodecError:
    """The documented error for a failure, with the field of the line that raised it."""
    if isinstance(problem, CodecError):
        located = problem
    elif isinstance(problem, KeyError):
        located = error(f"{problem.args[0]} is not a value of this type")
    elif error is DecodeError:
        located = error("ends before its value does", code=8)
    else:
        located = error(f"does not fit: {problem}")
    trace = problem.__traceback__
    if trace is not None:
        # Line 1 is the `def`, so the first place belongs to line 2.
        field, index = places[min(trace.tb_lineno - 2, len(places) - 1)]
        if index is not None and index in trace.tb_frame.f_locals:
            located.within(f"[{trace.tb_frame.f_locals[index]}]")
        if field:
            located.within(field)
    return located
