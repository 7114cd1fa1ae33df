"""Checks of `Origin` and `Host`: which web pages may send requests to an endpoint, and under which name.

A browser sends requests for any web page, also to a loopback endpoint of its machine. It names the page in `Origin`; a
page that lets its own domain resolve to this machine is recognised by `Host`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from ipaddress import ip_address, ip_network
from urllib.parse import urlsplit

from ledgerd.basics.addresses import charged_as, is_loopback

EVERYBODY = "*"

LONGEST_REMEMBERED = 256
"""Bytes of what a proxy says of a client: a dozen addresses. From anything longer the client is found each time."""


class Gate:
    """The host names of an endpoint, and the origins whose requests it answers."""

    def __init__(
        self, hosts: Iterable[str], origins: Iterable[str], open_paths: frozenset[bytes] = frozenset()
    ) -> None:
        self.open_paths = open_paths
        """Pages that are given under any name, but to no page of another origin."""
        self._origins = frozenset(each.lower().rstrip("/") for each in origins)
        named = {urlsplit(each).hostname or "" for each in self._origins}
        self._hosts = frozenset({"localhost", *(each.lower() for each in hosts), *named} - {""})

    def admits(self, headers: Mapping[bytes, bytes]) -> bool:
        if EVERYBODY in self._origins:
            return True
        origin, host = headers.get(b"origin"), headers.get(b"host")
        if host is not None and not self._is_known(host.decode("latin-1")):
            return False
        return origin is None or self._may_ask(origin.decode("latin-1").lower(), host)

    def _may_ask(self, origin: str, host: bytes | None) -> bool:
        """The allowed origins and the node's own, which published clients send over WebSocket; a page of that origin
        can only be the node's.
        """
        is_own = host is not None and origin == f"http://{host.decode('latin-1').lower()}"
        return is_own or origin in self._origins

    def _is_known(self, host: str) -> bool:
        name = _name_of(host).lower()
        return name in self._hosts or is_loopback(name)


def _name_of(host: str) -> str:
    host = host.strip()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


class Proxies:
    """The proxies that are trusted to name the addresses of their clients."""

    def __init__(self, trusted: Iterable[str]) -> None:
        self._networks = tuple(ip_network(each, strict=False) for each in trusted)
        self._client = lru_cache(maxsize=1024)(self._found)

    def are(self, address: str) -> bool:
        return bool(self._networks) and self._trusts(address)

    def client_of(self, address: str, forwarded: bytes) -> str:
        """The client of a request from an address: the last named one that is no trusted proxy."""
        if not forwarded or not self.are(address):
            return address
        find = self._client if len(forwarded) <= LONGEST_REMEMBERED else self._found
        return find(address, forwarded)

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
