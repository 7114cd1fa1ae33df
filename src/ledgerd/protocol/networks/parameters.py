"""The parameters in which networks differ, and those of mainnet and testnet (spec 01, section 13). A private network is
read from a file by `chain_file`. What all networks share is in `constants`.
"""

from __future__ import annotations

import hashlib
from typing import Annotated

import msgspec
from msgspec import Meta

from ledgerd.codec.json.text import text_bytes
from ledgerd.codec.types.varint import pack_varint
from ledgerd.protocol.constants import BLOCKS_PER_YEAR, COMMITTEE_MAX_DURATION, EMERGENCY_MISSED_ROUNDS
from ledgerd.protocol.crypto.keys import PublicKey, public_key_from_text
from ledgerd.protocol.networks.genesis_accounts import GenesisAccount, embedded_genesis
from ledgerd.protocol.networks.hardforks import MAINNET_HARDFORKS, TESTNET_HARDFORKS, Hardfork
from ledgerd.protocol.types.identifiers import ChainId
from ledgerd.protocol.types.versions import hardfork_version_of

MICRO = 1_000_000

Moment = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]
"""Seconds since 1970."""


class NetworkClock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A clock that was set at a moment, and runs at its own rate.

    All nodes of a network need the same one, so it is a parameter of the network. No rule reads it.
    """

    began: Moment = 0
    """The real time at which it was set."""
    showed: Moment = 0
    """The network's time that it was set to."""
    rate: Annotated[float, Meta(ge=0.01, le=100.0)] = 1.0
    """Seconds of the network for each real second."""

    @property
    def is_own(self) -> bool:
        """Whether it differs from real time, so that time servers do not apply."""
        return self != NetworkClock()

    def at(self, microseconds: int) -> int:
        """The network's time at a real time, both in microseconds since 1970."""
        passed = microseconds - self.began * MICRO
        return self.showed * MICRO + (passed if self.rate == 1.0 else int(passed * self.rate))


Seconds = Annotated[int, Meta(ge=0, le=0xFFFFFFFF)]
Period = Annotated[int, Meta(ge=1, le=0xFFFFFFFF)]
"""Seconds that something is divided by, or a count of blocks."""


def chain_id_of(name: str) -> ChainId:
    """The id of a chain is the hash of its packed name (spec 01, section 5)."""
    raw = text_bytes(name)
    return ChainId(hashlib.sha256(pack_varint(len(raw)) + raw).digest())


class ChainParameters(msgspec.Struct, frozen=True, kw_only=True):
    """The constants of one network. Their names are the reference's, without `CHAIN_`."""

    name: Annotated[str, Meta(min_length=1, max_length=64)]
    chain_id: ChainId
    hardforks: tuple[Hardfork, ...]
    genesis: str | tuple[GenesisAccount, ...]
    """The initial distribution, or the word for one that the program comes with: see `genesis_accounts`."""

    initiator_key: PublicKey
    """Owns the account that holds what the initial distribution leaves."""
    committee_key: PublicKey
    """Signs the blocks of the first validator."""
    invite_key: PublicKey
    """Public, with its secret: whoever holds an invite signs with it."""
    emergency_key: PublicKey
    """Signs the blocks of an emergency (hardfork 12)."""

    max_top_validators: Annotated[int, Meta(ge=1, le=255)]
    """Places in a round by votes."""
    max_support_validators: Annotated[int, Meta(ge=0, le=254)]
    """Places in a round by turns."""
    hardfork_required_validators: Annotated[int, Meta(ge=1, le=255)]

    energy_regeneration_seconds: Period
    """Seconds in which energy grows from nothing to all of it."""
    vesting_withdraw_intervals: Annotated[int, Meta(ge=1, le=0xFFFF)]
    vesting_withdraw_interval_seconds: Period
    bandwidth_average_window_seconds: Period

    master_auth_recovery_period: Seconds
    """The time in which an account can be recovered with a former master authority."""
    master_update_limit: Seconds
    """The least time between two changes of a master authority."""
    account_on_sale_delay: Seconds
    clear_used_invite_delay: Seconds
    clear_closed_committee_request_delay: Seconds

    committee_min_duration: Annotated[int, Meta(ge=0, le=COMMITTEE_MAX_DURATION)]
    committee_request_per_time: Seconds
    """Seconds between two requests of the same creator."""
    committee_request_processing: Period
    """The number of blocks between two times when requests are processed."""

    default_distribution_epoch_length: Annotated[int, Meta(ge=1, le=BLOCKS_PER_YEAR)]
    min_distribution_epoch_length: Annotated[int, Meta(ge=1, le=BLOCKS_PER_YEAR)]
    """Blocks between two payouts to those who voted for a validator (hardfork 13)."""

    clock: NetworkClock = NetworkClock()
    """The clock of a private network that keeps a time of its own."""

    @property
    def max_validators(self) -> int:
        return self.max_top_validators + self.max_support_validators

    @property
    def emergency_max_validator_missed_blocks(self) -> int:
        """Missed blocks that shut a validator down in an emergency."""
        return EMERGENCY_MISSED_ROUNDS * self.max_validators

    @property
    def last_hardfork(self) -> Hardfork:
        """The latest hardfork that the program knows."""
        return self.hardforks[-1]

    @property
    def startup_version(self) -> int:
        return self.hardforks[0].version

    @property
    def version(self) -> int:
        """The version that validators announce: that of the last hardfork (the reference refuses any other)."""
        return self.last_hardfork.version

    @property
    def hardfork_version(self) -> int:
        return hardfork_version_of(self.version)

    @property
    def genesis_accounts(self) -> tuple[GenesisAccount, ...]:
        """The initial distribution, in the order in which its accounts are made."""
        return embedded_genesis(self.genesis) if isinstance(self.genesis, str) else self.genesis


MAINNET = ChainParameters(
    name="VIZ",
    chain_id=chain_id_of("VIZ"),
    hardforks=MAINNET_HARDFORKS,
    genesis="mainnet",
    initiator_key=public_key_from_text("VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"),
    committee_key=public_key_from_text("VIZ6Yt7d6LsngBoXQr47aLv97bJVs7jyr7esZTM4UUSpLUf3nbRKS"),
    invite_key=public_key_from_text("VIZ6LiKWipnNoBSDafStzSUgo9ihGawo25WW9kMvfTpGMwKp2qfG9"),
    emergency_key=public_key_from_text("VIZ75CRHVHPwYiUESy1bgN3KhVFbZCQQRA9jT6TnpzKAmpxMPD6Xv"),
    max_top_validators=11,
    max_support_validators=10,
    hardfork_required_validators=17,
    energy_regeneration_seconds=432_000,
    vesting_withdraw_intervals=28,
    vesting_withdraw_interval_seconds=86_400,
    bandwidth_average_window_seconds=604_800,
    master_auth_recovery_period=2_592_000,
    master_update_limit=3_600,
    account_on_sale_delay=604_800,
    clear_used_invite_delay=86_400,
    clear_closed_committee_request_delay=604_800,
    committee_min_duration=432_000,
    committee_request_per_time=86_400,
    committee_request_processing=200,
    default_distribution_epoch_length=28_800,
    min_distribution_epoch_length=1_200,
)

TESTNET = ChainParameters(
    name="VIZTEST",
    chain_id=chain_id_of("VIZTEST"),
    hardforks=TESTNET_HARDFORKS,
    genesis="testnet",
    initiator_key=MAINNET.initiator_key,
    committee_key=MAINNET.committee_key,
    invite_key=MAINNET.invite_key,
    emergency_key=MAINNET.emergency_key,
    max_top_validators=1,
    max_support_validators=0,
    hardfork_required_validators=1,
    energy_regeneration_seconds=120,
    vesting_withdraw_intervals=60,
    vesting_withdraw_interval_seconds=1,
    bandwidth_average_window_seconds=86_400,
    master_auth_recovery_period=120,
    master_update_limit=600,
    account_on_sale_delay=600,
    clear_used_invite_delay=600,
    clear_closed_committee_request_delay=600,
    committee_min_duration=3_600,
    committee_request_per_time=60,
    committee_request_processing=20,
    default_distribution_epoch_length=1_200,
    min_distribution_epoch_length=1,
)

NETWORKS = {"mainnet": MAINNET, "testnet": TESTNET}
"""The built-in networks, by name."""
