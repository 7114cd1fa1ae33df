"""What a producer is told: whose blocks it makes, with which keys, and when it should rather not."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.keys import PrivateKey, PublicKey
from ledgerd.protocol.names import AccountName

DEFAULT_PARTICIPATION = 3300
DEFAULT_COLLISION_TIMEOUT = 21


class ProducerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Names, keys and guards; the keys never show in a text of this record."""

    names: tuple[AccountName, ...]
    keys: dict[PublicKey, PrivateKey]
    allows_stale: bool = False
    required_participation: int = DEFAULT_PARTICIPATION
    collision_timeout: int = DEFAULT_COLLISION_TIMEOUT
    is_verbose: bool = False

    @property
    def is_emergency_master(self) -> bool:
        """Whether the committee's blocks, which carry a network through an emergency, are made here."""
        return COMMITTEE_ACCOUNT in self.names


def keyring(keys: Iterable[PrivateKey]) -> dict[PublicKey, PrivateKey]:
    """Private keys by their public ones."""
    return {key.public: key for key in keys}
