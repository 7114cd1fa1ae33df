"""Endpoints of peers: a host, by name or number, with a port; and the six bytes of an IPv4 one (spec 04, section 3)."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv6Address, ip_address

import msgspec

from ledgerd.codec.types.numbers import UInt16, UInt32
from ledgerd.protocol.types.endpoint import Endpoint

REMEMBERED = 4096
"""Addresses whose subnet is remembered: that of every peer is asked for with every newcomer."""


class WireEndpoint(msgspec.Struct, frozen=True):
    """An IPv4 address as a number, and a port."""

    address: UInt32
    port: UInt16

    @property
    def endpoint(self) -> Endpoint:
        return Endpoint(str(IPv4Address(self.address)), self.port)


def wire_endpoint(endpoint: Endpoint) -> WireEndpoint | None:
    """The form on the wire; `None` for IPv6 addresses and names, which have none."""
    try:
        return WireEndpoint(int(IPv4Address(endpoint.host)), endpoint.port)
    except AddressValueError:
        return None


def plain_address(host: str) -> str:
    """The canonical spelling of an address: IPv4-mapped IPv6 becomes IPv4, and a zone is removed."""
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(address)


@lru_cache(REMEMBERED)
def subnet_of(host: str) -> str:
    """The subnet that limits count: /24 of IPv4, /48 of IPv6; a name counts as itself."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    kept = 24 if address.version == 4 else 48
    return f"{int(address) >> (address.max_prefixlen - kept):x}/{address.version}"


def is_public(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return False
    return address.is_global and not address.is_multicast
