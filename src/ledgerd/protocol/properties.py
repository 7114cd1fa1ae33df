"""Chain properties: what validators vote on, in six versions (spec 01, section 8; spec 07, section 8)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, ClassVar, TypeVar

import msgspec

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec import missing, missing_by, one_of, record_kind
from ledgerd.codec.types.numbers import Int16, UInt8, UInt16, UInt32
from ledgerd.protocol import constants
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import MAINNET, ChainParameters
from ledgerd.protocol.types.assets import SHARES_SYMBOL, TOKEN_SYMBOL, Asset, shares, tokens

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
            fee.amount >= constants.MIN_ACCOUNT_CREATION_FEE,
            "account_creation_fee.amount >= CHAIN_MIN_ACCOUNT_CREATION_FEE: ",
        )
        require(fee.symbol == TOKEN_SYMBOL, "account_creation_fee.symbol == TOKEN_SYMBOL: ")
        require(size >= constants.MIN_BLOCK_SIZE_LIMIT, "maximum_block_size >= CHAIN_MIN_BLOCK_SIZE_LIMIT: ")
        require(size <= constants.MAX_BLOCK_SIZE_LIMIT, "maximum_block_size <= CHAIN_MAX_BLOCK_SIZE_LIMIT: ")
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
            self.inflation_recalc_period <= constants.BLOCKS_PER_YEAR,
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
            self.validator_miss_penalty_duration <= constants.SECONDS_PER_YEAR,
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
            self.distribution_epoch_length <= constants.BLOCKS_PER_YEAR,
            "distribution_epoch_length <= uint32_t(CHAIN_BLOCKS_PER_YEAR): "
            "distribution_epoch_length must not exceed one year in blocks",
        )


MIN_BET_LIMIT = 100
"""The least that the least bet may be."""

WRAP = 1 << 32


class ChainPropertiesHf14(ChainPropertiesHf13, frozen=True, cache_hash=True):
    """Hardfork 14: prediction markets, and who may vote on requests to the committee.

    Percents are hundredths of one (`10000` is all), but those of leverage, of coverage and of conversion, which are
    whole; `ppm` is millionths.
    """

    pm_oracle_registration_fee: Annotated[Asset, missing(tokens(10_000))]
    pm_min_oracle_insurance: Annotated[Asset, missing(tokens(5_000_000))]
    pm_market_creation_fee: Annotated[Asset, missing(tokens(5_000))]
    pm_min_liquidity: Annotated[Asset, missing(tokens(100_000))]
    pm_max_outcomes: Annotated[UInt8, missing(64)]
    pm_max_market_duration: Annotated[UInt32, missing(31_536_000)]
    pm_max_oracle_fee_percent: Annotated[UInt16, missing(500)]
    pm_oracle_accept_window_sec: Annotated[UInt32, missing(3_600)]
    pm_listing_min_coverage_percent: Annotated[UInt16, missing(250)]
    pm_betting_min_coverage_percent: Annotated[UInt16, missing(150)]
    pm_default_time_penalty_percent: Annotated[UInt16, missing(50)]
    pm_max_time_penalty: Annotated[UInt32, missing(1_000_000)]
    pm_dispute_fee: Annotated[Asset, missing(tokens(1_000_000))]
    pm_dispute_grace_sec: Annotated[UInt32, missing(43_200)]
    pm_oracle_dispute_response_sec: Annotated[UInt32, missing(43_200)]
    pm_dispute_auto_close_sec: Annotated[UInt32, missing(1_209_600)]
    pm_dispute_vote_period_sec: Annotated[UInt32, missing(259_200)]
    pm_dispute_approve_min_percent: Annotated[UInt16, missing(1_000)]
    pm_oracle_penalty_percent: Annotated[UInt16, missing(500)]
    pm_no_contest_penalty_percent: Annotated[UInt16, missing(5_000)]
    pm_dispute_reward_multiplier: Annotated[UInt32, missing(30_000)]
    pm_batch_epoch_blocks: Annotated[UInt32, missing(20)]
    pm_reveal_window_blocks: Annotated[UInt32, missing(200)]
    pm_commit_no_reveal_penalty_percent: Annotated[UInt16, missing(2_000)]
    pm_min_batch_bet: Annotated[Asset, missing(tokens(1_000))]
    pm_commit_reveal_enabled: Annotated[bool, missing(True)]
    pm_processing_cap_per_block: Annotated[UInt32, missing(200)]
    pm_lazy_pool_enabled: Annotated[bool, missing(True)]
    pm_lazy_alloc_percent: Annotated[UInt16, missing(2_000)]
    pm_lazy_max_total_alloc_percent: Annotated[UInt16, missing(7_000)]
    pm_lazy_lock_sec: Annotated[UInt32, missing(604_800)]
    pm_lazy_recall_step_percent: Annotated[UInt16, missing(1_000)]
    pm_lazy_emergency_penalty_percent: Annotated[UInt16, missing(5_000)]
    pm_lazy_min_liquidity_fee_percent: Annotated[UInt16, missing(200)]
    pm_leverage_enabled: Annotated[bool, missing(True)]
    pm_leverage_fund_percent: Annotated[UInt16, missing(10)]
    pm_leverage_max_per_position_bp: Annotated[UInt16, missing(20)]
    pm_leverage_pool_profit_percent: Annotated[UInt16, missing(10)]
    pm_leverage_safety_margin_percent: Annotated[UInt16, missing(1)]
    pm_leverage_max_slippage_percent: Annotated[UInt16, missing(10)]
    pm_leverage_min_market_liquidity: Annotated[Asset, missing(tokens(5_000_000))]
    pm_leverage_max_position_ratio_percent: Annotated[UInt16, missing(5)]
    pm_leverage_expiration_buffer_sec: Annotated[UInt32, missing(86_400)]
    pm_leverage_m_factor_percent: Annotated[UInt16, missing(50)]
    pm_leverage_funding_rate_ppm_per_day: Annotated[UInt32, missing(100)]
    pm_conversion_profit_cost_percent: Annotated[UInt16, missing(50)]
    pm_closed_market_retention_sec: Annotated[UInt32, missing(432_000)]
    pm_early_exit_reward_cap_percent: Annotated[UInt16, missing(3_300)]
    pm_min_bet: Annotated[Asset, missing(tokens(1_000))]
    pm_settle_rows_per_block: Annotated[UInt32, missing(2_000)]
    committee_votes_per_request: Annotated[UInt32, missing(100_000)]
    committee_vote_min_vesting: Annotated[Asset, missing(tokens(1_000_000))]
    pm_dispute_votes_per_market: Annotated[UInt32, missing(100_000)]
    pm_dispute_vote_min_vesting: Annotated[Asset, missing(tokens(1_000_000))]

    def check(self, network: ChainParameters) -> None:
        """Check the earlier properties, then the new ones, in the order of the reference."""
        super().check(network)
        for field in (
            "pm_oracle_registration_fee",
            "pm_min_oracle_insurance",
            "pm_market_creation_fee",
            "pm_min_liquidity",
            "pm_dispute_fee",
            "pm_min_batch_bet",
        ):
            self._require_tokens(field)
        self._check_markets()
        self._check_disputes()
        self._check_bets()
        self._check_lazy_pool()
        self._check_leverage()
        self._check_ballots()

    def _check_markets(self) -> None:
        require(
            2 <= self.pm_max_outcomes <= constants.MAX_PM_OUTCOMES_PER_MARKET,
            "pm_max_outcomes >= 2 && pm_max_outcomes <= MAX_PM_OUTCOMES_PER_MARKET: "
            "pm_max_outcomes must be in [2, ${m}]",
            m=constants.MAX_PM_OUTCOMES_PER_MARKET,
        )
        self._require_positive("pm_max_market_duration")
        self._require_at_most("pm_max_oracle_fee_percent", 10_000)
        self._require_positive("pm_oracle_accept_window_sec")
        require(
            self.pm_betting_min_coverage_percent <= self.pm_listing_min_coverage_percent,
            "pm_betting_min_coverage_percent <= pm_listing_min_coverage_percent: "
            "pm_betting_min_coverage_percent must be <= pm_listing_min_coverage_percent",
        )
        self._require_at_most("pm_default_time_penalty_percent", 10_000)
        self._require_at_most("pm_max_time_penalty", 1_000_000, " (<= 1000000 = 100% of profit)")

    def _check_disputes(self) -> None:
        self._require_at_most("pm_dispute_approve_min_percent", 10_000)
        self._require_at_most("pm_oracle_penalty_percent", 10_000)
        self._require_at_most("pm_no_contest_penalty_percent", 10_000)
        require(
            self.pm_dispute_grace_sec >= 3_600,
            "pm_dispute_grace_sec >= 3600: pm_dispute_grace_sec must be >= 3600 (1 h structural floor)",
        )
        require(
            10_000 <= self.pm_dispute_reward_multiplier <= 1_000_000,
            "pm_dispute_reward_multiplier >= 10000 && pm_dispute_reward_multiplier <= 1000000: "
            "pm_dispute_reward_multiplier must be in [10000, 1000000]",
        )

    def _check_bets(self) -> None:
        self._require_at_most("pm_commit_no_reveal_penalty_percent", 10_000)
        self._require_least_bet("pm_min_batch_bet")
        self._require_tokens("pm_min_bet")
        self._require_least_bet("pm_min_bet")
        self._require_positive("pm_batch_epoch_blocks")
        self._require_positive("pm_reveal_window_blocks")
        # The reference adds the two in 32 bits, so that a sum above them begins again from zero.
        blocks = (self.pm_batch_epoch_blocks + self.pm_reveal_window_blocks) % WRAP
        require(
            self.pm_closed_market_retention_sec > blocks * constants.BLOCK_INTERVAL,
            "pm_closed_market_retention_sec > "
            "(uint64_t)(pm_batch_epoch_blocks + pm_reveal_window_blocks) * CHAIN_BLOCK_INTERVAL: "
            "pm_closed_market_retention_sec must exceed the worst-case commit reveal deadline "
            "((pm_batch_epoch_blocks + pm_reveal_window_blocks) * CHAIN_BLOCK_INTERVAL)",
        )
        self._require_positive("pm_processing_cap_per_block")
        require(
            100 <= self.pm_settle_rows_per_block <= 100_000,
            "pm_settle_rows_per_block >= 100 && pm_settle_rows_per_block <= 100000: "
            "pm_settle_rows_per_block must be in [100, 100000]",
        )

    def _check_lazy_pool(self) -> None:
        self._require_at_most("pm_lazy_alloc_percent", 10_000)
        self._require_at_most("pm_lazy_max_total_alloc_percent", 10_000)
        self._require_at_most("pm_lazy_recall_step_percent", 10_000)
        self._require_at_most("pm_lazy_emergency_penalty_percent", 10_000)
        self._require_at_most("pm_lazy_min_liquidity_fee_percent", 10_000)

    def _check_leverage(self) -> None:
        self._require_at_most("pm_leverage_fund_percent", 100)
        self._require_at_most("pm_leverage_max_per_position_bp", 10_000)
        self._require_at_most("pm_leverage_pool_profit_percent", 100)
        self._require_at_most("pm_leverage_safety_margin_percent", 100)
        self._require_at_most("pm_leverage_max_slippage_percent", 100)
        self._require_at_most("pm_leverage_max_position_ratio_percent", 100)
        self._require_at_most("pm_leverage_m_factor_percent", 100)
        self._require_at_most("pm_leverage_funding_rate_ppm_per_day", 1_000_000, " (<= 100%/day)")
        self._require_at_most("pm_conversion_profit_cost_percent", 100)
        self._require_at_most("pm_early_exit_reward_cap_percent", 10_000)
        self._require_tokens("pm_leverage_min_market_liquidity")

    def _check_ballots(self) -> None:
        require(self.committee_votes_per_request > 0, "committee_votes_per_request > 0: ")
        least = self.committee_vote_min_vesting
        require(least.amount > 0, "committee_vote_min_vesting.amount > 0: ")
        require(least.is_token, "committee_vote_min_vesting.symbol == TOKEN_SYMBOL: ")
        self._require_tokens("pm_dispute_vote_min_vesting")
        self._require_positive("pm_dispute_votes_per_market")

    def _require_tokens(self, field: str) -> None:
        amount: Asset = getattr(self, field)
        require(amount.is_token, "a.symbol == TOKEN_SYMBOL: ${n} must be VIZ", n=field)
        require(amount.amount > 0, "a.amount > 0: ${n} must be positive", n=field)

    def _require_least_bet(self, field: str) -> None:
        amount: Asset = getattr(self, field)
        require(amount.amount >= MIN_BET_LIMIT, f"{field}.amount >= 100: {field} must be >= 0.1 VIZ")

    def _require_positive(self, field: str) -> None:
        require(getattr(self, field) > 0, f"{field} > 0: {field} must be positive")

    def _require_at_most(self, field: str, most: int, why: str = "") -> None:
        require(getattr(self, field) <= most, f"{field} <= {most}: {field} out of range{why}")


VersionedChainProperties = Annotated[
    ChainPropertiesInit
    | ChainPropertiesHf4
    | ChainPropertiesHf6
    | ChainPropertiesHf9
    | ChainPropertiesHf13
    | ChainPropertiesHf14,
    one_of(),
]
"""Properties of any version; the tag is the version's place in this row."""


def default_properties(network: ChainParameters) -> ChainPropertiesHf14:
    """The properties that a chain, and a validator who never voted, begins with."""
    with json_defaults_of(network):
        properties: ChainPropertiesHf14 = record_kind(ChainPropertiesHf14).default()
    return properties
