"""Arguments and results of kinds that only the APIs have, and how answers are made of rows."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import TypeVar, get_type_hints

import msgspec

from ledgerd.codec import kind_of
from ledgerd.codec.errors import BAD_CAST, DecodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.scalars import as_int64, parse_int64
from ledgerd.codec.json.text import dumps
from ledgerd.codec.kinds import Kind
from ledgerd.codec.source import Source
from ledgerd.codec.types.lazy import lazy
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.types.names import AccountName

Names = tuple[AccountName, ...]
T = TypeVar("T")
R = TypeVar("R", bound=msgspec.Struct)


class Printed(Kind):
    """JSON text that is printed already; `of` is the type of its value."""

    def __init__(self, shown: type) -> None:
        self.shown = shown

    @lazy
    def of(self) -> Kind:
        return kind_of(self.shown)

    def text(self, source: Source, value: str) -> str:  # noqa: ARG002
        return value

    def parse(self, value: object) -> str:
        """Refused: such texts are only in answers."""
        return dumps(self.of.parse(value))

    def default(self) -> str:
        return "null"


class EnumKind(Kind):
    """One of a few words, or its number. Errors have the reference's name of the enumeration."""

    def __init__(self, choices: type[IntEnum], list_name: str) -> None:
        self.choices = choices
        self.list_name = list_name
        self.title = " | ".join(each.name.lower() for each in choices)

    def text(self, source: Source, value: str) -> str:
        return f"f'\"{{{value}.name.lower()}}\"'" if source else ""

    def parse(self, value: object) -> IntEnum:
        if isinstance(value, str):
            known = self.choices.__members__.get(value.upper()) if value.islower() else None
            return known if known is not None else self._numbered(self._number(value))
        return self._numbered(as_int64(value))

    def _number(self, word: str) -> int:
        try:
            return parse_int64(word)
        except DecodeError:
            values = {"key": word, "enum": self.list_name}
            raise JsonError(BAD_CAST, "invalid name '${key}' in enum '${enum}'", values) from None

    def _numbered(self, number: int) -> IntEnum:
        try:
            return self.choices(number)
        except ValueError:
            values = {"key": number, "enum": self.list_name}
            raise JsonError(BAD_CAST, "invalid index '${key}' in enum '${enum}'", values) from None

    def default(self) -> IntEnum:
        return next(iter(self.choices))


def answer_record(name: str, about: str, fields: Iterable[str], row: type, **others: object) -> type[msgspec.Struct]:
    kinds = get_type_hints(row, include_extras=True) | others
    return msgspec.defstruct(name, [(each, kinds[each]) for each in fields], namespace={"__doc__": about}, gc=False)


def record_of(kind: type[R], row: object, **others: object) -> R:
    return kind(**{name: others[name] if name in others else getattr(row, name) for name in kind.__struct_fields__})


def existing(row: T | None, refusal: str) -> T:
    """The row that was asked for; where there is none, the reference's words."""
    if row is None:
        raise RuleViolation(refusal)
    return row


def require_limit(limit: int, most: int) -> None:
    require(limit <= most, f"limit <= {most}: ")
