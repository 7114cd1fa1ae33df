"""Addresses of nodes as people write them. Nothing here connects."""

from __future__ import annotations

from collections.abc import Container
from typing import NamedTuple
from urllib.parse import urlsplit

from ledgerd.basics.addresses import is_loopback
from ledgerd.protocol.errors import OperatorError

WEB, SECURE_WEB, SOCKET, SECURE_SOCKET = "http", "https", "ws", "wss"
SECURE = (SECURE_WEB, SECURE_SOCKET)
PORTS = {WEB: 80, SECURE_WEB: 443, SOCKET: 80, SECURE_SOCKET: 443}
EXAMPLES = {WEB: "http://localhost:8090", SOCKET: "ws://localhost:8091"}


class NodeAddress(NamedTuple):
    """The parts of an address."""

    scheme: str
    host: str
    given_port: int | None
    path: str

    @property
    def port(self) -> int:
        return self.given_port or PORTS[self.scheme]

    @property
    def is_secure(self) -> bool:
        return self.scheme in SECURE

    @property
    def is_this_machine(self) -> bool:
        return is_loopback(self.host) or self.host == "localhost"


def read_address(url: str, schemes: Container[str] = (WEB, SECURE_WEB)) -> NodeAddress:
    """The parts of an address of a node. `OperatorError`: it is none, or has a password in it."""
    example = EXAMPLES[WEB if WEB in schemes else SOCKET]
    try:
        parts = urlsplit(url)
        port = parts.port
        (parts.hostname or "").encode("idna")  # what is connected to
    except ValueError:
        raise OperatorError(f"{url} is no address of a node: {example} is one") from None
    if parts.scheme not in schemes or not parts.hostname:
        raise OperatorError(f"{url} is no address of a node: {example} is one")
    if parts.username or parts.password:
        raise OperatorError("an address with a user name or a password in it is not used, since it would be printed")
    return NodeAddress(parts.scheme, parts.hostname, port, parts.path or "/")
