"""What a page says, as text: without its elements, and with digits that stand together again."""

from __future__ import annotations

import re
from html import unescape

from ledgerd.explorer.words.numbers import THIN

_INVISIBLE = re.compile(r"<(script|style|head)\b.*?</\1>", re.DOTALL)
_INLINE = re.compile(r"</?(?:b|i|em|small|bdi|span|a|abbr)\b[^>]*>")
_TAG = re.compile(r"<[^>]+>")
_GAP = re.compile(r"\s+")


def text_of(page: str) -> str:
    """The words of a page in their order, amounts as the node prints them."""
    without = _INVISIBLE.sub(" ", page)
    plain = unescape(_TAG.sub(" ", _INLINE.sub("", without)))
    joined = re.sub(f"(?<=[0-9]){THIN}(?=[0-9])", "", plain).replace(THIN, " ").replace("\N{MINUS SIGN}", "-")
    return _GAP.sub(" ", joined)
