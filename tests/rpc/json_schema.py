"""Whether a document keeps to a JSON Schema, as far as draft 7 is used here; an unknown keyword is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

TYPES: dict[str, type | tuple[type, ...]] = {
    "null": type(None),
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "string": str,
    "array": list,
    "object": dict,
}

WORDS = {"title", "description", "default", "examples", "format", "definitions", "components", "$schema", "$id"}
"""Keywords that ask for nothing."""

OBJECTS = {"properties", "patternProperties", "additionalProperties"}
ARRAYS = {"items", "additionalItems"}

Schema = dict[str, Any] | bool


class Checker:
    """The faults of values, by the schemas of one document."""

    def __init__(self, root: dict[str, Any]) -> None:
        self._root = root

    def faults(self, schema: Schema, value: Any, place: str = "") -> Iterator[str]:
        """Each fault, and where it is."""
        if isinstance(schema, bool):
            if not schema:
                yield f"{place}: nothing may stand here"
            return
        if "$ref" in schema:
            yield from self.faults(self._referred(schema["$ref"]), value, place)
            return
        for word, asked in schema.items():
            if word not in WORDS | OBJECTS | ARRAYS and not CHECKS[word](self, asked, value):
                yield f"{place}: {word} {asked!r:.200} does not hold of {value!r:.200}"
        if isinstance(value, dict):
            yield from self._of_object(schema, value, place)
        if isinstance(value, list):
            yield from self._of_array(schema, value, place)

    def holds(self, schema: Schema, value: Any) -> bool:
        return next(self.faults(schema, value), None) is None

    def _referred(self, name: str) -> Schema:
        if not name.startswith("#/"):
            return True
        found: Any = self._root
        for step in name[2:].split("/"):
            found = found[step]
        schema: Schema = found
        return schema

    def _of_object(self, schema: dict[str, Any], value: dict[str, Any], place: str) -> Iterator[str]:
        for key, item in value.items():
            own = [schema["properties"][key]] if key in schema.get("properties", {}) else []
            own += [each for pattern, each in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
            for each in own or [schema.get("additionalProperties", True)]:
                yield from self.faults(each, item, f"{place}/{key}")

    def _of_array(self, schema: dict[str, Any], value: list[Any], place: str) -> Iterator[str]:
        items = schema.get("items", True)
        for number, item in enumerate(value):
            if isinstance(items, list):
                each = items[number] if number < len(items) else schema.get("additionalItems", True)
            else:
                each = items
            yield from self.faults(each, item, f"{place}/{number}")


def _is_a(_: Checker, asked: str | list[str], value: Any) -> bool:
    names = [asked] if isinstance(asked, str) else asked
    return any(
        isinstance(value, TYPES[name]) and not (isinstance(value, bool) and name in {"integer", "number"})
        for name in names
    )


CHECKS: dict[str, Callable[[Checker, Any, Any], bool]] = {
    "type": _is_a,
    "enum": lambda _, asked, value: value in asked,
    "const": lambda _, asked, value: value == asked,
    "required": lambda _, asked, value: not isinstance(value, dict) or set(asked) <= set(value),
    "minLength": lambda _, asked, value: not isinstance(value, str) or len(value) >= asked,
    "minItems": lambda _, asked, value: not isinstance(value, list) or len(value) >= asked,
    "maxItems": lambda _, asked, value: not isinstance(value, list) or len(value) <= asked,
    "uniqueItems": lambda _, asked, value: not asked or len({repr(each) for each in value}) == len(value),
    "anyOf": lambda self, asked, value: any(self.holds(each, value) for each in asked),
    "oneOf": lambda self, asked, value: sum(self.holds(each, value) for each in asked) == 1,
}
