"""One value of the ledger as HTML: names, keys, ids and amounts as links and figures, texts of strangers escaped."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from unicodedata import category
from urllib.parse import quote, urlsplit

from markupsafe import Markup, escape

from ledgerd.basics.printable import is_shown, printable

LONGEST_TEXT = 240
"""Characters of a stranger's text that are shown at once."""
WEB = ("http://", "https://")
LONGEST_URL = 2_048
"""Characters of an address that a page makes a link of."""
SHOWN_URL = 60
NO_TRANSACTION = "0" * 40
"""The id of a transaction in what a step of the block brought about."""
REMEMBERED = 4_096
"""Values of a kind whose links are remembered: on the pages of one chain the same ones stand again and again."""

NULL_KEY = "1111111111111111111111111111111114T1Anm"
"""The key of nobody, behind the letters of the network."""
NONE = Markup('<span class="none">—</span>')

_STYLES = "\ufe0e\ufe0f"
"""Characters that choose how the one before them is drawn; many emoji have one."""


def visible(text: str) -> str:
    """A text in which one sign stands for each character that is not seen: what is obeyed, turns the direction of
    writing or prints nothing could make it look like another.
    """
    if printable(text) is text:
        return text
    return text.translate({ord(each): "\N{REPLACEMENT CHARACTER}" for each in set(text) if not _is_seen(each)})


def _is_seen(letter: str) -> bool:
    return is_shown(letter) or letter in _STYLES or category(letter) == "Zs"


def visible_lines(text: str) -> str:
    return "\n".join(visible(line) for line in text.split("\n"))


def quoted(text: object, most: int = LONGEST_TEXT) -> Markup:
    """A stranger's text, isolated from the direction of what is around it."""
    shown = visible(str(text)[: most + 1])
    if len(shown) > most:
        shown = shown[: most - 1] + "…"
    return Markup(f"<bdi>{escape(shown)}</bdi>")  # noqa: S704 - escaped


def account(name: object) -> Markup:
    return _account(str(name))


@lru_cache(maxsize=REMEMBERED)
def _account(text: str) -> Markup:
    if not text:
        return NONE
    return Markup('<a class="name" href="/account/%s">%s</a>') % (quote(text, safe=""), visible(text))


def key(text: object, *, full: bool = False) -> Markup:
    return _key(str(text), full)


@lru_cache(maxsize=REMEMBERED)
def _key(shown: str, full: bool) -> Markup:
    if shown.endswith(NULL_KEY):
        return NONE
    if full:
        return Markup('<a class="key" href="/key/%s">%s</a>') % (quote(shown, safe=""), shown)
    return Markup('<a class="key" href="/key/%s" title="%s">%s…%s</a>') % (
        quote(shown, safe=""),
        shown,
        shown[:9],
        shown[-5:],
    )


def block(number: object) -> Markup:
    return _block(int(str(number)))


@lru_cache(maxsize=REMEMBERED)
def _block(number: int) -> Markup:
    shown = f"{number:,}".replace(",", "\u202f")
    return Markup(f'<a class="num" href="/block/{number}">{shown}</a>')  # noqa: S704 - a number


def transaction(identifier: object) -> Markup:
    text = str(identifier)
    if text == NO_TRANSACTION:
        return NONE
    return Markup('<a class="hash" href="/tx/%s" title="%s">%s…</a>') % (quote(text, safe=""), text, text[:8])


def market(number: object) -> Markup:
    return Markup('<a href="/market/%d">#%d</a>') % (int(str(number)), int(str(number)))


def request(number: object) -> Markup:
    return Markup('<a href="/committee/%d">#%d</a>') % (int(str(number)), int(str(number)))


def outside(url: object) -> Markup:
    """A link out, only for http and https; anything else is shown as text. Nothing is fetched."""
    text = str(url)
    if not text:
        return NONE
    shown = quoted(text, SHOWN_URL)
    try:
        parts = urlsplit(text)
        is_link = text.startswith(WEB) and bool(parts.hostname) and text == visible(text)
    except ValueError:
        is_link = False
    if not is_link or len(text) > LONGEST_URL:
        return shown
    return Markup('<a class="out" href="%s" rel="nofollow noopener noreferrer ugc">%s</a>') % (text, shown)


def authority(value: Mapping[str, Any], *, full: bool = False) -> Markup:
    members = [(key(name, full=full), weight) for name, weight in value["key_auths"]]
    members += [(account(name), weight) for name, weight in value["account_auths"]]
    if not members:
        return NONE
    threshold = value["weight_threshold"]
    if all(weight >= threshold for _, weight in members):
        return Markup(", ").join(shown for shown, _ in members)
    listed = Markup(" + ").join(Markup("%s ×%d") % (shown, weight) for shown, weight in members)  # noqa: RUF001
    return Markup("%s ≥ %d") % (listed, threshold)


def joined(parts: list[Markup]) -> Markup:
    return Markup(", ").join(parts) if parts else NONE
