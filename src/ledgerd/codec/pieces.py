"""Texts of some fields of a record, made from its bytes: for answers that are joined from several records.

A run of fields that stand together in an answer is one text. Nothing is made of fields that are not in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ledgerd.codec.codec import Codec
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading
from ledgerd.codec.numbers import Share, Signed, Unsigned
from ledgerd.codec.records import Field, RecordKind, closing, opening
from ledgerd.codec.source import Source, count_parts, packing

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
        _take(source, kind.fields[following:first], shown, taken)
        _take_group(source, kind.fields[first : last + 1], shown, taken)
        following = last + 1
    _take(source, kind.fields[following:], shown, taken)
    texts = [
        "f'" + ",".join(f'"{name}":{{{shown[attribute]}}}' for attribute, name in run.items()) + "'" for run in runs
    ]
    source.field = ""
    source.add(f"return {', '.join([*taken.values(), *texts])},")
    closing(source, "(IndexError, KeyError, StructError, CodecError)", DecodeError)
    compiled: Pieces = source.compiled(f"pieces_{kind.record.__name__}", "buf, pos, reading")
    return compiled


def _take_group(source: Source, group: Sequence[Field], shown: Mapping[str, str], taken: Mapping[str, str]) -> None:
    """Write the lines that compare some fields with their defaults, and read them where they differ."""
    empty = b"".join(encoded_default(field) for field in group)
    source.add(f"if buf[pos:pos + {len(empty)}] == {source.bind(empty)}:")
    source.add(f"    pos += {len(empty)}")
    for field in group:
        if field.attribute in shown:
            source.add(f"    {shown[field.attribute]} = {source.bind(printed_default(field))}")
    source.add("else:")
    source.indent += 1
    _take(source, group, shown, taken)
    source.indent -= 1


def encoded_default(field: Field) -> bytes:
    """The bytes of what a field has when JSON leaves it out."""
    return Codec[Any](field.kind).encode(field.default())


def printed_default(field: Field) -> str:
    return Codec[Any](field.kind).to_json(field.default())


def _take(source: Source, fields: Sequence[Field], shown: Mapping[str, str], taken: Mapping[str, str]) -> None:
    """Write the lines that read some fields, and make the texts and values that are wanted."""
    fixed: list[Field] = []
    for field in fields:
        if field.kind.letters:
            fixed.append(field)
            continue
        _take_fixed(source, fixed, shown, taken)
        fixed = []
        source.field = field.name
        if field.attribute in shown:
            field.kind.show(source, shown[field.attribute])
        else:
            field.kind.read(source, source.fresh("unused"))
    _take_fixed(source, fixed, shown, taken)


def _take_fixed(source: Source, run: list[Field], shown: Mapping[str, str], taken: Mapping[str, str]) -> None:
    """Write the lines that unpack neighbouring fields of fixed size, and make the texts and values that are wanted."""
    if not run:
        return
    layout, names, lines = packing("".join(field.kind.letters for field in run)), [], []
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
    source.add(f"{', '.join(names)}, = {source.bind(layout.unpack_from)}(buf, pos)")
    source.add(f"pos += {layout.size}")
    for line in lines:
        source.add(line)
