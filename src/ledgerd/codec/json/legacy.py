"""The network's own JSON grammar (spec 01, section 4): validation, which is consensus, and parsing. Standard JSON is
read by a strict, fast parser where that gives the same result; other texts by `legacy_reader`.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import Any

import orjson

from ledgerd.codec.errors import PARSE_ERROR
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.legacy_reader import LegacyReader, too_deep
from ledgerd.codec.json.text import Json, text_bytes, text_of

MAX_OPEN = 100
"""The limit of open brackets of one kind, in the scan that counts them before parsing."""

MAX_NESTING = 2 * MAX_OPEN
"""That scan also counts brackets in strings; no text that passes it can be nested more deeply than this."""

_BRACKET = re.compile(rb"[{}\[\]]")
_ALL_DIGITS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_MANY_DIGITS = b"0" * 19
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_WHITE = re.compile(r"[ \t\n\r]*")
_SPACES = frozenset(b" \t\n\r")


def is_valid(text: bytes) -> bool:
    """One value, and no byte after it. DecodeError where the text ends too early: the operation is refused all the
    same.
    """
    if not text:
        return False
    # What a strict parser accepts and consensus does not: space at the end, `1e+5`, numbers beyond 64 bits.
    if text[-1] not in _SPACES and b"+" not in text and _MANY_DIGITS not in text.translate(_ALL_DIGITS_ZERO):
        try:
            orjson.loads(text)
        except orjson.JSONDecodeError:
            pass
        else:
            return True
    reader = LegacyReader(text)
    return reader.finds_value() and reader.pos == len(text)


MOST_SHOWN = 64 * 1024
"""Bytes of a text that its error shows; the reference shows all of it, and so lets a client double what it sends."""


def parse(
    text: bytes,
    *,
    unicode_escapes: bool = False,
    most_odd_values: int | None = None,
    most_odd_escapes: int | None = None,
) -> Json:
    r"""The first value of a text; what follows it is ignored.

    Legacy strings do not have the escapes `\uXXXX`, `\b` and `\f`: only the backslash is dropped. With
    `unicode_escapes` they have their meaning in JSON. Of a text that is not standard JSON, at most `most_odd_values`
    values are read, and none if it has more than `most_odd_escapes` backslashes.
    """
    try:
        _check_depth(text)
        value, found = _parse_strict(text, unicode_escapes)
        if found:
            return value
        _check_escapes(text, most_odd_escapes)
        reader = LegacyReader(
            text, unicode_escapes=unicode_escapes, max_nesting=MAX_NESTING, most_values=most_odd_values
        )
        return reader.read()
    except JsonError as error:
        raise error.under("", {"str": text_of(text[:MOST_SHOWN])}) from None


def _check_escapes(text: bytes, most: int | None) -> None:
    """Refuse a text with too many escapes, each of which takes a microsecond."""
    if most is not None and text.count(b"\\") > most:
        raise JsonError(PARSE_ERROR, f"more than {most} escapes in what is not ordinary JSON")


def _check_depth(text: bytes) -> None:
    """Refuse what nests deeply, counting every bracket, inside strings too."""
    if text.count(b"{") < MAX_OPEN and text.count(b"[") < MAX_OPEN:
        return
    level = {b"{": 0, b"[": 0}
    for match in _BRACKET.finditer(text):
        bracket = match[0]
        if bracket in level:
            level[bracket] += 1
            if level[bracket] >= MAX_OPEN:
                raise too_deep()
        else:
            level[b"{" if bracket == b"}" else b"["] -= 1


def _parse_strict(text: bytes, unicode_escapes: bool) -> tuple[Json, bool]:
    """The value of a standard JSON text, and whether both grammars read it alike."""
    if b"\\" in text and (not unicode_escapes or _SURROGATE.search(text)):
        return None, False
    try:
        value: Json = _STRICT.decode(text_of(text))
    except (ValueError, RecursionError):
        return None, False
    if (text.count(b"[") >= MAX_OPEN or text.count(b"{") >= MAX_OPEN) and _nesting(value) > MAX_NESTING:
        raise too_deep()
    return value, True


def places_of_elements(text: bytes) -> list[tuple[int, int]] | None:
    """Where the elements of an array begin and end, each to be parsed by itself; None for any text that is not an array
    in standard JSON which both grammars read alike.
    """
    if b"\\" in text and _SURROGATE.search(text):
        return None
    _check_depth(text)
    whole = text_of(text)
    places, place, shift, start = [], _past_spaces(whole, 0), 0, 0
    mark, place = whole[place : place + 1], place + 1
    is_ascii = text.isascii()
    if mark != "[":
        return None
    try:
        while mark in ("[", ","):
            start = _past_spaces(whole, place)
            _, end = _STRICT.raw_decode(whole, start)
            before = start + shift
            if not is_ascii:
                shift += len(text_bytes(whole[start:end])) - (end - start)
            places.append((before, end + shift))
            place = _past_spaces(whole, end)
            mark, place = whole[place : place + 1], place + 1
    except (ValueError, RecursionError):
        return None
    return places if mark == "]" and _past_spaces(whole, place) == len(whole) else None


def _past_spaces(text: str, place: int) -> int:
    found = _WHITE.match(text, place)
    return found.end() if found else place


def _nesting(value: Json) -> int:
    depth, level = 0, [value]
    while level := [item for item in level if isinstance(item, list | dict)]:
        depth += 1
        level = [inner for item in level for inner in (item.values() if isinstance(item, dict) else item)]
    return depth


def _first_of_each(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object; of repeated keys the first is the one that is found."""
    found = dict(pairs)
    if len(found) != len(pairs):
        found.update(reversed(pairs))
    return found


def _integer(digits: str) -> int:
    if len(digits) <= 20 and -(1 << 63) <= (value := int(digits)) < 1 << 64:
        return value
    raise ValueError(digits)


def _real(digits: str) -> float | str:
    """A number with an exponent is a word in the legacy grammar; the plus sign would end it."""
    if "e" in digits or "E" in digits:
        if "+" in digits:
            raise ValueError(digits)
        return digits
    value = float(digits)
    if isinf(value):
        raise ValueError(digits)
    return value


def _constant(name: str) -> Any:
    raise ValueError(name)


_STRICT = json.JSONDecoder(
    object_pairs_hook=_first_of_each, parse_float=_real, parse_int=_integer, parse_constant=_constant
)
