"""Kinds with elements: vectors, ordered sets and maps, arrays of a fixed length, optionals (spec 01, 2.3, 3.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json.scalars import as_array
from ledgerd.codec.kinds import MAX_CONTAINER_MEMORY, Kind, Reading, read_fixed, show_fixed
from ledgerd.codec.source import Source, count_parts
from ledgerd.codec.types.strings import add_varint, past_the_end, too_long
from ledgerd.codec.types.varint import pack_varint

SortKey = Callable[[Any], Any]


def add_count(source: Source, memory: int) -> str:
    """Write the lines that read a count and refuse one that is too large for the rest of the input."""
    count = source.fresh("n")
    add_varint(source, count)
    source.add(f"if {count} * {memory} >= {MAX_CONTAINER_MEMORY}:")
    source.add(f"    raise {source.bind(too_long)}({count})")
    # Every element has at least one byte, so a list is never longer than the input.
    source.add(f"if {count} > len(buf) - pos:")
    source.add(f"    raise {source.bind(past_the_end)}()")
    return count


def parse_elements(value: object, parse: Callable[[object], Any]) -> list[Any]:
    items, out = as_array(value), list[Any]()
    try:
        for item in items:
            out.append(parse(item))
    except DecodeError as problem:
        raise problem.within(f"[{len(out)}]") from None
    return out


class Vector(Kind):
    """Elements in their given order."""

    memory = 24

    def __init__(self, element: Kind) -> None:
        self.element = element
        self.title = f"vector of {element.title}"

    def read(self, source: Source, target: str) -> None:
        item = source.fresh("e")
        with self._few(source, target, item, "()", f"({item},)", self.element.read):
            source.add(self.finish(source, target, self._gather(source, self.element.read)))

    def show(self, source: Source, target: str) -> None:
        """Each element as it is read."""
        item = source.fresh("e")
        with self._few(source, target, item, "'[]'", f"f'[{{{item}}}]'", self.element.show):
            self.show_many(source, target)

    @contextmanager
    def _few(
        self, source: Source, target: str, item: str, none: str, one: str, take: Callable[[Source, str], None]
    ) -> Iterator[None]:
        """Write the lines for no element or one, as in nearly all vectors of blocks: without a list of them. Those
        for more are written within `with`.
        """
        index = source.fresh("i")
        source.add("if not buf[pos]:")
        source.add("    pos += 1")
        source.add(f"    {target} = {none}")
        with source.loop("elif buf[pos] == 1:", index):
            source.add(f"pos, {index} = pos + 1, 0")
            take(source, item)
            source.add(f"{target} = {one}")
        with source.block("else:"):
            yield

    def show_many(self, source: Source, target: str) -> None:
        source.add(f"{target} = '[' + ','.join({self._gather(source, self.element.show)}) + ']'")

    def _gather(self, source: Source, take: Callable[[Source, str], None]) -> str:
        """Write the lines that take every element; returns the name of the list of what was taken."""
        count, items, item = add_count(source, self.element.memory), source.fresh("a"), source.fresh("e")
        index = source.fresh("i")
        source.add(f"{items} = []")
        with source.loop(f"for {index} in range({count}):", index):
            take(source, item)
            source.add(f"{items}.append({item})")
        return items

    def finish(self, source: Source, target: str, items: str) -> str:  # noqa: ARG002
        """The line that turns the list into the value."""
        return f"{target} = tuple({items})"

    def canonical(self, source: Source, value: str) -> str:  # noqa: ARG002
        """The expression of the elements in the order in which they are written."""
        return value

    def write(self, source: Source, value: str) -> None:
        items, item, index = source.fresh("a"), source.fresh("e"), source.fresh("i")
        source.add(f"{items} = {self.canonical(source, value)}")
        source.add(f"w({source.bind(pack_varint)}(len({items})))")
        with source.loop(f"for {index}, {item} in enumerate({items}):", index):
            self.element.write(source, item)

    def text(self, source: Source, value: str) -> str:
        item = source.fresh("e")
        inner = self.element.text(source, item)
        return f"'[' + ','.join([{inner} for {item} in {self.canonical(source, value)}]) + ']'"

    def parse(self, value: object) -> tuple[Any, ...]:
        return tuple(parse_elements(value, self.element.parse))

    def default(self) -> tuple[Any, ...]:
        return ()


class SortedSet(Vector):
    """A vector in ascending order without duplicates; unpacking sorts, and keeps the first of duplicates."""

    def __init__(self, element: Kind, order: SortKey) -> None:
        super().__init__(element)
        self.order = order
        self.title = f"set of {element.title}"

    def sort(self, items: Any, reading: Reading | None = None) -> tuple[Any, ...]:
        """The canonical order; tells the reading when the bytes had another."""
        if len(items) < 2:
            return tuple(items)
        unique: dict[Any, Any] = {}
        for item in items:
            unique.setdefault(self.order(item), item)
        out = tuple(unique[key] for key in sorted(unique))
        if reading is not None and (len(out) != len(items) or any(a is not b for a, b in zip(out, items, strict=True))):
            reading.normalised = True
        return out

    def show_many(self, source: Source, target: str) -> None:
        """Read the whole set before it is shown: elements can only be sorted together."""
        Kind.show(self, source, target)

    def finish(self, source: Source, target: str, items: str) -> str:
        return f"{target} = {source.bind(self.sort)}({items}, reading)"

    def canonical(self, source: Source, value: str) -> str:
        return f"{source.bind(self.sort)}({value})"

    def parse(self, value: object) -> tuple[Any, ...]:
        return self.sort(parse_elements(value, self.element.parse))


class SortedMap(Kind):
    """Pairs in the order of their keys, each key once: of duplicates the first is kept."""

    memory = 24

    def __init__(self, key: Kind, value: Kind, order: SortKey) -> None:
        self.key = key
        self.value = value
        self.order = order
        self.title = f"map of {key.title} to {value.title}"

    def sort(self, items: dict[Any, Any], reading: Reading | None = None) -> dict[Any, Any]:
        """The canonical order; tells the reading when the bytes had another."""
        if len(items) < 2:
            return items
        keys = sorted(items, key=self.order)
        if keys == list(items):
            return items
        if reading is not None:
            reading.normalised = True
        return {key: items[key] for key in keys}

    def read(self, source: Source, target: str) -> None:
        source.add("if not buf[pos]:")
        source.add("    pos += 1")
        source.add(f"    {target} = {{}}")
        with source.block("else:"):
            self._read_some(source, target)

    def _read_some(self, source: Source, target: str) -> None:
        count = add_count(source, self.key.memory + self.value.memory)
        items, key, value, index = source.fresh("m"), source.fresh("e"), source.fresh("e"), source.fresh("i")
        source.add(f"{items} = {{}}")
        with source.loop(f"for {index} in range({count}):", index):
            if self.key.letters and self.value.letters:
                read_fixed(source, [(self.key, key), (self.value, value)])
            else:
                self.key.read(source, key)
                self.value.read(source, value)
            source.add(f"if {key} in {items}:")
            source.add("    reading.normalised = True")
            source.add("else:")
            source.add(f"    {items}[{key}] = {value}")
        source.add(f"{target} = {source.bind(self.sort)}({items}, reading)")

    def write(self, source: Source, value: str) -> None:
        items, key, item = source.fresh("m"), source.fresh("e"), source.fresh("e")
        source.add(f"{items} = {source.bind(self.sort)}({value})")
        source.add(f"w({source.bind(pack_varint)}(len({items})))")
        with source.block(f"for {key}, {item} in {items}.items():"):
            self.key.write(source, key)
            self.value.write(source, item)

    def show(self, source: Source, target: str) -> None:
        """Show an empty map or a single pair directly; more pairs have to be sorted first."""
        source.add("if not buf[pos]:")
        source.add("    pos += 1")
        source.add(f"    {target} = '[]'")
        if self.key.letters and self.value.letters:
            key, value = source.fresh("t"), source.fresh("t")
            with source.block("elif buf[pos] == 1:"):
                source.add("pos += 1")
                show_fixed(source, [(self.key, key), (self.value, value)])
                source.add(f"{target} = f'[[{{{key}}},{{{value}}}]]'")
        with source.block("else:"):
            super().show(source, target)

    def text(self, source: Source, value: str) -> str:
        key, item = source.fresh("e"), source.fresh("e")
        pair = f"'[' + {self.key.text(source, key)} + ',' + {self.value.text(source, item)} + ']'"
        items = f"{source.bind(self.sort)}({value}).items()"
        return f"'[' + ','.join([{pair} for {key}, {item} in {items}]) + ']'"

    def parse(self, value: object) -> dict[Any, Any]:
        """A JSON array of pairs; a pair that is too short keeps the defaults."""
        items: dict[Any, Any] = {}
        for key, item in parse_elements(value, self._pair):
            items.setdefault(key, item)
        return self.sort(items)

    def parse_quickly(self, source: Source, value: str) -> str:
        """Parse an empty map or a single pair directly; more pairs have to be sorted first."""
        inner = Source()
        with inner.block("if type(items) is list and not items:"):
            inner.add("return {}")
        with inner.block(
            "if type(items) is list and len(items) == 1 and type(items[0]) is list and len(items[0]) == 2:"
        ):
            inner.add("(key, item), = items")
            inner.add(f"return {{{self.key.parse_quickly(inner, 'key')}: {self.value.parse_quickly(inner, 'item')}}}")
        inner.add(f"return {Kind.parse_quickly(self, inner, 'items')}")
        return f"{source.bind(inner.compiled('parse_map', 'items'))}({value})"

    def _pair(self, value: object) -> tuple[Any, Any]:
        pair = as_array(value)
        return (
            self.key.parse(pair[0]) if pair else self.key.default(),
            self.value.parse(pair[1]) if len(pair) > 1 else self.value.default(),
        )

    def default(self) -> dict[Any, Any]:
        return {}


class FixedArray(Kind):
    """A fixed number of elements of a fixed size, without a count."""

    def __init__(self, element: Kind, size: int) -> None:
        self.element = element
        self.size = size
        self.letters = element.letters * size
        self.memory = element.memory * size
        self.title = f"{size} of {element.title}"

    def build(self, parts: list[str], source: Source) -> str:
        step = count_parts(self.element.letters)
        built = [self.element.build(parts[i : i + step], source) for i in range(0, len(parts), step)]
        return f"({', '.join(built)},)"

    def parts(self, value: str) -> list[str]:
        return [part for i in range(self.size) for part in self.element.parts(f"{value}[{i}]")]

    def text(self, source: Source, value: str) -> str:
        item = source.fresh("e")
        return f"'[' + ','.join([{self.element.text(source, item)} for {item} in {value}]) + ']'"

    def text_of_parts(self, parts: list[str], source: Source) -> str:
        """The text of the unpacked parts, without making a tuple of them."""
        if type(self).text is not FixedArray.text:
            return super().text_of_parts(parts, source)
        step = count_parts(self.element.letters)
        texts = [self.element.text_of_parts(parts[i : i + step], source) for i in range(0, len(parts), step)]
        return "'[' + " + " + ',' + ".join(texts) + " + ']'"

    def parse(self, value: object) -> tuple[Any, ...]:
        """A JSON array; missing elements get their default, superfluous ones are dropped."""
        items = parse_elements(value, self.element.parse)[: self.size]
        return tuple(items) + tuple(self.element.default() for _ in range(self.size - len(items)))

    def default(self) -> tuple[Any, ...]:
        return tuple(self.element.default() for _ in range(self.size))


class Optional(Kind):
    """A value or its absence: a byte says which."""

    def __init__(self, inner: Kind) -> None:
        self.inner = inner
        self.memory = inner.memory + 8
        self.title = f"optional {inner.title}"

    def read(self, source: Source, target: str) -> None:
        with self._present(source, f"{target} = None"):
            self.inner.read(source, target)

    @contextmanager
    def _present(self, source: Source, absent: str) -> Iterator[None]:
        """Write the lines that read the byte and the line for an absent value. Lines for a present value are written
        within `with`.
        """
        flag = source.fresh("n")
        source.add(f"{flag} = buf[pos]")
        source.add("pos += 1")
        source.add(f"if {flag} > 1:")
        source.add(f"    raise {source.bind(not_a_flag)}({flag})")
        source.add(absent)
        with source.block(f"if {flag}:"):
            yield

    def write(self, source: Source, value: str) -> None:
        item = source.fresh("e")
        source.add(f"{item} = {value}")
        source.add(f"if {item} is None:")
        source.add("    w(b'\\0')")
        with source.block("else:"):
            source.add("w(b'\\1')")
            self.inner.write(source, item)

    def show_member(self, source: Source, target: str, head: str) -> None:
        """Show the value as a member of an object: its name and text, or nothing if it is absent."""
        text = source.fresh("t")
        with self._present(source, f"{target} = ''"):
            self.inner.show(source, text)
            source.add(f"{target} = {head!r} + {text}")

    def text(self, source: Source, value: str) -> str:
        """The value's text, or null (a record's field is left out instead)."""
        return f"('null' if {value} is None else {self.inner.text(source, value)})"

    def parse(self, value: object) -> Any:
        return None if value is None else self.inner.parse(value)

    def parse_quickly(self, source: Source, value: str) -> str:
        return f"(None if {value} is None else {self.inner.parse_quickly(source, value)})"

    def default(self) -> None:
        """Absent."""


def not_a_flag(byte: int) -> DecodeError:
    return DecodeError(f"a flag is 0 or 1, not {byte}")
