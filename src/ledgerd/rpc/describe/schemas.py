"""The types of arguments and results as JSON Schema (draft 7), for `openrpc.json`: as the node prints them."""

from __future__ import annotations

import json
from typing import TypeAlias

from ledgerd.codec import Codec
from ledgerd.codec.json.text import Json
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import FixedArray, Optional, SortedMap, SortedSet, Vector
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.variants import NamedVariant, Variant
from ledgerd.rpc.api.shared.kinds import EnumKind, Printed
from ledgerd.rpc.call.declarations import AnyJson

Schema: TypeAlias = dict[str, Json]

PLACE = "#/components/schemas/"
NULL: Schema = {"type": "null"}
WIDE = 8
"""Bytes of the integers that are printed in quotes from a size on (spec 01, section 3.1)."""


def array_of(element: Schema) -> Schema:
    return {"type": "array", "items": element}


def tuple_of(*elements: Schema) -> Schema:
    return {"type": "array", "items": list(elements), "minItems": len(elements), "maxItems": len(elements)}


def any_of(*choices: Schema) -> Schema:
    return {"anyOf": list(choices)}


class Schemas:
    """Schemas of types; those of records are collected, since they refer to one another."""

    def __init__(self) -> None:
        self.records: dict[str, Schema] = {}
        self._classes: dict[str, type] = {}

    def of(self, kind: Kind) -> Schema:
        if isinstance(kind, AnyJson):
            return {}
        if isinstance(kind, Printed):
            return self.of(kind.of)
        if isinstance(kind, EnumKind):
            return {"type": "string", "enum": [each.name.lower() for each in kind.choices]}
        if isinstance(kind, Optional):
            return any_of(self.of(kind.inner), NULL)
        if isinstance(kind, Vector | FixedArray):
            return self._array(kind)
        if isinstance(kind, SortedMap):
            return array_of(tuple_of(self.of(kind.key), self.of(kind.value)))
        if isinstance(kind, Variant):
            return self._variant(kind)
        return self._record(kind) if isinstance(kind, RecordKind) else self._scalar(kind)

    def _array(self, kind: Vector | FixedArray) -> Schema:
        if isinstance(_printed_default(kind), str):
            return {"type": "string", "description": f"{kind.title}, as bytes in hex"}
        schema = array_of(self.of(kind.element))
        if isinstance(kind, SortedSet):
            schema["uniqueItems"] = True
        if isinstance(kind, FixedArray):
            schema |= {"minItems": kind.size, "maxItems": kind.size}
        return schema

    def _variant(self, kind: Variant) -> Schema:
        names = kind.names if isinstance(kind, NamedVariant) else {}
        return any_of(*(tuple_of({"const": names.get(tag, tag)}, self.of(each)) for tag, each in kind.kinds.items()))

    def _scalar(self, kind: Kind) -> Schema:
        printed = _printed_default(kind)
        if isinstance(printed, bool):
            return {"type": "boolean"}
        if isinstance(printed, str):
            return {"type": "string", "description": kind.title}
        numbers: Json = ["integer", "string"] if kind.memory >= WIDE else "integer"
        return {"type": numbers, "description": kind.title}

    def _record(self, kind: RecordKind) -> Schema:
        record = kind.record
        if getattr(record, "TRANSPARENT", False):
            return self.of(kind.fields[0].kind)
        if hasattr(record, "json_text"):
            printed = _printed_default(kind)
            if isinstance(printed, list):
                return tuple_of(*(self.of(field.kind) for field in kind.fields))
            if isinstance(printed, str):
                return {"type": "string", "description": kind.title}
        name = record.__name__
        if self._classes.setdefault(name, record) is not record:
            raise ValueError(f"two records are called {name}")
        if name not in self.records:
            schema = self.records[name] = {"title": kind.title, "type": "object"}
            schema |= self._object(kind)
        return {"$ref": f"{PLACE}{name}"}

    def _object(self, kind: RecordKind) -> Schema:
        properties: Schema = {}
        required: list[Json] = []
        for field in kind.fields:
            if isinstance(field.kind, Optional):
                properties[field.name] = self.of(field.kind.inner)
            else:
                properties[field.name] = self.of(field.kind)
                required.append(field.name)
        return {"properties": properties, "required": required, "additionalProperties": False}


def _printed_default(kind: Kind) -> object:
    printed: object = json.loads(Codec[object](kind).to_json(kind.default()))
    return printed
