"""The two choices that a browser keeps for a visitor, language and theme, from the `Cookie` of a request.

They are read by hand: a library unescapes quoted values in steps that grow with the square of their length, and whoever
asks decides on that length.
"""

from __future__ import annotations

from collections.abc import Mapping

CHOICES = frozenset(("lang", "theme"))
READ_BYTES = 1_024
"""Of the header; a choice that stands behind them is not known."""


def choices_in(header: bytes) -> Mapping[str, str]:
    """What was chosen, by name; the first of a name counts. Whether such a choice exists is not known here."""
    found: dict[str, str] = {}
    for part in header[:READ_BYTES].decode("latin-1").split(";"):
        name, _, value = part.partition("=")
        if (name := name.strip()) in CHOICES:
            found.setdefault(name, value.strip().strip('"'))
    return found
