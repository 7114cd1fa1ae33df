"""Who asks: what the operator is told of, and what is charged."""

from __future__ import annotations

from typing import NamedTuple


class Asker(NamedTuple):
    """A client of a request."""

    address: str = ""
    """As it is charged; empty where there is none."""
    share: str = ""
    """What its broadcasts are charged to: the address, or the connection where many clients share the address."""


NOBODY = Asker()
