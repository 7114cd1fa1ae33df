"""The answer cache: answers that depend only on the head block, by the bytes of the request without its id.

Errors are not cached, so no client gets the error or the id of another (spec 05, section 3, lists what the reference's
cache confuses).
"""

from __future__ import annotations

import re
from collections.abc import Callable

MOST_BYTES = 32 * 1024 * 1024
"""Bytes of the answers of one worker that are kept."""
LONGEST_REQUEST = 4 * 1024
"""Bytes of a request whose answer is kept."""
LONGEST_ANSWER = 1024 * 1024
"""Bytes of an answer that is kept."""

_MARK = b'"id"'
_LAST_MARK = _MARK + b":"
_LONGEST_END = len(b"999999999}")
"""Bytes behind the beginning of a request: a number as its id, and the bracket that closes it."""
# Ids whose text in the answer is their text in the request: small whole numbers, and strings without escapes.
_ID = re.compile(rb'"id"[ \t\r\n]*:[ \t\r\n]*((?:0|[1-9][0-9]{0,8})(?=[ \t\r\n]*[,}])|"[A-Za-z0-9_.-]{0,64}")')


class CachedAnswer:
    """An answer without its id and closing brace, and how often it was given since that was last asked."""

    __slots__ = ("hits", "method", "opening")

    def __init__(self, opening: bytes, method: str) -> None:
        self.opening = opening
        self.method = method
        self.hits = 0


class AnswerCache:
    """Answers by request. When it is full, all are dropped."""

    def __init__(self, entries: int = 10_000, most_bytes: int = MOST_BYTES) -> None:
        self._entries = entries
        self._most_bytes = most_bytes
        self._openings: dict[bytes, CachedAnswer] = {}
        self._by_beginning: dict[bytes, CachedAnswer] = {}
        """The same answers, for requests that end with a number as id, as most clients write them."""
        self._bytes = 0
        self.on_hits: Callable[[str, int], None] | None = None
        """Called with a method and how many answers of it came from the cache; None where nobody counts them."""

    def find(self, body: bytes) -> bytes | None:
        beginning, _, end = body.rpartition(_LAST_MARK)
        kept = self._by_beginning.get(beginning)
        if kept is not None and len(end) <= _LONGEST_END and end[-1:] == b"}":
            identity = end[:-1]
            if identity.isdigit() and not identity.startswith(b"0"):
                kept.hits += 1
                return kept.opening + end
        if not self._openings:
            return None
        template, identity = split_id(body)
        kept = self._openings.get(template)
        if kept is None:
            return None
        kept.hits += 1
        return b"%b%b}" % (kept.opening, identity)

    def keep(self, body: bytes, identity: str, opening: bytes, method: str = "") -> None:
        if not self._entries or len(body) > LONGEST_REQUEST or len(opening) > LONGEST_ANSWER:
            return
        template, found = split_id(body)
        if not template or found != identity.encode("utf-8", "surrogateescape"):
            return
        size = len(template) + len(opening)
        if len(self._openings) >= self._entries or self._bytes + size > self._most_bytes:
            self.clear()
        kept = self._openings[template] = CachedAnswer(opening, method)
        self._bytes += size
        if template.endswith(_LAST_MARK + b"}"):
            # The mark occurs only here, and there is no escape: any request that begins like this is the same one.
            self._by_beginning[template[: -len(_LAST_MARK) - 1]] = kept
            self._bytes += len(template)

    def clear(self) -> None:
        self.report_hits()
        self._openings.clear()
        self._by_beginning.clear()
        self._bytes = 0

    def report_hits(self) -> None:
        if self.on_hits is not None:
            for kept in self._openings.values():
                if kept.hits:
                    self.on_hits(kept.method, kept.hits)
                    kept.hits = 0

    def __len__(self) -> int:
        return len(self._openings)


def split_id(body: bytes) -> tuple[bytes, bytes]:
    """Empty if the id cannot be found without parsing. The mark occurs once, and no escape, which could spell it."""
    if len(body) > LONGEST_REQUEST or body.count(_MARK) != 1 or b"\\" in body:
        return b"", b""
    match = _ID.search(body)
    if match is None:
        return b"", b""
    start, end = match.span(1)
    return body[:start] + body[end:], body[start:end]
