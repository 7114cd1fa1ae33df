"""The page as it is served. It is the same for everybody; what it shows, it asks for by JSON-RPC."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files

from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.describe.openrpc import released
from ledgerd.rpc.http.responses import Page

HTML = b"text/html; charset=utf-8"
PUBLIC_METHOD, OPERATOR_METHOD = "node_api.follow_status", "operator_api.follow"
REQUEST = '{"jsonrpc":"2.0","id":1,"method":"database_api.get_dynamic_global_properties","params":[]}'
PLACEHOLDERS = re.compile(r"\$(METHOD|REQUEST|LINKS|APIS|VERSION|OTHERS)\b")
OTHER_PAGES = '. <a href="shadow">The node beside another</a>'
"""Pages for the operator, where they are served."""


@cache
def _template() -> str:
    return files(__package__).joinpath("page.html").read_text(encoding="utf-8")


def _inside(tag: str) -> str:
    _, _, rest = _template().partition(f"<{tag}>")
    text, end, _ = rest.partition(f"</{tag}>")
    if not end:
        raise LookupError(f"the page has no <{tag}>")
    return text


def _hash_of(tag: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(_inside(tag).encode()).digest()).decode()}'"


def style() -> str:
    """The style of the page, for others that look like it."""
    return _inside("style")


def style_hash() -> str:
    """The hash of the page's style, for a content security policy."""
    return _hash_of("style")


def policy() -> str:
    """The content security policy: this script and this style, requests to the own origin, and nothing else."""
    return (
        f"default-src 'none'; script-src {_hash_of('script')}; style-src {_hash_of('style')}; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def person_page(apis: Sequence[Api], links: dict[str, str], *, is_operator: bool = False) -> Page:
    listed = (f'<li><a href="{escape(path[1:])}">{escape(path)}</a>: {escape(use)}</li>' for path, use in links.items())
    values = {
        "METHOD": OPERATOR_METHOD if is_operator else PUBLIC_METHOD,
        "REQUEST": escape(REQUEST),
        "LINKS": "".join(listed),
        "APIS": "".join(f"<li><b>{escape(api.name)}</b>: {escape(api.summary)}</li>" for api in apis),
        "VERSION": escape(released()),
        "OTHERS": OTHER_PAGES if is_operator else "",
    }
    text = PLACEHOLDERS.sub(lambda found: values[found[1]], _template())
    return Page(text.encode("utf-8", "replace"), HTML, headers=headers(policy(), "no-cache"))


def headers(policy: str, cached: str) -> bytes:
    """The headers of a page of HTML, with its content security policy and how it may be cached."""
    named = {
        "Cache-Control": cached,
        "Content-Security-Policy": policy,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    return "".join(f"{name}: {value}\r\n" for name, value in named.items()).encode("ascii")


@cache
def operator_page() -> Page:
    return person_page((), {}, is_operator=True)
