"""Rate limits of an address, over all of its connections, past ones included (spec 04, section 27).

An IPv6 address counts as its /64, which is the usual size of one customer's network. Addresses that the operator
exempts are limited by connection.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from ledgerd.p2p.shared.budget import TokenBucket

REMEMBERED = 4096
"""The number of addresses that are remembered; the least recently active is dropped first."""

SERVED_BYTES, SERVED_BYTES_A_SECOND = 16 << 20, 8 << 20
SIGNATURES, SIGNATURES_A_SECOND = 2_000, 200
UNPROVEN_BLOCKS, UNPROVEN_BLOCKS_A_SECOND = 32, 0.05
PUSHED_BYTES, PUSHED_BYTES_A_SECOND = 1 << 20, 16 << 10
"""A burst, and a rate per second."""

OWN_NETWORK = 64
PRIVATE, NONE = "private", "none"


class Allowance:
    """The rate limits of one address."""

    __slots__ = ("pushed", "service", "signatures", "spent", "standing", "unproven")

    def __init__(self, now: float) -> None:
        self.service = TokenBucket(SERVED_BYTES, SERVED_BYTES_A_SECOND, now)
        """Bytes of blocks that it may request: far more than a node can apply."""
        self.signatures = TokenBucket(SIGNATURES, SIGNATURES_A_SECOND, now)
        """Signatures of transactions: for each a key is recovered."""
        self.unproven = TokenBucket(UNPROVEN_BLOCKS, UNPROVEN_BLOCKS_A_SECOND, now)
        """Blocks of other branches whose signature could not be verified; few of them are kept."""
        self.pushed = TokenBucket(PUSHED_BYTES, PUSHED_BYTES_A_SECOND, now)
        """Bytes of such blocks that are decoded."""
        self.standing = 0
        """Its recently accepted transactions, less some for each refused one."""
        self.spent = 0.0
        """Seconds spent on its messages, by which `p2p.turns` orders the addresses."""


class Exemption:
    """Addresses that many nodes may share, so that no limit by address holds for them."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self._is_private = PRIVATE in words
        self._networks = tuple(network_of(word) for word in words if word not in (PRIVATE, NONE))

    def __contains__(self, host: object) -> bool:
        try:
            address = ip_address(str(host))
        except ValueError:
            return False
        return (self._is_private and address.is_private) or any(address in network for network in self._networks)


def network_of(word: str) -> IPv4Network | IPv6Network:
    """An address or a network, as the operator writes it; `ValueError` where it is none."""
    return ip_network(word, strict=False)


def charged_as(host: str) -> str:
    """What an address is charged as."""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if address.version == 4:
        return host
    return f"{int(address) >> (address.max_prefixlen - OWN_NETWORK):x}::/{OWN_NETWORK}"


class Allowances:
    """The allowances of all recently active addresses."""

    def __init__(self, exemption: Exemption) -> None:
        self._exemption = exemption
        self._kept: dict[str, Allowance] = {}

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, host: str, now: float) -> Allowance:
        """The allowance of an address; a new one each time where it is exempt."""
        if host in self._exemption:
            return Allowance(now)
        name = charged_as(host)
        allowance = self._kept.pop(name, None) or Allowance(now)
        while len(self._kept) >= REMEMBERED:
            self._kept.pop(next(iter(self._kept)))
        self._kept[name] = allowance
        return allowance
