"""IP addresses in limits: the address that a limit counts, addresses that are exempt, and those of this machine.

An IPv6 address counts as its /64, which is the usual size of one customer's network.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

OWN_NETWORK = 64
PRIVATE, NONE = "private", "none"


class Exemption:
    """Addresses that many nodes or clients may share, so that no limit by address holds for them."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self._is_private = PRIVATE in words
        self._networks = tuple(network_of(word) for word in words if word not in (PRIVATE, NONE))

    def __contains__(self, host: object) -> bool:
        try:
            address = ip_address(str(host))
        except ValueError:
            return False
        return (self._is_private and address.is_private) or any(address in network for network in self._networks)


def is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def reached_at(host: str) -> str:
    """Where what listens at an address is reached from its own machine."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return host if not address.is_unspecified else "127.0.0.1" if address.version == 4 else "::1"


def network_of(word: str) -> IPv4Network | IPv6Network:
    """An address or a network, as the operator writes it; `ValueError` where it is none."""
    return ip_network(word, strict=False)


def charged_as(host: str) -> str:
    """The address that limits count; a name counts as itself."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ip_network((int(address) >> OWN_NETWORK << OWN_NETWORK, OWN_NETWORK)))
