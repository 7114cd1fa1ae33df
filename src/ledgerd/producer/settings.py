"""The options of production and of the guard: names, keys, conditions for signing (spec 06, 5.5, 5.6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from ledgerd.producer.signing.signer_place import CertifiedPlace
from ledgerd.protocol.types.endpoint import Endpoint

if TYPE_CHECKING:
    from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey
    from ledgerd.protocol.types.names import AccountName

LOADED_KEYS = "loaded_keys"
"""A file in the data directory with the public keys of the signing keys that a node has loaded."""

DEFAULT_PARTICIPATION = 3300
DEFAULT_COLLISION_TIMEOUT = 21


class NtpSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which servers are asked for the time, how often, and what is believed. Times are in seconds or milliseconds, as
    the options give them.
    """

    servers: tuple[Endpoint, ...] = ()
    request_interval: int = 900
    retry_interval: int = 300
    round_trip_threshold: int = 150
    history_size: int = 5
    rejection_threshold_pct: int = 50
    rejection_min_threshold: int = 5

    @property
    def pause(self) -> int:
        return max(1, min(self.retry_interval, self.request_interval))


class ProducerSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Names, keys and guards; the keys never show in a text of this record."""

    allows_stale: bool = False
    required_participation: int = DEFAULT_PARTICIPATION
    names: tuple[AccountName, ...]
    keys: Mapping[PublicKey, PrivateKey]
    key_files: tuple[Path, ...] = ()
    options_keys: tuple[PrivateKey, ...] = ()
    """The others, which are in options."""
    ntp: NtpSettings = NtpSettings()
    collision_timeout: int = DEFAULT_COLLISION_TIMEOUT
    is_verbose: bool = False
    checks_doppelganger: bool = False
    signer: CertifiedPlace = CertifiedPlace()
    take_over: Path | None = None
    """The data directory of a node whose production begins here once it has ended."""

    @property
    def is_signed_elsewhere(self) -> bool:
        return self.signer.place is not None

    def with_keys_of_files(self, keys: Iterable[PrivateKey]) -> ProducerSettings:
        return msgspec.structs.replace(self, keys=keyring([*self.options_keys, *keys]))

    @property
    def is_emergency_master(self) -> bool:
        """Whether the committee's blocks, which carry a network through an emergency, are made here."""
        from ledgerd.protocol.constants import COMMITTEE_ACCOUNT  # noqa: PLC0415 - not loaded to read options

        return COMMITTEE_ACCOUNT in self.names


class Watched(NamedTuple):
    """A validator to watch over: the key that it shall sign blocks with, and the one that can say so."""

    signing: PrivateKey
    active: PrivateKey


class GuardSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Which validators are watched over, and when they are switched off and on."""

    enabled: bool = True
    watched: Mapping[AccountName, Watched]
    interval: int = 20
    disable: int = 5
    """Blocks in a row after which a validator is switched off; 0 for never."""
    disable_on_shutdown: bool = True
    shutdown_grace: int = 10
    disable_max: int = 3
    """How often a validator is switched off before it stays so; 0 for any number."""
    allows_stale: bool = False
    """Whether blocks are made on a stale chain too: an option of the producer."""


def keyring(keys: Iterable[PrivateKey]) -> dict[PublicKey, PrivateKey]:
    return {key.public: key for key in keys}
