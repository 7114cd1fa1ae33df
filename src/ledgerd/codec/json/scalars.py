"""What a field of a given type accepts from JSON, and how it converts it (spec 01, section 3.2).

The texts of refusals are the reference's: clients see them. Cutting to a field's width is left to the field.
"""

from __future__ import annotations

import re

from ledgerd.codec.errors import BAD_CAST, PARSE_ERROR
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.text import Json, bare_text

_SIGN_BIT = 1 << 63
_MODULUS = 1 << 64
_MASK = _MODULUS - 1
_MAX_DIGITS = 20
_DECIMAL = re.compile(r"([+-]?)([0-9]+)")

TYPE_NAMES: dict[type, str] = {
    type(None): "null_type",
    bool: "bool_type",
    float: "double_type",
    str: "string_type",
    list: "array_type",
    dict: "object_type",
}


def type_name(value: object) -> str:
    """The reference's name for the kind of a JSON value."""
    if type(value) is int:
        return "uint64_type" if value >= 0 else "int64_type"
    return TYPE_NAMES[type(value)]


def _bad_cast(value: object, layout: str) -> JsonError:
    return JsonError(BAD_CAST, layout, {"type": type_name(value)})


def _decimal(text: str) -> tuple[bool, int] | None:
    """Sign and magnitude of a decimal text, or nothing. As in C, a NUL ends the text."""
    match = _DECIMAL.fullmatch(text.partition("\0")[0])
    if match is None:
        return None
    digits = match[2].lstrip("0")
    return (match[1] == "-", int(digits or "0")) if len(digits) <= _MAX_DIGITS else None


def parse_int64(text: str) -> int:
    """A signed decimal text: one sign at most, then digits and nothing else."""
    number = _decimal(text)
    if number is not None:
        negative, magnitude = number
        if magnitude < _SIGN_BIT or (negative and magnitude == _SIGN_BIT):
            return -magnitude if negative else magnitude
    raise JsonError(PARSE_ERROR, "Couldn't parse int64_t")


def parse_uint64(text: str) -> int:
    """An unsigned decimal text, which may have a minus all the same: `-5` is 2^64 - 5."""
    number = _decimal(text)
    if number is not None and number[1] < _MODULUS:
        negative, magnitude = number
        return -magnitude & _MASK if negative else magnitude
    raise JsonError(PARSE_ERROR, "Couldn't parse uint64_t").under("", {"i": text})


def _truncated(value: float) -> int:
    """Toward zero; what fits no int64 becomes the smallest one, as the x86-64 conversion has it."""
    return int(value) if -_SIGN_BIT <= value < _SIGN_BIT else -_SIGN_BIT


def as_int64(value: object) -> int:
    """The bit pattern of a number, 0 or 1, zero for null, or a decimal text."""
    if isinstance(value, int):
        return (value + _SIGN_BIT & _MASK) - _SIGN_BIT
    if isinstance(value, str):
        return parse_int64(value)
    if isinstance(value, float):
        return _truncated(value)
    if value is None:
        return 0
    raise _bad_cast(value, "Invalid cast from ${type} to int64")


def as_uint64(value: object) -> int:
    """The bit pattern of a number, 0 or 1, zero for null, or a decimal text."""
    if isinstance(value, int):
        return value & _MASK
    if isinstance(value, str):
        try:
            return parse_uint64(value)
        except JsonError as error:
            raise error.under("", {"*this": value}) from None
    if isinstance(value, float):
        if value >= _SIGN_BIT:
            # The upper half is converted less 2^63, then gets that bit back: above 2^64 only zero is left.
            return _truncated(value - _SIGN_BIT) + _SIGN_BIT & _MASK
        return _truncated(value) & _MASK
    if value is None:
        return 0
    raise _bad_cast(value, "Invalid cast from ${type} to uint64").under("", {"*this": value})


def as_bool(value: object) -> bool:
    """A boolean, a number that is not zero, the text `true` or `false`, or false for null."""
    if isinstance(value, int | float):
        return value != 0
    if value is None or value == "false":
        return False
    if value == "true":
        return True
    if isinstance(value, str):
        raise JsonError(BAD_CAST, 'Cannot convert std::string to bool (only "true" or "false" can be converted)')
    raise _bad_cast(value, "Invalid cast from ${type} to bool")


def as_string(value: object) -> str:
    """A string, or a scalar as text; null is the empty text."""
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, int | float):
        return bare_text(value)
    raise _bad_cast(value, "Invalid cast from ${type} to std::string")


def as_array(value: object) -> list[Json]:
    if isinstance(value, list):
        return value
    raise _bad_cast(value, "Invalid cast from ${type} to Array")


def as_object(value: object) -> dict[str, Json]:
    if isinstance(value, dict):
        return value
    raise _bad_cast(value, "Invalid cast from type '${type}' to Object")
