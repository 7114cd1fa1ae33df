"""What one address may cost, over all its connections and over those that it begins anew (spec 04, section 27).

An IPv6 address is its /64: that much everybody has. Addresses that the operator exempts are charged by connection.
"""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network

from ledgerd.p2p.shared.budget import TokenBucket

REMEMBERED = 4096
"""Addresses that are kept; who has spoken least lately goes first."""

SERVED_BYTES, SERVED_BYTES_A_SECOND = 16 << 20, 8 << 20
SIGNATURES, SIGNATURES_A_SECOND = 2_000, 200
UNPROVEN_BLOCKS, UNPROVEN_BLOCKS_A_SECOND = 32, 0.05
PUSHED_BYTES, PUSHED_BYTES_A_SECOND = 1 << 20, 16 << 10
"""What an address may cost at once, and in the long run."""

OWN_NETWORK = 64
PRIVATE, NONE = "private", "none"


class Allowance:
    """The budgets of one address."""

    __slots__ = ("pushed", "service", "signatures", "spent", "standing", "unproven")

    def __init__(self, now: float) -> None:
        self.service = TokenBucket(SERVED_BYTES, SERVED_BYTES_A_SECOND, now)
        """Bytes of blocks that it may ask for: far above what anybody can apply."""
        self.signatures = TokenBucket(SIGNATURES, SIGNATURES_A_SECOND, now)
        """Signatures of transactions, each a key to recover."""
        self.unproven = TokenBucket(UNPROVEN_BLOCKS, UNPROVEN_BLOCKS_A_SECOND, now)
        """Blocks of other branches that nobody is known to have signed: kept, but few."""
        self.pushed = TokenBucket(PUSHED_BYTES, PUSHED_BYTES_A_SECOND, now)
        """Bytes of such blocks that are decoded."""
        self.standing = 0
        """How many of its transactions were accepted lately, less some for each that was refused."""
        self.spent = 0.0
        """Seconds that hearing it has taken, for its place among others (`p2p.turns`)."""


class Exemption:
    """Addresses that many nodes may rightly share, so that no limit goes by them."""

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
    """The allowances of all addresses that have been here lately."""

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
