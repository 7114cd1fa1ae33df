"""Errors for clients: code, message and data as the reference sends them (spec 05, section 6)."""

from __future__ import annotations

from itertools import takewhile
from typing import NamedTuple

from ledgerd.codec.errors import ASSERTION, BAD_CAST, FOREIGN, PARSE_ERROR, DecodeError
from ledgerd.codec.json.errors import JsonError, Layer
from ledgerd.codec.json.text import Json, dumps, quote
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.time_text import time_text

INVALID_REQUEST = -32600
INVALID_PARAMETERS = -32602
NO_PARAMETERS = -32001
UNRESOLVED = -32002
ASSERTED = -32003
OTHER = -32000

MOST_SHOWN = 128 * 1024
"""The most characters of a request that an error repeats; the reference repeats all of it, some of it twice."""

CODEC_EXCEPTIONS: dict[int, tuple[str, str]] = {
    0: ("exception", "unspecified"),
    2: ("timeout_exception", "Timeout"),
    3: ("file_not_found_exception", "File Not Found"),
    4: ("parse_error_exception", "Parse Error"),
    5: ("invalid_arg_exception", "Invalid Argument"),
    6: ("key_not_found_exception", "Key Not Found"),
    7: ("bad_cast_exception", "Bad Cast"),
    8: ("out_of_range_exception", "Out of Range"),
    9: ("canceled_exception", "Canceled"),
    10: ("assert_exception", "Assert Exception"),
    11: ("eof_exception", "End Of File"),
    14: ("invalid_operation_exception", "Invalid Operation"),
    15: ("unknown_host_exception", "Unknown Host"),
    16: ("null_optional", "null optional"),
    17: ("udt_exception", "UDT error"),
    18: ("aes_exception", "AES error"),
    19: ("overflow_exception", "Integer Overflow"),
    20: ("underflow_exception", "Integer Underflow"),
    21: ("divide_by_zero_exception", "Integer Divide By Zero"),
}
"""Name and text of exceptions that are not of the chain (spec 05, section 6.5)."""


class PlainError(Exception):
    """A refusal of which the client gets only a text, and the JSON that another node gave besides."""

    def __init__(self, message: str, code: int = OTHER, data: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.data = data


class ServerFault(PlainError):
    """The same error, if it is no fault of the client: it counts as failed."""


class Unresolved(RuleViolation):
    """A request without the name of a method, or in the wrong form."""


def missing_argument(index: int, count: int) -> PlainError:
    return PlainError(f"vector::_M_range_check: __n (which is {index}) >= this->size() (which is {count})")


class ErrorObject(NamedTuple):
    """The error object of an answer; `data` is JSON text, or empty."""

    code: int
    message: str
    data: str = ""

    @property
    def text(self) -> str:
        data = f',"data":{self.data}' if self.data else ""
        return f'{{"code":{self.code},"message":{quote(self.message)}{data}}}'


def error_object(error: PlainError | RuleViolation | DecodeError, now: int) -> ErrorObject:
    if isinstance(error, PlainError):
        return ErrorObject(error.code, error.message[:MOST_SHOWN], error.data)
    name, what = _words(error)
    room = _Room(MOST_SHOWN)
    said = error.layers if isinstance(error, RuleViolation | JsonError) else [Layer(error.text, {})]
    layers = [Layer(room.taken(each.format), room.shown(each.data)) for each in said]
    message = f"{what} ({error.code})\n" + "".join(f"{layer.text}\n" for layer in layers)
    is_own = error.code != FOREIGN
    entries = ",".join(_entry(layer, is_own and place == 0, now) for place, layer in enumerate(layers))
    data = f'{{"code":{error.code},"name":{quote(name)},"message":{quote(what)},"stack":[{entries}]}}'
    return ErrorObject(_answered_code(error), message, data)


class _Room:
    """The remaining characters for values in an error."""

    def __init__(self, left: int) -> None:
        self._left = left

    def taken(self, text: str) -> str:
        text = text[: self._left]
        self._left -= len(text)
        return text

    def shown(self, data: dict[str, Json]) -> dict[str, Json]:
        return {name: self._value(value) for name, value in data.items()}

    def _value(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.taken(value)
        self._left -= 1
        if isinstance(value, list):
            return [self._value(each) for each in takewhile(self._goes_on, value)]
        if isinstance(value, dict):
            entries = takewhile(self._goes_on, value.items())
            return {self.taken(name): self._value(each) for name, each in entries}
        return value

    def _goes_on(self, _: object) -> bool:
        return self._left > 0


def _answered_code(error: RuleViolation | DecodeError) -> int:
    if isinstance(error, Unresolved):
        return UNRESOLVED
    if error.code in {PARSE_ERROR, BAD_CAST}:
        return INVALID_PARAMETERS
    return ASSERTED if error.code == ASSERTION else OTHER


def _words(error: RuleViolation | DecodeError) -> tuple[str, str]:
    name, what = getattr(error, "name", None), getattr(error, "what", None)
    if name is None or what is None:
        return CODEC_EXCEPTIONS[error.code]
    return str(name), str(what)


def _entry(layer: Layer, is_thrown: bool, now: int) -> str:
    """Without file and line, which cannot equal those of the reference (spec 05, section 6.3)."""
    level = "error" if is_thrown else "warn"
    return (
        f'{{"context":{{"level":"{level}","file":"","line":0,"method":"","hostname":"","thread_name":"",'
        f'"timestamp":"{time_text(now)}"}},"format":{quote(layer.format)},"data":{dumps(layer.data)}}}'
    )
