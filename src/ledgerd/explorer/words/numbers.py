"""Numbers and amounts as people read them: digits in threes, a thin space between, small ones after the point."""

from __future__ import annotations

import re
from functools import lru_cache

from markupsafe import Markup, escape

THIN = "\u202f"
"""A narrow space at which no line breaks."""

_AMOUNT = re.compile(r"(-?)([0-9]+)(\.[0-9]+)? ([A-Z]{1,16})")


def grouped(number: int | str) -> str:
    """A whole number, its digits in threes. Large ones come from the node as texts."""
    return f"{int(number):,}".replace(",", THIN).replace("-", "\u2212")


@lru_cache(maxsize=4096)
def amount(text: str) -> Markup:
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return escape(text)
    sign = "\u2212" if found[1] else ""
    decimals = f"<small>{found[3]}</small>" if found[3] else ""
    return Markup(  # noqa: S704 - digits and capital letters
        f'<span class="amt">{sign}{grouped(found[2])}{decimals}<span class="unit">{THIN}{found[4]}</span></span>'
    )


def milli(thousandths: int | str) -> Markup:
    return amount(milli_text(thousandths))


def milli_text(thousandths: int | str) -> str:
    return _fixed_point(int(thousandths), 3, "VIZ")


def micro_text(millionths: int | str) -> str:
    return _fixed_point(int(millionths), 6, "SHARES")


def _fixed_point(number: int, digits: int, symbol: str) -> str:
    whole_part, rest = divmod(abs(number), 10**digits)
    return f"{'-' if number < 0 else ''}{whole_part}.{rest:0{digits}} {symbol}"


def units_of(text: str) -> int:
    return int(text.partition(" ")[0].replace(".", ""))


def whole(text: str) -> Markup:
    """An amount without its decimals, where there is little room; its whole is in a tooltip."""
    found = _AMOUNT.fullmatch(text)
    if found is None:
        return escape(text)
    return Markup(  # noqa: S704 - as above
        f'<span class="amt" title="{escape(text)}">{grouped(found[1] + found[2])}'
        f'<span class="unit">{THIN}{found[4]}</span></span>'
    )


def percent(hundredths: int | str) -> str:
    number = int(hundredths)
    whole_part, rest = divmod(abs(number), 100)
    decimals = f".{rest:02}".rstrip("0") if rest else ""
    return f"{chr(0x2212) if number < 0 else ''}{grouped(whole_part)}{decimals}{THIN}%"


def ratio(part: int, total: int) -> str:
    return percent(round(part * 1000 / total) * 10) if total else "—"
