"""The forms of what is sent and answered, by hand: records that are whole or wrong, and values as parameters.

All else in this folder is generated from the declarations of the APIs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple, Self, TypeVar

import msgspec

from ledgerd.codec import Codec, codec_of, record_kind
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.types.containers import Optional
from ledgerd.sdk.errors import ClientError

T = TypeVar("T")

MOST_SHOWN = 60
"""Characters of a value that an error repeats."""


class _Member(NamedTuple):
    """One member of an object: its name in JSON, how it is read, and whether it may be left out."""

    name: str
    parse: Callable[[object], Any]
    may_lack: bool


@cache
def _members_of(record: type[msgspec.Struct]) -> tuple[_Member, ...]:
    fields = record_kind(record).fields
    return tuple(_Member(each.name, each.kind.parse, isinstance(each.kind, Optional)) for each in fields)


def _read(member: _Member, given: object) -> object:
    name, parse, may_lack = member
    if given is None:
        if may_lack:
            return None
        raise DecodeError("is missing").within(name)
    try:
        return parse(given)
    except DecodeError as problem:
        raise problem.within(name) from None


class AnswerRecord(msgspec.Struct, frozen=True):
    """An object that nodes answer. What it lacks is never made up; what a later node says besides is passed over."""

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The record of a parsed JSON object; a `DecodeError` where a member is missing or of another type."""
        if not isinstance(value, dict):
            raise DecodeError("is no object")
        return cls(*[_read(each, value.get(each.name)) for each in _members_of(cls)])


class ListedRecord(AnswerRecord, frozen=True):
    """A record whose JSON is an array of its members instead of an object."""

    @classmethod
    def from_json(cls, value: object) -> Self:
        members = _members_of(cls)
        if not isinstance(value, list) or len(value) < len(members):
            raise DecodeError(f"is no array of {len(members)}")
        return cls(*map(_read, members, value))

    def json_text(self) -> str:
        fields = record_kind(type(self)).fields
        return f"[{','.join(Codec[Any](each.kind).to_json(getattr(self, each.attribute)) for each in fields)}]"


def sent(form: object, value: object) -> object:
    """A value as JSON has it in a request: texts, such as that of a key, stay as they are."""
    if value is None or isinstance(value, str):
        return value
    try:
        text = codec_of(form).to_json(value)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as problem:
        wanted = getattr(form, "__name__", "another value")
        raise ClientError(f"{wanted} is wanted, and not a value of the type {type(value).__name__}") from problem
    return msgspec.json.decode(text)


def listed(values: Iterable[T]) -> list[T]:
    """A list as JSON has it. A single text, which a type checker takes for a list of texts, would be sent as its
    letters: the answer would be of other accounts, or of none.
    """
    if isinstance(values, str | bytes):
        raise ClientError(f"a list is wanted, and not the single {type(values).__name__} {str(values)[:MOST_SHOWN]!r}")
    return list(values)


def trimmed(params: list[object], *defaults: object) -> list[object]:
    """Parameters without those at the end that are the defaults of a node, of which these are all: older nodes take
    fewer.
    """
    for default in reversed(defaults):
        if params[-1] != default:
            break
        params.pop()
    return params
