"""The heads of answers: what a browser may do with a page, which is to show it and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
USUAL = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": POLICY,
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "Server": "ledgerd",
    "Vary": "Accept-Language, Cookie",
    "X-Content-Type-Options": "nosniff",
}


def head_of(status: int, form: str, length: int | None, more: Mapping[str, str] | None, *, closes: bool) -> bytes:
    """The head of an answer; without a length its body comes in chunks, or, where it closes, until the end."""
    named = {**USUAL, "Content-Type": form, **(more or {})}
    if length is not None:
        named["Content-Length"] = str(length)
    elif not closes:
        named["Transfer-Encoding"] = "chunked"
    if closes:
        named["Connection"] = "close"
    lines = "".join(f"{name}: {_safe(value)}\r\n" for name, value in named.items())
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{lines}\r\n".encode("latin-1", "replace")


def _safe(value: str) -> str:
    return value.replace("\r", "").replace("\n", "")
