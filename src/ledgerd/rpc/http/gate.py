"""Who may ask at an endpoint, by the headers of the request: which pages of the web, under which name of the node.

A browser sends what any page tells it to, so a listener that only this machine reaches is reached by every page that is
open on it. Such a page names itself in `Origin`; one that has its own name point here names that in `Host`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from urllib.parse import urlsplit

from ledgerd.protocol.addresses import charged_as

EVERYBODY = "*"
Network = IPv4Network | IPv6Network


class Gate:
    """The names under which an endpoint is asked, and the origins that may ask."""

    def __init__(self, hosts: Iterable[str], origins: Iterable[str]) -> None:
        self._origins = frozenset(each.lower().rstrip("/") for each in origins)
        named = {urlsplit(each).hostname or "" for each in self._origins}
        self._hosts = frozenset({"localhost", *(each.lower() for each in hosts), *named} - {""})

    def admits(self, headers: Mapping[bytes, bytes]) -> bool:
        """Whether a request with these headers is answered."""
        if EVERYBODY in self._origins:
            return True
        origin, host = headers.get(b"origin"), headers.get(b"host")
        if host is not None and not self._is_known(host.decode("latin-1")):
            return False
        return origin is None or self._may_ask(origin.decode("latin-1").lower(), host)

    def _may_ask(self, origin: str, host: bytes | None) -> bool:
        """Besides the origins that are named, the node's own: programs name it that are no web page, such as published
        clients over WebSocket; and a page of that origin can only come from here.
        """
        is_own = host is not None and origin == f"http://{host.decode('latin-1').lower()}"
        return is_own or origin in self._origins

    def _is_known(self, host: str) -> bool:
        name = _name_of(host).lower()
        return name in self._hosts or is_loopback(name)


def _name_of(host: str) -> str:
    """A host without its port, and without the brackets of an IPv6 address."""
    host = host.strip()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def is_loopback(address: str) -> bool:
    """Whether a text is an address of this machine alone."""
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


class Proxies:
    """The proxies whose word is taken for the addresses of their clients."""

    def __init__(self, trusted: Iterable[str]) -> None:
        self._networks = tuple(ip_network(each, strict=False) for each in trusted)
        self._client = lru_cache(maxsize=1024)(self._found)

    def are(self, address: str) -> bool:
        """Whether an address is one of them."""
        return bool(self._networks) and self._trusts(address)

    def client_of(self, address: str, forwarded: bytes) -> str:
        """The client of a request that came from an address: the last one named that is no trusted proxy."""
        return self._client(address, forwarded) if forwarded and self.are(address) else address

    def _found(self, address: str, forwarded: bytes) -> str:
        for each in reversed(forwarded.decode("latin-1").split(",")):
            named = each.strip()
            if not _is_address(named):
                return address
            if not self._trusts(named):
                return charged_as(named)
        return address

    def _trusts(self, address: str) -> bool:
        try:
            found = ip_address(address)
        except ValueError:
            return False
        return any(found.version == each.version and found in each for each in self._networks)
