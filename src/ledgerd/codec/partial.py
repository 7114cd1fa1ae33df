"""Some fields of a record, read from its bytes or made into texts without the others: for lists that look at many
more records than they show, and for answers that are joined from several records. Where a field stands follows from
the declaration of its record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec

from ledgerd.codec.annotations import record_kind
from ledgerd.codec.codec import Codec
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading, add_unpacking
from ledgerd.codec.source import Source, count_parts, packing
from ledgerd.codec.types.numbers import Share, Signed, Unsigned
from ledgerd.codec.types.records import Field, RecordKind, closing, opening
from ledgerd.codec.types.strings import ByteVector, Text
from ledgerd.codec.types.varint import read_varint

MOST_OF_TWO_BYTES = (1 << 14) - 1
"""The greatest length of two bytes."""


def fields_reader(
    record: type[msgspec.Struct], names: Sequence[str], make: Callable[..., Any] = tuple, *, decodes: bool = False
) -> Callable[[bytes], Any]:
    """A function from the bytes of a record to some of its fields. Texts are given as their bytes, or decoded.

    One field is given alone; of several, what `make` makes of the sequence of them.
    """
    fields = record_kind(record).fields
    places = [_place_in(fields, name) for name in names]
    source = Source()
    opening(source)
    tail = list(takewhile(lambda field: field.kind.letters, reversed(fields)))[::-1]
    if min(places) >= len(fields) - len(tail):
        size = packing(_letters(tail)).size
        source.add(f"pos = len(buf) - {size}")
        source.add("if pos < 0:")
        source.add("    raise IndexError")
        skipped = len(fields) - len(tail)
    else:
        source.add("pos = 0")
        skipped = 0
    found = _read_until(source, fields[skipped : max(places) + 1], names, decodes=decodes)
    source.field = ""
    if len(names) == 1:
        source.add(f"return {found[names[0]]}")
    else:
        made = f"({', '.join([found[name] for name in names])})"
        source.add(f"return {made if make is tuple else f'{source.bind(make)}({made})'}")
    closing(source, "(IndexError, StructError, CodecError)", DecodeError)
    source.names["reading"] = Reading()
    return source.compiled(f"read_some_of_{record.__name__}", "buf")


@cache
def extract_reader(record: type[msgspec.Struct], *names: str) -> Callable[[bytes], Any]:
    """A function from the bytes of a record to a tuple with some of its fields, two at least, under their names."""
    extract: Any = NamedTuple("Extract", [(name, Any) for name in names])  # type: ignore[misc]  # named when called
    read: Callable[[bytes], Any] = fields_reader(record, names, partial(tuple.__new__, extract), decodes=True)
    return read


def bytes_before(record: type[msgspec.Struct], name: str) -> int:
    """The number of bytes before a field; all fields before it must have a fixed size."""
    fields = record_kind(record).fields
    before = fields[: _place_in(fields, name)]
    for field in before:
        if not field.kind.letters:
            raise TypeError(f"the size of {record.__name__}.{field.attribute} varies")
    return packing(_letters(before)).size


def span_reader(record: type[msgspec.Struct], first: str, last: str) -> Callable[[bytes], bytes]:
    """A function from the bytes of a record to those of neighbouring fields, as they stand there."""
    fields = record_kind(record).fields
    source = Source()
    opening(source)
    source.add("pos = 0")
    _read_until(source, fields[: _place_in(fields, first)], ())
    source.add("begin = pos")
    _read_until(source, fields[_place_in(fields, first) : _place_in(fields, last) + 1], ())
    source.field = ""
    source.add("return buf[begin:pos]")
    closing(source, "(IndexError, StructError, CodecError)", DecodeError)
    source.names["reading"] = Reading()
    return source.compiled(f"read_span_of_{record.__name__}", "buf")


def columns_reader(
    record: type[msgspec.Struct], names: Sequence[str]
) -> Callable[[Sequence[bytes]], tuple[Sequence[Any], ...]]:
    """A function from the bytes of many records to a sequence of values for each of these fields, two at least."""
    read, fields = fields_reader(record, names), record_kind(record).fields[: len(names)]
    letters, count = _letters(fields), len(names)
    size = packing(letters).size
    is_first = [field.attribute for field in fields] == list(names) and len(letters) == count

    def columns(rows: Sequence[bytes]) -> tuple[Sequence[Any], ...]:
        if not is_first:
            return tuple([list(column) for column in zip(*map(read, rows), strict=True)]) or ((),) * count
        values = packing(letters * len(rows)).unpack(b"".join([row[:size] for row in rows]))
        return tuple([values[place::count] for place in range(count)])

    return columns


def _place_in(fields: Sequence[Field], name: str) -> int:
    return [field.attribute for field in fields].index(name)


def _letters(fields: Sequence[Field]) -> str:
    return "".join(field.kind.letters for field in fields)


def _read_until(
    source: Source, fields: Sequence[Field], names: Sequence[str], *, decodes: bool = False
) -> dict[str, str]:
    """Write the lines that pass these fields; the expressions of the wanted ones."""
    found: dict[str, str] = {}
    run: list[Field] = []
    for field in fields:
        if field.kind.letters:
            run.append(field)
            continue
        found |= _read_fixed(source, run, names)
        run = []
        source.field = field.name
        if field.attribute in names:
            found[field.attribute] = _read_text(source, field, decodes=decodes)
        else:
            _skip(source, field)
    return found | _read_fixed(source, run, names)


def _read_fixed(source: Source, run: Sequence[Field], names: Sequence[str]) -> dict[str, str]:
    if not run:
        return {}
    letters, parts, found = "", list[str](), dict[str, str]()
    for field in run:
        own = field.kind.letters
        if field.attribute not in names:
            letters += f"{packing(own).size}x"
            continue
        letters += own
        values = [source.fresh("n") for _ in range(count_parts(own))]
        parts += values
        found[field.attribute] = field.kind.build(values, source)
    if parts:
        source.add(f"{', '.join(parts)}, = {source.bind(packing(letters).unpack_from)}(buf, pos)")
    source.add(f"pos += {packing(letters).size}")
    return found


def _read_text(source: Source, field: Field, *, decodes: bool) -> str:
    if not isinstance(field.kind, Text | ByteVector):
        raise TypeError(f"{field.attribute} is neither a text nor of a fixed size")
    length, target = _read_length(source), source.fresh("v")
    decoding = ".decode('utf-8', 'surrogateescape')" if decodes and isinstance(field.kind, Text) else ""
    source.add(f"{target} = buf[pos:pos + {length}]{decoding}")
    source.add(f"pos += {length}")
    return target


def _read_length(source: Source) -> str:
    """Write the lines that read a length: most have one byte, and nearly all others two."""
    length = source.fresh("n")
    source.add(f"{length} = buf[pos]")
    source.add("pos += 1")
    source.add(f"if {length} > 127:")
    source.add(f"    {length} += buf[pos] - 1 << 7")
    source.add("    pos += 1")
    source.add(f"    if {length} > {MOST_OF_TWO_BYTES}:")
    source.add(f"        {length}, pos = {source.bind(read_varint)}(buf, pos - 2, reading)")
    return length


def _skip(source: Source, field: Field) -> None:
    if isinstance(field.kind, Text | ByteVector):
        source.add(f"pos += {_read_length(source)}")
    else:
        field.kind.read(source, source.fresh("unused"))


NUMBERS = (Unsigned, Signed, Share)

Pieces = Callable[[bytes, int, Reading], tuple[Any, ...]]


def pieces_of(
    kind: RecordKind,
    values: Sequence[str],
    runs: Sequence[Mapping[str, str]],
    usually_empty: Sequence[tuple[str, str]] = (),
) -> Pieces:
    """A function `(buf, pos, reading) -> (value, ..., text, ...)`.

    Args:
        kind: The record.
        values: The fields of fixed size whose values are wanted.
        runs: For each text, the fields in it in their order, each with its name in the text.
        usually_empty: The first and the last of neighbouring fields that have their defaults in nearly all records:
            these are looked at as one. Several such groups stand in the order of the record.
    """
    source = Source()
    opening(source)
    shown = {attribute: source.fresh("t") for run in runs for attribute in run}
    taken = {attribute: source.fresh("v") for attribute in values}
    names = [field.attribute for field in kind.fields]
    following = 0
    for begin, end in usually_empty:
        first, last = names.index(begin), names.index(end)
        _show_fields(source, kind.fields[following:first], shown, taken)
        _show_group(source, kind.fields[first : last + 1], shown, taken)
        following = last + 1
    _show_fields(source, kind.fields[following:], shown, taken)
    texts = [
        "f'" + ",".join(f'"{name}":{{{shown[attribute]}}}' for attribute, name in run.items()) + "'" for run in runs
    ]
    source.field = ""
    source.add(f"return {', '.join([*taken.values(), *texts])},")
    closing(source, "(IndexError, KeyError, StructError, CodecError)", DecodeError)
    return source.compiled(f"pieces_{kind.record.__name__}", "buf, pos, reading")


def _show_group(source: Source, group: Sequence[Field], shown: Mapping[str, str], taken: Mapping[str, str]) -> None:
    """Write the lines that compare some fields with their defaults, and read them where they differ."""
    empty = b"".join(Codec[Any](field.kind).encode(field.default()) for field in group)
    source.add(f"if buf[pos:pos + {len(empty)}] == {source.bind(empty)}:")
    source.add(f"    pos += {len(empty)}")
    for field in group:
        if field.attribute in shown:
            empty_text = Codec[Any](field.kind).to_json(field.default())
            source.add(f"    {shown[field.attribute]} = {source.bind(empty_text)}")
    with source.block("else:"):
        _show_fields(source, group, shown, taken)


def _show_fields(source: Source, fields: Sequence[Field], shown: Mapping[str, str], taken: Mapping[str, str]) -> None:
    """Write the lines that read some fields, and make the texts and values that are wanted."""
    fixed: list[Field] = []
    for field in fields:
        if field.kind.letters:
            fixed.append(field)
            continue
        _show_fixed_run(source, fixed, shown, taken)
        fixed = []
        source.field = field.name
        if field.attribute in shown:
            field.kind.show(source, shown[field.attribute])
        else:
            field.kind.read(source, source.fresh("unused"))
    _show_fixed_run(source, fixed, shown, taken)


def _show_fixed_run(source: Source, run: list[Field], shown: Mapping[str, str], taken: Mapping[str, str]) -> None:
    """Write the lines that unpack neighbouring fields of fixed size, and make the texts and values that are wanted."""
    if not run:
        return
    names: list[str] = []
    lines: list[str] = []
    for field in run:
        own = [source.fresh("n") for _ in range(count_parts(field.kind.letters))]
        names += own
        if field.attribute in taken:
            lines.append(f"{taken[field.attribute]} = {field.kind.build(own, source)}")
        if field.attribute in shown:
            text = field.kind.text_of_parts(own, source)
            if type(field.kind) in NUMBERS:
                text = text.replace(f"str({own[0]})", own[0])  # the format string makes the text
            lines.append(f"{shown[field.attribute]} = {text}")
    add_unpacking(source, [field.kind for field in run], names, lines)
