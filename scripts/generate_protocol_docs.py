"""Writes `docs/protocol/` from the declarations: operations, types, chain properties, hardforks and `get_config`.

Nothing is said here that the code does not say: fields and types come from the codecs, words from docstrings.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from ledgerd.codec import Codec, kind_of, record_kind
from ledgerd.codec.json.text import dumps
from ledgerd.codec.kinds import Kind
from ledgerd.codec.source import packing
from ledgerd.codec.types.containers import FixedArray, Optional, SortedMap, SortedSet, Vector
from ledgerd.codec.types.records import Field, RecordKind
from ledgerd.codec.types.variants import NamedVariant, Variant
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.config_document import config_of
from ledgerd.protocol.networks.hardforks import MAINNET_HARDFORKS
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.operations import FAMILIES, OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of, tag_of
from ledgerd.protocol.operations.variant import OLD_NAMES
from ledgerd.protocol.properties import ChainPropertiesInit, VersionedChainProperties, json_defaults_of
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.protocol.types.versions import version_text
from scripts.spec_links import linked

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "protocol"
NOTE = "*Generated from the declarations by `make docs`; a test fails when it is out of date.*\n"
CONTAINERS: tuple[type[Kind], ...] = (Vector, SortedSet, SortedMap, FixedArray, Optional, Variant, NamedVariant)
Row = tuple[object, ...]


def table(head: Row, rows: Iterable[Row]) -> str:
    """A table; a bar inside a cell would end it."""
    lines = [head, tuple("---" for _ in head), *rows]
    return (
        "\n".join(f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"
    )


def sentence(of: object) -> str:
    """The docstring, as one line."""
    return " ".join((inspect.getdoc(of) or "").split())


def anchor(title: str) -> str:
    """The link of a heading within a page."""
    return title.lower().replace(" ", "-")


# -- types


def words(kind: Kind, page: str = "types.md") -> str:
    """What a kind is called, with links to what it consists of."""
    if isinstance(kind, SortedSet):
        return f"set of {words(kind.element, page)}"
    if isinstance(kind, Vector):
        return f"vector of {words(kind.element, page)}"
    if isinstance(kind, SortedMap):
        return f"map of {words(kind.key, page)} to {words(kind.value, page)}"
    if isinstance(kind, FixedArray):
        return f"{kind.size} of {words(kind.element, page)}"
    if isinstance(kind, Optional):
        return f"optional {words(kind.inner, page)}"
    if isinstance(kind, NamedVariant):
        return "[operation](operations.md)"
    if isinstance(kind, Variant):
        return "one of " + ", ".join(f"{tag}: {words(each, page)}" for tag, each in kind.kinds.items())
    home = page_of(kind)
    return f"[{kind.title}]({'' if page == home else home}#{anchor(kind.title)})"


def page_of(kind: Kind) -> str:
    """The page that describes a type."""
    is_property = isinstance(kind, RecordKind) and issubclass(kind.record, ChainPropertiesInit)
    return "properties.md" if is_property else "types.md"


def parts(kind: Kind) -> Iterator[Kind]:
    """What a kind consists of, itself left out."""
    if isinstance(kind, RecordKind):
        yield from (field.kind for field in kind.fields)
    elif isinstance(kind, Variant):
        yield from kind.kinds.values()
    elif isinstance(kind, SortedMap):
        yield from (kind.key, kind.value)
    elif isinstance(kind, Vector | FixedArray):
        yield kind.element
    elif isinstance(kind, Optional):
        yield kind.inner


def reachable(kind: Kind, seen: dict[str, Kind]) -> dict[str, Kind]:
    """Every simple kind and every record that a kind consists of, by title; operations have a page of their own."""
    for part in parts(kind):
        operation = isinstance(part, RecordKind) and issubclass(part.record, Operation)
        if isinstance(part, CONTAINERS) or operation or part.title not in seen:
            if not isinstance(part, CONTAINERS) and not operation:
                seen[part.title] = part
            if not isinstance(part, NamedVariant):
                reachable(part, seen)
    return seen


def known_types() -> dict[str, Kind]:
    """Every type of blocks and operations that has no page of its own."""
    seen = reachable(record_kind(Block), {})
    seen["signed block"] = record_kind(Block)
    for operation in OPERATIONS:
        reachable(record_kind(operation), seen)
    there = {title: kind for title, kind in seen.items() if page_of(kind) == "types.md"}
    return dict(sorted(there.items(), key=lambda pair: pair[0].lower()))


def json_of(kind: Kind, value: object) -> str:
    """A value as JSON prints it."""
    return f"`{Codec[Any](kind).to_json(value)}`"


def default_of(field: Field) -> str:
    """What a key that JSON leaves out stands for, on both networks where they differ."""
    if isinstance(field.kind, Optional):
        return "unset"
    defaults = []
    for network in (MAINNET, TESTNET):
        with json_defaults_of(network):
            defaults.append(json_of(field.kind, field.default()))
    return defaults[0] if len(set(defaults)) == 1 else f"{defaults[0]}, on the testnet {defaults[1]}"


def field_table(fields: Iterable[Field], page: str) -> str:
    """Fields in wire order, which is that of JSON as well."""
    rows = [(f"`{field.name}`", words(field.kind, page), default_of(field)) for field in fields]
    return table(("field", "type", "when JSON leaves it out"), rows)


def types_page() -> str:
    """The types, simple ones first."""
    kinds = known_types()
    simple = {title: kind for title, kind in kinds.items() if not isinstance(kind, RecordKind)}
    page = [
        "# Types\n",
        "For builders and implementers: look up the bytes and the JSON of a type.\n",
        NOTE,
        "Numbers are little-endian. Lengths, counts and tags are varints.\n",
        "## Simple types\n",
    ]
    page.append("\n".join(simple_type(title, kind) for title, kind in simple.items()))
    page += [
        "## Containers\n",
        table(("container", "what it is"), [(name(each), sentence(each)) for each in CONTAINERS]),
    ]
    page.append("## Records\n")
    for title, kind in kinds.items():
        if isinstance(kind, RecordKind):
            page += [f"### {title}\n", f"{sentence(kind.record)}\n", *own_json(kind), *record_fields(kind)]
    return "\n".join(page)


def name(container: type[Kind]) -> str:
    """The class's name in words: `SortedSet` is a sorted set."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in container.__name__).strip()


def simple_type(title: str, kind: Kind) -> str:
    """One simple type: its size and its JSON."""
    size = f"{packing(kind.letters).size} byte(s)" if kind.letters else "length, then bytes"
    printed, read = sentence(kind.text).rstrip("."), sentence(kind.parse).rstrip(".")
    told = f"On the wire: {size}. JSON out: {printed}. JSON in: {read}. Default: {json_of(kind, kind.default())}."
    return f"### {title}\n\n{sentence(type(kind))}\n\n{told}\n"


def own_json(kind: RecordKind) -> list[str]:
    """How a record that has a JSON of its own looks there."""
    if getattr(kind.record, "TRANSPARENT", False):
        return ["In JSON it is its only field.\n"]
    if hasattr(kind.record, "json_text"):
        return [f"In JSON it is a text of its own, such as {json_of(kind, kind.default())}.\n"]
    return []


def record_fields(kind: RecordKind) -> list[str]:
    """The table of a record, if it has fields."""
    return [field_table(kind.fields, "types.md")] if kind.fields else []


# -- operations


def sample_of(operation: type[Operation]) -> Operation:
    """An operation whose names, keys and authorities are marks of the fields that they stand in."""
    kind = record_kind(operation)
    sample: Operation = kind.default()
    marks = {field.attribute: mark_of(field) for field in kind.fields}
    return msgspec.structs.replace(sample, **{key: mark for key, mark in marks.items() if mark is not None})


def mark_of(field: Field) -> object:
    """The mark of a field that authorities can be made of."""
    mark = AccountName(f"`{field.name}`")
    if field.kind is kind_of(AccountName):
        return mark
    if field.kind is kind_of(Authority):
        return Authority(0, {mark: 0}, {})
    if isinstance(field.kind, SortedSet) and field.kind.element is kind_of(AccountName):
        return (mark,)
    if isinstance(field.kind, SortedSet) and field.kind.element.title == "public key":
        return (mark.encode(),)
    return None


def authorities_in_words(operation: type[Operation]) -> str:
    """Which authority of whom is asked for, and what the declaration says besides."""
    if operation.VIRTUAL:
        return "Virtual: the chain makes it, nobody sends it."
    asked = sample_of(operation).authorities()
    roles = {"active": asked.active, "master": asked.master, "regular": asked.regular}
    told = [f"{role} of {', '.join(members)}" for role, members in roles.items() if members]
    for authority in asked.other:
        named = [*authority.account_auths, *(key.decode() for key in authority.key_auths)]
        told.append(f"the authority of {', '.join(named)}")
    more = f" {sentence(operation.authorities)}" if "authorities" in vars(operation) else ""
    return f"Authority: {'; '.join(told)}.{more}".rstrip()


def marks_of(operation: type[Operation]) -> str:
    """What is special about it."""
    return ", ".join(
        word for word, holds in (("virtual", operation.VIRTUAL), ("deprecated", operation.DEPRECATED)) if holds
    )


def operations_page() -> str:
    """All operations by tag, then each with its fields, by family."""
    old = {new: former for former, new in OLD_NAMES.items()}
    rows = [
        (tag_of(each), f"[{name_of(each)}](#{name_of(each)})", marks_of(each), sentence(each)) for each in OPERATIONS
    ]
    page = [
        "# Operations\n",
        "For builders: look up an operation, its fields, and who signs it.\n",
        NOTE,
        table(("tag", "name", "", "what it does"), rows),
    ]
    for family, operations in FAMILIES.items():
        page.append(f"## {family.__name__.rpartition('.')[2].replace('_', ' ').capitalize()}\n")
        page.append(f"{sentence(family)}\n")
        for operation in operations:
            title = name_of(operation)
            page += [f"### {title}\n", f"Tag {tag_of(operation)}. {sentence(operation)}\n"]
            if operation.DEPRECATED:
                page.append("Deprecated: only old blocks hold it.\n")
            page.append(f"{authorities_in_words(operation)}\n")
            if title in old:
                page.append(f"JSON may also call it `{old[title]}`.\n")
            page.append(field_table(record_kind(operation).fields, "operations.md"))
    return "\n".join(page)


# -- the rest


def properties_page() -> str:
    """What each version of the chain properties adds."""
    versions = kind_of(VersionedChainProperties)
    page = [
        "# Chain properties\n",
        "For validators: look up what can be voted for.\n",
        NOTE,
        "Each version has the fields of those before it, then its own.\n",
    ]
    before = 0
    for tag, kind in versions.kinds.items() if isinstance(versions, Variant) else ():
        page += [
            f"## {kind.title}\n",
            f"Version {tag}. {sentence(kind.record)}\n",
            field_table(kind.fields[before:], "properties.md"),
        ]
        before = len(kind.fields)
    return "\n".join(page)


def hardforks_page() -> str:
    """The hardforks and their times."""
    rows = [
        (each.number, version_text(each.version), time_text(each.time) if each.number else "genesis")
        for each in MAINNET_HARDFORKS
    ]
    return "\n".join(
        [
            "# Hardforks\n",
            "For everybody: look up which hardfork came when.\n",
            NOTE,
            table(("number", "version", "not before, UTC"), rows),
        ]
    )


def config_page() -> str:
    """The answer of `get_config` on both networks."""
    testnet = config_of(TESTNET)
    rows = [(f"`{key}`", f"`{dumps(value)}`", f"`{dumps(testnet[key])}`") for key, value in config_of(MAINNET).items()]
    return "\n".join(
        [
            "# get_config\n",
            "For builders: look up a constant of the chain.\n",
            NOTE,
            table(("key", "mainnet", "testnet"), rows),
        ]
    )


def documents() -> dict[str, str]:
    """The name and the text of every page."""
    pages = {
        "operations.md": operations_page(),
        "types.md": types_page(),
        "properties.md": properties_page(),
        "hardforks.md": hardforks_page(),
        "config.md": config_page(),
    }
    return {name: linked(text, "../") for name, text in pages.items()}


def main(folder: Path = FOLDER) -> int:
    """Write the pages, and nothing else."""
    folder.mkdir(parents=True, exist_ok=True)
    for page, text in documents().items():
        (folder / page).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
