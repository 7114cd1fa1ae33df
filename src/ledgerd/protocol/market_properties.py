"""Chain properties of prediction markets: what hardfork 14 lets validators vote on (spec 07, section 8)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import missing
from ledgerd.codec.numbers import UInt8, UInt16, UInt32
from ledgerd.protocol.assets import Asset, tokens
from ledgerd.protocol.constants import BLOCK_INTERVAL, MAX_PM_OUTCOMES_PER_MARKET
from ledgerd.protocol.errors import require
from ledgerd.protocol.parameters import ChainParameters
from ledgerd.protocol.properties import ChainPropertiesHf13

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
        """As before, then the new ones, in the order of the reference."""
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
            2 <= self.pm_max_outcomes <= MAX_PM_OUTCOMES_PER_MARKET,
            "pm_max_outcomes >= 2 && pm_max_outcomes <= MAX_PM_OUTCOMES_PER_MARKET: "
            "pm_max_outcomes must be in [2, ${m}]",
            m=MAX_PM_OUTCOMES_PER_MARKET,
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
            self.pm_closed_market_retention_sec > blocks * BLOCK_INTERVAL,
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
