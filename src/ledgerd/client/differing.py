"""Where two answers differ: every place in their JSON, and what each has there."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from ledgerd.basics.printable import printable
from ledgerd.codec.json.text import Json

LONGEST_VALUE = 120
"""Characters of a value that a report shows."""

LONGEST_PLACE = 300
"""Characters of a place: names of fields are the nodes' own."""

ABSENT = "absent"


class Difference(NamedTuple):
    """A place in an answer, and the value of each node there."""

    place: str
    first: str
    second: str

    def words(self, first: str, second: str) -> str:
        where = f"{self.place} is " if self.place else ""
        return f"{where}{self.first} at {first}, {self.second} at {second}"


def differences(first: Json, second: Json, place: str = "") -> Iterator[Difference]:
    if isinstance(first, dict) and isinstance(second, dict):
        yield from _of_records(first, second, place)
    elif isinstance(first, list) and isinstance(second, list):
        for index, (one, other) in enumerate(zip(first, second, strict=False)):
            yield from differences(one, other, f"{place}[{index}]"[:LONGEST_PLACE])
        if len(first) != len(second):
            yield Difference(f"the length of {place or 'the list'}", str(len(first)), str(len(second)))
    elif type(first) is not type(second) or first != second:
        yield Difference(place, shown(first), shown(second))


def _of_records(first: dict[str, Json], second: dict[str, Json], place: str) -> Iterator[Difference]:
    for name, one in first.items():
        inner = _inner(place, name)
        if name in second:
            yield from differences(one, second[name], inner)
        else:
            yield Difference(inner, shown(one), ABSENT)
    for name, other in second.items():
        if name not in first:
            yield Difference(_inner(place, name), ABSENT, shown(other))


def _inner(place: str, name: str) -> str:
    return (f"{place}.{name}" if place else name)[:LONGEST_PLACE]


def shown(value: Json) -> str:
    text = printable(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
