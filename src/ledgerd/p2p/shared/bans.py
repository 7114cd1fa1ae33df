"""Offences, which expire, and bans, by address and subnet, of later ones too (spec 04, sections 17 and 27, item 11)."""

from __future__ import annotations

from ledgerd.basics.addresses import Exemption, charged_as, is_loopback
from ledgerd.p2p.wire.endpoints import subnet_of

ADDRESS_LIMIT = 30.0
"""An address with so many offences that have not expired is banned."""
SUBNET_LIMIT = 120.0
"""The limit for a whole subnet."""
FADE_SECONDS = 60.0
"""Seconds after which an offence expires."""
BAN_SECONDS = 3600
REMEMBERED = 4096
"""The number of addresses that are remembered; the oldest are dropped first."""


class Bans:
    """Offences and bans."""

    def __init__(self, exemption: Exemption) -> None:
        self._exemption = exemption
        self._scores: dict[str, tuple[float, float]] = {}
        self._until: dict[str, float] = {}

    def __len__(self) -> int:
        return len(self._scores) + len(self._until)

    def offend(self, address: str, now: float) -> bool:
        is_full = self._count(subnet_of(address), now) > SUBNET_LIMIT
        return self._count(charged_as(address), now) > ADDRESS_LIMIT or is_full

    def ban(self, address: str, now: float, seconds: float) -> None:
        """Ban an address. An exempt address of this machine is not banned: many nodes may share it."""
        if is_loopback(address) and address in self._exemption:
            return
        address = charged_as(address)
        self._until.pop(address, None)
        _make_room(self._until)
        self._until[address] = now + min(seconds, BAN_SECONDS)

    def is_banned(self, address: str, now: float) -> bool:
        address = charged_as(address)
        until = self._until.get(address)
        if until is None:
            return False
        if now >= until:
            del self._until[address]
            return False
        return True

    def banned(self, now: float) -> tuple[str, ...]:
        return tuple(address for address, until in self._until.items() if now < until)

    def forgive_all(self) -> None:
        self._scores.clear()
        self._until.clear()

    def _count(self, key: str, now: float) -> float:
        score, at = self._scores.pop(key, (0.0, now))
        _make_room(self._scores)
        score = max(0.0, score - max(0.0, now - at) / FADE_SECONDS) + 1.0
        self._scores[key] = score, now
        return score


def _make_room(kept: dict[str, float] | dict[str, tuple[float, float]]) -> None:
    while len(kept) >= REMEMBERED:
        kept.pop(next(iter(kept)))
