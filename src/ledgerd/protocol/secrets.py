"""Removes private keys from texts for people, such as log lines and errors."""

from __future__ import annotations

import re

PUBLISHED_COMMITTEE_KEY = "5Hw9YPABaFxa2LooiANLrhUK5TPryy8f7v9Y1rk923PuYqbYdfC"
"""The published key of the test network, which is no secret."""

HIDDEN = "(a private key)"

_SECRET = re.compile(
    # A key in WIF has 51 or 52 characters of base58; one that was cut or mistyped tells most of it.
    r"(?<![1-9A-HJ-NP-Za-km-z])[5KL][1-9A-HJ-NP-Za-km-z]{29,}"
    # A whole one may stand right after other letters; a public key, of `VIZ` and 50 characters, has no room for one.
    r"|[5KL][1-9A-HJ-NP-Za-km-z]{50,}"
    # The same as plain bytes.
    r"|(?<![0-9A-Fa-f])[0-9A-Fa-f]{64}(?![0-9A-Fa-f])"
)


def without_keys(text: str) -> str:
    return _SECRET.sub(HIDDEN, text)


def holds_key(text: str) -> bool:
    return _SECRET.search(text) is not None
