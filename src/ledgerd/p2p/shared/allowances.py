"""What one address may cost, over all its connections and over those that it begins anew (spec 04, section 27).

Addresses that the operator exempts are charged by connection.
"""

from __future__ import annotations

from ledgerd.p2p.shared.budget import Budget
from ledgerd.protocol.addresses import Exemption, charged_as

REMEMBERED = 4096
"""Addresses that are kept; who has spoken least lately goes first."""

SERVED_BYTES, SERVED_BYTES_A_SECOND = 16 << 20, 8 << 20
SIGNATURES, SIGNATURES_A_SECOND = 2_000, 200
UNPROVEN_BLOCKS, UNPROVEN_BLOCKS_A_SECOND = 32, 0.05
PUSHED_BYTES, PUSHED_BYTES_A_SECOND = 1 << 20, 16 << 10
"""What an address may cost at once, and in the long run."""


class Allowance:
    """The budgets of one address."""

    __slots__ = ("pushed", "service", "signatures", "spent", "standing", "unproven")

    def __init__(self, now: float) -> None:
        self.service = Budget(SERVED_BYTES, SERVED_BYTES_A_SECOND, now)
        """Bytes of blocks that it may ask for: far above what anybody can apply."""
        self.signatures = Budget(SIGNATURES, SIGNATURES_A_SECOND, now)
        """Signatures of transactions, each a key to recover."""
        self.unproven = Budget(UNPROVEN_BLOCKS, UNPROVEN_BLOCKS_A_SECOND, now)
        """Blocks of other branches that nobody is known to have signed: kept, but few."""
        self.pushed = Budget(PUSHED_BYTES, PUSHED_BYTES_A_SECOND, now)
        """Bytes of such blocks that are decoded."""
        self.standing = 0
        """How many of its transactions were accepted lately, less some for each that was refused."""
        self.spent = 0.0
        """Seconds that hearing it has taken, for its place among others (`p2p.turns`)."""


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
        return self.named(charged_as(host), now)

    def named(self, name: str, now: float) -> Allowance:
        """The allowance that is charged by a name."""
        allowance = self._kept.pop(name, None) or Allowance(now)
        while len(self._kept) >= REMEMBERED:
            self._kept.pop(next(iter(self._kept)))
        self._kept[name] = allowance
        return allowance
