"""A kind describes a type: its binary and JSON codecs are compiled from it.

A kind writes source lines for the frequent directions (bytes both ways, JSON text), and parses JSON input, which is
rarer, by a method. `records.py` joins the lines.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, NoReturn

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.source import Source, count_parts, packing

MAX_CONTAINER_MEMORY = 10 * 1024 * 1024
"""The reference refuses a container whose elements would fill 10 MiB of its memory (spec 01, section 2.3)."""

MAX_DEPTH = 64
"""The depth of variants within variants: proposals of proposals, of which the rules allow far fewer (spec 01, section
2.3).
"""


class Reading:
    """The state of one decoding: its depth, and whether anything read was not in canonical form."""

    __slots__ = ("depth", "normalised")

    def __init__(self) -> None:
        self.depth = 0
        self.normalised = False


class Kind(ABC):
    """One type on the wire and in JSON. What `text` and `parse` say of themselves stands in docs/protocol/types.md."""

    letters = ""
    """The `struct` letters of a kind of fixed size; empty if the size varies."""

    memory = 8
    """Bytes that a value takes in the reference's memory; they bound its containers (spec 01, section 2.3)."""

    title = ""
    """The name of the type in the documents."""

    def __init_subclass__(cls) -> None:
        """If a kind has its own `parse`, do not inherit `parse_quickly` from a kind that parses differently."""
        super().__init_subclass__()
        if "parse" in cls.__dict__ and "parse_quickly" not in cls.__dict__:
            cls.parse_quickly = Kind.parse_quickly  # type: ignore[method-assign]  # a method of the same signature

    def build(self, parts: list[str], source: Source) -> str:  # noqa: ARG002 - for kinds of several parts
        """For a fixed kind: the expression that makes the value of its unpacked parts."""
        return parts[0]

    def parts(self, value: str) -> list[str]:
        """For a fixed kind: the expressions of the parts to pack."""
        return [value]

    def read(self, source: Source, target: str) -> None:
        """Write the lines that take a value at `pos` of `buf`, move `pos` past it, and set `target`."""
        read_fixed(source, [(self, target)])

    def write(self, source: Source, value: str) -> None:
        """Write the lines that pass the bytes of the expression `value` to `w`."""
        write_fixed(source, [(self, value)])

    @abstractmethod
    def text(self, source: Source, value: str) -> str:
        """The expression that makes the JSON text of the expression `value`."""

    def text_of_parts(self, parts: list[str], source: Source) -> str:
        """For a fixed kind: the expression that makes the JSON text of the unpacked parts."""
        return self.text(source, self.build(parts, source))

    def show(self, source: Source, target: str) -> None:
        """Write the lines that take a value as `read` does, and set `target` to its JSON text."""
        value = source.fresh("v")
        self.read(source, value)
        source.add(f"{target} = {self.text(source, value)}")

    @abstractmethod
    def parse(self, value: object) -> Any:
        """The value of parsed JSON; a `DecodeError` if it is invalid."""

    def parse_quickly(self, source: Source, value: str) -> str:
        """The expression that makes of the JSON value of a local name what `parse` makes of it: quickly of the usual,
        which an import has millions of. It raises one of `UNUSUAL` where `parse` has to be asked, so of each object
        whose members are not exactly the fields.
        """
        return f"({source.bind(self.parse)}({value}) if type({value}) is not dict else {source.bind(unusual)}())"

    @abstractmethod
    def default(self) -> Any:
        """The value of a key that JSON leaves out."""


UNUSUAL = (DecodeError, KeyError, TypeError, ValueError)


def unusual() -> NoReturn:
    raise KeyError


def read_fixed(source: Source, run: list[tuple[Kind, str]]) -> None:
    """Write the lines that unpack a run of fixed kinds with one call."""
    names: list[str] = []
    builds: list[str] = []
    for kind, target in run:
        own = [source.fresh("n") for _ in range(count_parts(kind.letters))]
        expression = kind.build(own, source)
        if [expression] == own:
            own = [target]
        else:
            builds.append(f"{target} = {expression}")
        names.extend(own)
    add_unpacking(source, [kind for kind, _ in run], names, builds)


def show_fixed(source: Source, run: list[tuple[Kind, str]]) -> None:
    """Write the lines that unpack a run of fixed kinds with one call, and make the JSON text of each."""
    if not run:
        return
    names: list[str] = []
    texts: list[str] = []
    for kind, target in run:
        own = [source.fresh("n") for _ in range(count_parts(kind.letters))]
        names += own
        texts.append(f"{target} = {kind.text_of_parts(own, source)}")
    add_unpacking(source, [kind for kind, _ in run], names, texts)


def add_unpacking(source: Source, kinds: Iterable[Kind], names: Iterable[str], lines: Iterable[str]) -> None:
    """Write the lines that unpack fixed kinds into names with one call, and those that work with the names."""
    layout = packing("".join(kind.letters for kind in kinds))
    source.add(f"{', '.join(names)}, = {source.bind(layout.unpack_from)}(buf, pos)")
    source.add(f"pos += {layout.size}")
    for line in lines:
        source.add(line)


def write_fixed(source: Source, run: list[tuple[Kind, str]]) -> None:
    """Write the line that packs a run of fixed kinds with one call."""
    layout = packing("".join(kind.letters for kind, _ in run))
    parts = [part for kind, value in run for part in kind.parts(value)]
    source.add(f"w({source.bind(layout.pack)}({', '.join(parts)}))")
