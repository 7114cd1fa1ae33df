"""Chain properties: what validators vote on, in five versions (spec 01, section 8).

The sixth is in `market_properties`, all of them together in `property_versions`. The chain computes the medians of
votes, and knows which version a hardfork accepts.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, ClassVar, TypeVar

import msgspec

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec import missing, missing_by
from ledgerd.codec.numbers import Int16, UInt16, UInt32
from ledgerd.protocol.assets import SHARES_SYMBOL, TOKEN_SYMBOL, Asset, shares, tokens
from ledgerd.protocol.constants import (
    BLOCKS_PER_YEAR,
    MAX_BLOCK_SIZE_LIMIT,
    MIN_ACCOUNT_CREATION_FEE,
    MIN_BLOCK_SIZE_LIMIT,
    SECONDS_PER_YEAR,
)
from ledgerd.protocol.errors import require
from ledgerd.protocol.parameters import MAINNET, ChainParameters

_network: ContextVar[ChainParameters] = ContextVar("network of JSON defaults", default=MAINNET)


@contextmanager
def json_defaults_of(network: ChainParameters) -> Iterator[None]:
    """Within it, keys that JSON leaves out take the defaults of this network."""
    token = _network.set(network)
    try:
        yield
    finally:
        _network.reset(token)


def _withdraw_intervals() -> int:
    return _network.get().vesting_withdraw_intervals


def _distribution_epoch_length() -> int:
    return _network.get().default_distribution_epoch_length


def _require_percent(value: int, field: str) -> None:
    require(value >= 0, f"{field} >= 0: ")
    require(value <= HUNDRED_PERCENT, f"{field} <= CHAIN_100_PERCENT: ")


def _require_tokens(amount: Asset, field: str) -> None:
    require(amount.amount > 0, f"{field}.amount > 0: ")
    require(amount.symbol == TOKEN_SYMBOL, f"{field}.symbol == TOKEN_SYMBOL: ")


Newer = TypeVar("Newer", bound="ChainPropertiesInit")


class ChainPropertiesInit(msgspec.Struct, frozen=True, cache_hash=True):
    """The properties of the beginning; `missing` says what JSON leaves out, and what nobody voted on yet."""

    account_creation_fee: Annotated[Asset, missing(tokens(1_000))]
    maximum_block_size: Annotated[UInt32, missing(131_072)]
    create_account_delegation_ratio: Annotated[UInt32, missing(10)]
    create_account_delegation_time: Annotated[UInt32, missing(2_592_000)]
    min_delegation: Annotated[Asset, missing(tokens(1))]
    min_curation_percent: Annotated[Int16, missing(1_600)]
    max_curation_percent: Annotated[Int16, missing(1_600)]
    bandwidth_reserve_percent: Annotated[Int16, missing(1_000)]
    bandwidth_reserve_below: Annotated[Asset, missing(shares(500_000_000))]
    flag_energy_additional_cost: Int16
    vote_accounting_min_rshares: Annotated[UInt32, missing(5_000_000)]
    committee_request_approve_min_percent: Annotated[Int16, missing(1_000)]

    def check(self, network: ChainParameters) -> None:
        fee, size = self.account_creation_fee, self.maximum_block_size
        require(
            fee.amount >= MIN_ACCOUNT_CREATION_FEE,
            "account_creation_fee.amount >= CHAIN_MIN_ACCOUNT_CREATION_FEE: ",
        )
        require(fee.symbol == TOKEN_SYMBOL, "account_creation_fee.symbol == TOKEN_SYMBOL: ")
        require(size >= MIN_BLOCK_SIZE_LIMIT, "maximum_block_size >= CHAIN_MIN_BLOCK_SIZE_LIMIT: ")
        require(size <= MAX_BLOCK_SIZE_LIMIT, "maximum_block_size <= CHAIN_MAX_BLOCK_SIZE_LIMIT: ")
        require(self.create_account_delegation_ratio > 0, "create_account_delegation_ratio > 0: ")
        # A shorter delegation would let the same shares spend their energy twice.
        require(
            self.create_account_delegation_time >= network.energy_regeneration_seconds,
            "create_account_delegation_time >= CHAIN_ENERGY_REGENERATION_SECONDS: ",
        )
        _require_tokens(self.min_delegation, "min_delegation")
        require(self.min_curation_percent >= 0, "min_curation_percent >= 0: ")
        require(self.max_curation_percent <= HUNDRED_PERCENT, "max_curation_percent <= CHAIN_100_PERCENT: ")
        require(
            self.min_curation_percent <= self.max_curation_percent,
            "min_curation_percent <= max_curation_percent: ",
        )
        _require_percent(self.bandwidth_reserve_percent, "bandwidth_reserve_percent")
        reserve = self.bandwidth_reserve_below
        require(reserve.amount >= 0, "bandwidth_reserve_below.amount >= 0: ")
        require(reserve.symbol == SHARES_SYMBOL, "bandwidth_reserve_below.symbol == SHARES_SYMBOL: ")
        _require_percent(self.flag_energy_additional_cost, "flag_energy_additional_cost")
        _require_percent(self.committee_request_approve_min_percent, "committee_request_approve_min_percent")

    def apply_to(self, newer: Newer) -> Newer:
        """Properties of this or a later version with this one's fields; later fields stay as they are."""
        own = {field: getattr(self, field) for field in self.__struct_fields__}
        return msgspec.structs.replace(newer, **own)


class ChainPropertiesHf4(ChainPropertiesInit, frozen=True):
    """Hardfork 4: inflation is voted on."""

    FORMER_NAMES: ClassVar = {
        "inflation_validator_percent": "inflation_witness_percent",
        "validator_miss_penalty_percent": "witness_miss_penalty_percent",
        "validator_miss_penalty_duration": "witness_miss_penalty_duration",
        "validator_declaration_fee": "witness_declaration_fee",
    }
    """Names of before validators were called so, here and in the later versions: published clients write them."""

    inflation_validator_percent: Annotated[Int16, missing(2_000)]
    inflation_ratio_committee_vs_reward_fund: Annotated[Int16, missing(5_000)]
    inflation_recalc_period: Annotated[UInt32, missing(806_400)]

    def check(self, network: ChainParameters) -> None:
        super().check(network)
        _require_percent(self.inflation_validator_percent, "inflation_validator_percent")
        _require_percent(self.inflation_ratio_committee_vs_reward_fund, "inflation_ratio_committee_vs_reward_fund")
        require(
            self.inflation_recalc_period <= BLOCKS_PER_YEAR,
            "inflation_recalc_period <= CHAIN_BLOCKS_PER_YEAR: ",
        )


class ChainPropertiesHf6(ChainPropertiesHf4, frozen=True):
    """Hardfork 6: the price of data operations, and of missed blocks."""

    data_operations_cost_additional_bandwidth: UInt32
    validator_miss_penalty_percent: Annotated[Int16, missing(100)]
    validator_miss_penalty_duration: Annotated[UInt32, missing(86_400)]

    def check(self, network: ChainParameters) -> None:
        super().check(network)
        _require_percent(self.validator_miss_penalty_percent, "validator_miss_penalty_percent")
        require(
            self.validator_miss_penalty_duration <= SECONDS_PER_YEAR,
            "validator_miss_penalty_duration <= (CHAIN_BLOCKS_PER_YEAR * CHAIN_BLOCK_INTERVAL): ",
        )


class ChainPropertiesHf9(ChainPropertiesHf6, frozen=True):
    """Hardfork 9: fees of the committee fund, and how many parts a withdrawal of shares has."""

    create_invite_min_balance: Annotated[Asset, missing(tokens(10_000))]
    committee_create_request_fee: Annotated[Asset, missing(tokens(100_000))]
    create_paid_subscription_fee: Annotated[Asset, missing(tokens(100_000))]
    account_on_sale_fee: Annotated[Asset, missing(tokens(10_000))]
    subaccount_on_sale_fee: Annotated[Asset, missing(tokens(100_000))]
    validator_declaration_fee: Annotated[Asset, missing(tokens(10_000))]
    withdraw_intervals: Annotated[UInt16, missing_by(_withdraw_intervals)]

    def check(self, network: ChainParameters) -> None:
        super().check(network)
        _require_tokens(self.create_invite_min_balance, "create_invite_min_balance")
        _require_tokens(self.committee_create_request_fee, "committee_create_request_fee")
        _require_tokens(self.create_paid_subscription_fee, "create_paid_subscription_fee")
        _require_tokens(self.account_on_sale_fee, "account_on_sale_fee")
        _require_tokens(self.subaccount_on_sale_fee, "subaccount_on_sale_fee")
        _require_tokens(self.validator_declaration_fee, "validator_declaration_fee")
        require(self.withdraw_intervals > 0, "withdraw_intervals > 0: ")


class ChainPropertiesHf13(ChainPropertiesHf9, frozen=True):
    """Hardfork 13: how often validators share their rewards with those who vote for them."""

    distribution_epoch_length: Annotated[UInt32, missing_by(_distribution_epoch_length)]

    def check(self, network: ChainParameters) -> None:
        super().check(network)
        shortest = network.min_distribution_epoch_length
        require(
            self.distribution_epoch_length >= shortest,
            "distribution_epoch_length >= CHAIN_MIN_DISTRIBUTION_EPOCH_LENGTH: "
            "distribution_epoch_length must be at least ${min} blocks",
            min=shortest,
        )
        require(
            self.distribution_epoch_length <= BLOCKS_PER_YEAR,
            "distribution_epoch_length <= uint32_t(CHAIN_BLOCKS_PER_YEAR): "
            "distribution_epoch_length must not exceed one year in blocks",
        )
