"""Who is at the other end of a connection, for limits and locks: which address a limit counts, which are exempt, which
are of this machine, and which user of this machine has connected to a Unix socket.

An IPv6 address counts as its /64, which is the usual size of one customer's network.
"""

from __future__ import annotations

import os
import socket
import struct
import sys
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

OWN_NETWORK = 64
"""Bits of an IPv6 address that name the network of one customer: it counts as one address."""
PRIVATE, NONE = "private", "none"

_CREDENTIALS = struct.Struct("3i")
"""Process, user and group, as `SO_PEERCRED` gives them."""


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
    """The address at which this machine reaches a server of its own that listens at the given one."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    return host if not address.is_unspecified else "127.0.0.1" if address.version == 4 else "::1"


def network_of(word: str) -> IPv4Network | IPv6Network:
    """An address or a network, as the operator writes it; `ValueError` where it is none."""
    return ip_network(word, strict=False)


def connected_user(unix_socket: socket.socket) -> int:
    """The user at the other end. Where the system does not say, the file's mode lets in nobody but our own user."""
    if sys.platform != "linux":
        return os.getuid()
    raw = unix_socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(raw)[1])


def charged_as(host: str) -> str:
    """The address by which limits count a host: for IPv6 its network, for a name the name itself."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if address.version == 4:
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ip_network((int(address) >> OWN_NETWORK << OWN_NETWORK, OWN_NETWORK)))
