"""From the body of a request to its JSON, within limits of memory and time, whatever a stranger has sent."""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from contextlib import contextmanager

from ledgerd.codec.json.legacy import parse, places_of_elements
from ledgerd.codec.json.text import Json
from ledgerd.rpc.call.errors import INVALID_REQUEST, PlainError

LARGE = 256 * 1024
"""Larger bodies are parsed in a thread, so that other requests need not wait for them."""

MOST_ODD_VALUES = 20_000
"""The most values of a request that is not standard JSON, whose parser is slow: a tenth of a second of work."""

MOST_ODD_ESCAPES = 200_000
"""The most escapes in its strings: a quarter of a second of work."""

MOST_VALUES = 1_000_000
"""The most values and keys of a request: each needs many times its bytes in memory."""

MOST_WIDE_BYTES = 16_000_000
"""The largest body with a character beyond U+FFFF: of a text that has one, each character takes four bytes."""

_ARRAY = re.compile(rb"[ \t\n\r]*\[")
_STEP = 1 << 22
_WIDE = re.compile(rb"[\xf0-\xff]")


def read_request(body: bytes) -> Json:
    return parse(body, unicode_escapes=True, most_odd_values=MOST_ODD_VALUES, most_odd_escapes=MOST_ODD_ESCAPES)


class LargeBatch:
    """The requests of a large batch, each read when its turn comes: together they would take many times their bytes."""

    def __init__(self, body: bytes, places: list[tuple[int, int]]) -> None:
        self._body = body
        self._places = places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[Json]:
        for start, end in self._places:
            yield read_request(self._body[start:end])


def read_large_request(body: bytes) -> Json | LargeBatch:
    """The JSON of a large body: refused before it is read if that would take too much memory."""
    if sum(body.count(mark) for mark in (b",", b"[", b"{", b":")) > MOST_VALUES:
        raise PlainError(f"A request holds at most {MOST_VALUES} values", INVALID_REQUEST)
    if len(body) > MOST_WIDE_BYTES and not body.isascii() and _is_wide(body):
        raise PlainError(
            f"A request with characters beyond U+FFFF has at most {MOST_WIDE_BYTES} bytes", INVALID_REQUEST
        )
    with _uncollected():
        places = places_of_elements(body) if _ARRAY.match(body) else None
        return LargeBatch(body, places) if places else read_request(body)


def _is_wide(body: bytes) -> bool:
    """Whether a character is beyond U+FFFF; in steps, between which other threads have their turns."""
    return any(_WIDE.search(body, start, start + _STEP) for start in range(0, len(body), _STEP))


@contextmanager
def _uncollected() -> Iterator[None]:
    """No search for cycles meanwhile: JSON has none, and each search would stop all threads for a tenth of a second."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
