"""Source code that is being written: the lines of a codec function and the values that its names stand for."""

from __future__ import annotations

import linecache
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import count
from types import CodeType
from typing import Any

_numbers = count(1)


class Source:
    """The body of one generated function."""

    def __init__(self) -> None:
        self.names: dict[str, Any] = {}
        self.lines: list[str] = []
        self.places: list[tuple[str, str | None]] = []
        self.indent = 0
        self.field = ""
        self.index: str | None = None
        self._count = 0

    def add(self, line: str) -> None:
        """Append a line; remember which field, and which loop's index, it works for."""
        self.lines.append("    " * self.indent + line)
        self.places.append((self.field, self.index))

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """A line that opens a block, and within `with` the lines of the block."""
        self.add(head)
        self.indent += 1
        yield
        self.indent -= 1

    @contextmanager
    def loop(self, head: str, index: str) -> Iterator[None]:
        """A block that errors name the index of."""
        self.add(head)
        outer, self.index = self.index, index
        self.indent += 1
        yield
        self.indent -= 1
        self.index = outer

    def fresh(self, stem: str) -> str:
        """A local name that nothing else in the function uses."""
        self._count += 1
        return f"{stem}{self._count}"

    def bind(self, value: object) -> str:
        """Make a value reachable from the function, under a name of its own."""
        name = f"k{len(self.names)}"
        self.names[name] = value
        return name

    def compiled(self, name: str, parameters: str) -> Callable[..., Any]:
        """The function that the lines make. Its text goes into the line cache, so that tracebacks show it."""
        text = "".join(f"{line}\n" for line in (f"def {name}({parameters}):", *("    " + line for line in self.lines)))
        namespace: dict[str, Any] = dict(self.names)
        exec(_compiled(name, text), namespace)  # noqa: S102
        function: Callable[..., Any] = namespace[name]
        return function


@cache
def _compiled(name: str, text: str) -> CodeType:
    """Compiled once, also for a state that is opened again and again."""
    file = f"<codec {name} {next(_numbers)}>"  # two types may have one name
    # Without a time of change, `linecache.checkcache` keeps the entry, though no file has this name.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return compile(text, file, "exec")


@cache
def packing(letters: str) -> struct.Struct:
    """The little-endian packing of a run of fixed fields."""
    return struct.Struct("<" + letters)


def count_parts(letters: str) -> int:
    return len(packing(letters).unpack(bytes(packing(letters).size)))
