"""Strings, numbers and bare words of the legacy JSON grammar (spec 01, section 4): bytes and a position in, a
value and the position after it out. What they stand in, arrays and objects, is read in `legacy_reader`.
"""

from __future__ import annotations

import re
from math import isinf

from ledgerd.codec.errors import EOF, PARSE_ERROR
from ledgerd.codec.json_errors import JsonError
from ledgerd.codec.json_scalars import parse_int64, parse_uint64
from ledgerd.codec.json_text import Json

_PLAIN = re.compile(rb'[^"\\\x04]*')
_BARE = re.compile(rb"[A-Za-z0-9_\-.:/]*")
_NUMBER = re.compile(rb"-?[0-9]*(?:\.[0-9]*)?")
_TOKEN = re.compile(rb"[nultrefas]*")
_LETTER = re.compile(rb"[A-Za-z]")
_UNICODE = re.compile(rb"\\u([0-9A-Fa-f]{4})")

_ESCAPES = {b"t": b"\t", b"n": b"\n", b"r": b"\r"}
_STANDARD_ESCAPES = {**_ESCAPES, b"b": b"\b", b"f": b"\f"}
_WORD_ENDS = {b"\t", b" ", b"\0", b"\n"}
_TOKENS: dict[bytes, Json] = {b"null": None, b"true": True, b"false": False}


def text_of(raw: bytes | bytearray) -> str:
    """Bytes as the house carries them in `str`: what is not UTF-8 becomes surrogate escapes."""
    return raw.decode("utf-8", "surrogateescape")


def end_of_input() -> JsonError:
    return JsonError(EOF, "stringstream")


def _escaped(text: bytes, pos: int) -> tuple[bytes, int]:
    """What the backslash at the position stands for: four escapes, else the byte that follows it."""
    following = text[pos + 1 : pos + 2]
    if not following:
        raise end_of_input().under("Stream ended with '\\'")
    return _ESCAPES.get(following, following), pos + 2


def _standard_escaped(text: bytes, pos: int) -> tuple[bytes, int]:
    r"""As `_escaped`, but with the escapes of standard JSON; a `\u` that names no character stays legacy."""
    unit = _UNICODE.match(text, pos)
    if unit is None:
        following = text[pos + 1 : pos + 2]
        return (_STANDARD_ESCAPES[following], pos + 2) if following in _STANDARD_ESCAPES else _escaped(text, pos)
    code, end = int(unit[1], 16), unit.end()
    if 0xD800 <= code < 0xDC00 and (low := _UNICODE.match(text, end)) and 0xDC00 <= int(low[1], 16) < 0xE000:
        code = 0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00
        end = low.end()
    return (chr(code).encode(), end) if not 0xD800 <= code < 0xE000 else _escaped(text, pos)


def read_string(text: bytes, pos: int, unicode_escapes: bool) -> tuple[str, int]:
    """A string whose opening quote stands just before the position."""
    end = _end(_PLAIN, text, pos)
    if text[end : end + 1] == b'"':
        return text_of(text[pos:end]), end + 1
    token = bytearray(text[pos:end])
    try:
        while (mark := text[end : end + 1]) == b"\\":
            escaped, pos = _standard_escaped(text, end) if unicode_escapes else _escaped(text, end)
            end = _end(_PLAIN, text, pos)
            token += escaped + text[pos:end]
        if mark != b'"':
            raise _unfinished(mark, token)
    except JsonError as error:
        raise error.under("while parsing token '${token}'", {"token": text_of(token)}) from None
    return text_of(token), end + 1


def _unfinished(mark: bytes, token: bytearray) -> JsonError:
    """A string that ends with the input, or with the one byte that it may not hold."""
    if not mark:
        return end_of_input()
    fault = "EOF before closing '\"' in std::string '${token}'"
    return JsonError(PARSE_ERROR, fault, {"token": text_of(token)})


def read_bare(text: bytes, pos: int) -> tuple[bytes, int]:
    """The tail of an unquoted word; the white space (or NUL) that ends it is consumed with it."""
    token = bytearray()
    while True:
        end = _end(_BARE, text, pos)
        token += text[pos:end]
        mark = text[end : end + 1]
        if mark != b"\\":
            return bytes(token), end + (mark in _WORD_ENDS)
        if end + 1 == len(text):
            return bytes(token), end + 1
        escaped, pos = _escaped(text, end)
        token += escaped


def read_number(text: bytes, pos: int) -> tuple[Json, int]:
    """A number; one that runs into a letter, `1e5` or `0x10`, is a string."""
    end = _end(_NUMBER, text, pos)
    digits = text[pos:end]
    if text[end : end + 1] == b".":
        raise JsonError(PARSE_ERROR, "Can't parse a number with two decimal places")
    if _LETTER.match(text, end):
        tail, end = read_bare(text, end)
        return text_of(digits + tail), end
    if digits in {b".", b"-."}:
        fault = 'Can\'t parse token "${token}" as a JSON numeric constant'
        raise JsonError(PARSE_ERROR, fault, {"token": digits.decode()})
    if b"." in digits:
        return _double(digits), end
    parse = parse_int64 if digits.startswith(b"-") else parse_uint64
    return parse(digits.decode()), end


def _double(digits: bytes) -> float:
    value = float(digits)
    if isinf(value):
        raise JsonError(PARSE_ERROR, "Couldn't parse double")
    return value


def read_token(text: bytes, pos: int) -> tuple[Json, int]:
    """`null`, `true` or `false`; any other word that begins like one of them is a string."""
    end = _end(_TOKEN, text, pos)
    word = text[pos:end]
    if word in _TOKENS:
        return _TOKENS[word], end
    tail, end = read_bare(text, end)
    return text_of(word + tail), end


def _end(pattern: re.Pattern[bytes], text: bytes, pos: int) -> int:
    """Where a pattern that always matches stops."""
    match = pattern.match(text, pos)
    return match.end() if match else pos
