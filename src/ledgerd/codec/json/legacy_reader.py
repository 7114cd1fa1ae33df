"""A reader of one value of the legacy JSON grammar (spec 01, section 4), without recursion: a text may nest deeper
than any stack. The fast path for texts that are ordinary JSON, and the two uses, are in `legacy`.
"""

from __future__ import annotations

import re
from math import isinf

from ledgerd.codec.errors import ASSERTION, EOF, PARSE_ERROR
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.scalars import parse_int64, parse_uint64
from ledgerd.codec.json.text import Json, dumps, text_of

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


def end_of_input() -> JsonError:
    return JsonError(EOF, "stringstream")


def _escaped(text: bytes, pos: int) -> tuple[bytes, int]:
    """The byte that an escape stands for: four escapes have a meaning, else it is the byte after the backslash."""
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
    match = pattern.match(text, pos)
    return match.end() if match else pos


_SPACE = re.compile(rb"[ \t\n\r]*")
_BETWEEN = re.compile(rb"[ \t\n\r,]*")

_NUMBER_STARTS = frozenset(b"-.0123456789")
_TOKEN_STARTS = frozenset(b"ntf")
_INPUT_ENDS = frozenset(b"\x04\xff")
_QUOTE, _OBJECT, _ARRAY, _NUL = b'"{[\0'


def too_deep() -> JsonError:
    return JsonError(ASSERTION, "open_object < 100 && open_array < 100: object graph too deep")


class LegacyReader:
    """A position in a text, and the arrays and objects that are open there."""

    def __init__(
        self,
        text: bytes,
        *,
        unicode_escapes: bool = False,
        max_nesting: int | None = None,
        most_values: int | None = None,
    ) -> None:
        self.text = text
        self.pos = 0
        self._unicode_escapes = unicode_escapes
        self._max_nesting = max_nesting
        self._most_values = most_values
        self._values = 0
        self._open: list[list[Json] | dict[str, Json]] = []
        self._keys: list[str] = []

    def read(self) -> Json:
        try:
            return self._read()
        except JsonError as error:
            raise self._unwound(error) from None

    def finds_value(self) -> bool:
        """Whether there is one. The error of a text that ends too early outside of any object does not list what is
        around the fault, as in `read`: that may lie deeper than any stack.
        """
        try:
            self._read()
        except JsonError as error:
            if error.code == EOF and not any(isinstance(each, dict) for each in self._open):
                raise
            return False
        return True

    def _read(self) -> Json:
        while True:
            self._count()
            self._skip(_SPACE)
            start = self._peek()
            if start in {_OBJECT, _ARRAY}:
                self.pos += 1
                self._enter({} if start == _OBJECT else [])
            else:
                value = self._scalar(start)
                if not self._open:
                    return value
                self._put(value)
            while self._at_close():
                closed = self._open.pop()
                self.pos += 1
                if not self._open:
                    return closed
                self._put(closed)
            if isinstance(self._open[-1], dict):
                self._keys.append(self._key())

    def _count(self) -> None:
        """Count a value: since each takes microseconds, their number in a client's text is limited."""
        self._values += 1
        if self._most_values is not None and self._values > self._most_values:
            raise JsonError(PARSE_ERROR, f"more than {self._most_values} values in what is not ordinary JSON")

    def _enter(self, container: list[Json] | dict[str, Json]) -> None:
        if self._max_nesting is not None and len(self._open) >= self._max_nesting:
            raise too_deep()
        self._open.append(container)

    def _put(self, value: Json) -> None:
        """Add a finished value to the innermost container; of repeated keys the first is the one found."""
        container = self._open[-1]
        if isinstance(container, dict):
            container.setdefault(self._keys.pop(), value)
        else:
            container.append(value)

    def _at_close(self) -> bool:
        self._skip(_BETWEEN)
        return self._peek() == (b"}" if isinstance(self._open[-1], dict) else b"]")[0]

    def _key(self) -> str:
        if self._peek() != _QUOTE:
            read = text_of(self.text[self.pos : self.pos + 1])
            error = JsonError(PARSE_ERROR, "Expected '\"' but read '${char}'", {"char": read})
            raise error.under("while parsing token '${token}'", {"token": ""})
        key, self.pos = read_string(self.text, self.pos + 1, self._unicode_escapes)
        self._skip(_SPACE)
        if self._peek() != b":"[0]:
            raise JsonError(PARSE_ERROR, "Expected ':' after key \"${key}\"", {"key": key})
        self.pos += 1
        return key

    def _scalar(self, start: int) -> Json:
        value: Json
        if start == _QUOTE:
            value, self.pos = read_string(self.text, self.pos + 1, self._unicode_escapes)
        elif start in _NUMBER_STARTS:
            value, self.pos = read_number(self.text, self.pos)
        elif start in _TOKEN_STARTS:
            value, self.pos = read_token(self.text, self.pos)
        elif start in _INPUT_ENDS:
            raise JsonError(EOF, "unexpected end of file")
        elif start == _NUL and not (self._open and isinstance(self._open[-1], list)):
            return None  # and the NUL stays: only in an array would the reference read it endlessly
        else:
            rest, self.pos = read_bare(self.text, self.pos)
            signed = start - 256 if start > 127 else start
            fault = "Unexpected char '${c}' in \"${s}\""
            raise JsonError(PARSE_ERROR, fault, {"c": signed, "s": text_of(rest)})
        return value

    def _skip(self, pattern: re.Pattern[bytes]) -> None:
        match = pattern.match(self.text, self.pos)
        if match:
            self.pos = match.end()

    def _peek(self) -> int:
        if self.pos >= len(self.text):
            raise end_of_input()
        return self.text[self.pos]

    def _unwound(self, error: JsonError) -> JsonError:
        """The error as its callers change it: the end of the input inside an object is a parse error."""
        for container in reversed(self._open):
            if isinstance(container, list):
                error.under("Attempting to parse array ${array}", {"array": container})
            elif error.code == EOF:
                error = JsonError(PARSE_ERROR, "Unexpected EOF: ${e}", {"e": _end_of_file_detail(error)})
            else:
                error.under("Error parsing object")
        return error


def _end_of_file_detail(error: JsonError) -> str:
    """The end of the input as an error around it describes it; the thread's name means nothing."""
    lines = [f"{layer.text}\n    {dumps(layer.data)}" for layer in error.layers]
    lines[0] += "\n    th_0  sstream.cpp:109 peek"
    return "\n".join(["11 eof_exception: End Of File", *lines])
