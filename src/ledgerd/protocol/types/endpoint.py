"""A host with a port, as in options and in the addresses of peers, clients and snapshot servers."""

from __future__ import annotations

from typing import NamedTuple

LARGEST_PORT = 65_535


class Endpoint(NamedTuple):
    """A host, by name or by number, and a port of it."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"
