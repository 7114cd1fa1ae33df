"""Texts of the chain as PostgreSQL can hold them: it knows neither a NUL nor bytes that are not UTF-8."""

from __future__ import annotations

import re
from functools import lru_cache

REPLACEMENT = "\ufffd"

_UNHOLDABLE = re.compile("[\x00\ud800-\udfff]")
_NUL_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_ESCAPED_IN_NAMES = re.compile("[%\x00\ud800-\udfff]")


def mended(text: str) -> tuple[str, bool]:
    """A text with U+FFFD for each NUL and each byte that is not UTF-8, and whether there was one."""
    if text.isascii() and "\0" not in text:
        return text, False
    return _mended(_UNHOLDABLE, REPLACEMENT, text)


def mended_json(text: str) -> tuple[str, bool]:
    """The same of a JSON text, in which a NUL is an escape."""
    changed = False
    if "\\u0000" in text:
        text, changed = _mended(_NUL_IN_JSON, rf"\1{REPLACEMENT}", text)
    if text.isascii():
        return text, changed
    text, odd = _mended(_UNHOLDABLE, REPLACEMENT, text)
    return text, changed or odd


def _mended(odd: re.Pattern[str], instead: str, text: str) -> tuple[str, bool]:
    found, count = odd.subn(instead, text)
    return found, count > 0


@lru_cache(1 << 16)
def name_text(name: str) -> str:
    """A name as a key: one that is not UTF-8 differs from every other all the same, as in `%FF`."""
    return _ESCAPED_IN_NAMES.sub(_escaped, name)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogateescape"))
