"""Rate limits of an address, over all of its connections, past ones included (spec 04, section 27).

Addresses that the operator exempts are charged by connection.
"""

from __future__ import annotations

from ledgerd.basics.addresses import Exemption, charged_as
from ledgerd.basics.quotas import Quota, Recent

REMEMBERED = 4096
"""The number of addresses that are remembered; the least recently active is dropped first."""

SERVED_BYTES, SERVED_BYTES_A_SECOND = 16 << 20, 8 << 20
SERVED_TO_ALL, SERVED_TO_ALL_A_SECOND, SERVED_IN_ANY_CASE = 64 << 20, 32 << 20, 2 << 20
"""Bytes of blocks that all addresses may request together. Of what others use up each keeps a part of that rate, and at
first so many bytes: as much as one reply has.
"""
SIGNATURES, SIGNATURES_A_SECOND = 2_000, 200
UNPROVEN_BLOCKS, UNPROVEN_BLOCKS_A_SECOND = 32, 0.05
PUSHED_BYTES, PUSHED_BYTES_A_SECOND = 1 << 20, 16 << 10
OFFERED, OFFERED_A_SECOND = 1_500, 150
REPEATED, REPEATED_A_SECOND = 200, 15
"""A burst, and a rate per second. The last two together are less than the signatures that another node takes of us; so
are the repeated ones alone where it refuses them, which costs ten times as much besides.
"""

EASY_SECONDS, SECONDS_OF_A_SIGNATURE = 0.01, 0.001
"""What a refused transaction may take without being charged for it, and beyond that for how long it costs as much as a
signature: ten times as long as one takes, as the honest may pass on what other nodes still accept.
"""

MEMBERS_OF_A_SIGNATURE = 50
"""So many keys and members of authorities take about as long to look at as a key takes to recover."""


def signatures_of_time(seconds: float) -> int:
    """The signatures that are charged for the time that a refused transaction took."""
    return int(max(0.0, seconds - EASY_SECONDS) / SECONDS_OF_A_SIGNATURE)


class Allowance:
    """The rate limits of one address."""

    __slots__ = (
        "handicap",
        "offered",
        "pushed",
        "repeated",
        "reputation",
        "service",
        "signatures",
        "spent",
        "unproven",
        "useful",
    )

    def __init__(self, now: float) -> None:
        self.service = Quota(SERVED_BYTES, SERVED_BYTES_A_SECOND, now)
        """Bytes of blocks that it may request: far more than a node can apply."""
        self.signatures = Quota(SIGNATURES, SIGNATURES_A_SECOND, now)
        """Signatures of transactions: for each a key is recovered."""
        self.unproven = Quota(UNPROVEN_BLOCKS, UNPROVEN_BLOCKS_A_SECOND, now)
        """Blocks of other branches whose signature could not be verified; few of them are kept."""
        self.pushed = Quota(PUSHED_BYTES, PUSHED_BYTES_A_SECOND, now)
        """Bytes of such blocks that are decoded."""
        self.offered = Quota(OFFERED, OFFERED_A_SECOND, now)
        """Transactions of clients that it is sent: signatures, or parts of 512 bytes (`p2p.talk.offers`)."""
        self.repeated = Quota(REPEATED, REPEATED_A_SECOND, now)
        """Transactions of clients that it is sent again: counted likewise."""
        self.reputation = 0
        """Transactions of the peer that were accepted lately, less some for each refused one."""
        self.spent = 0.0
        """Seconds spent on its messages, without useful ones, by which `p2p.turns` orders the addresses."""
        self.handicap = 0.0
        """Seconds added to `spent`, so that the peer comes after others who have cost more."""
        self.useful = 0
        """Blocks of the peer that were applied, and its transactions that were accepted."""


class Allowances:
    """The allowances of all recently active addresses."""

    def __init__(self, exemption: Exemption) -> None:
        self._exemption = exemption
        self._recent = Recent(Allowance, REMEMBERED)

    def __len__(self) -> int:
        return len(self._recent.kept)

    def of(self, host: str, now: float) -> Allowance:
        return Allowance(now) if host in self._exemption else self._recent.of(charged_as(host), now)
