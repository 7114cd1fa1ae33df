"""Chain properties of version 5: bytes, defaults, and each bound on both sides."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.codec import codec_of
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.properties import (
    ChainPropertiesHf13,
    ChainPropertiesHf14,
    VersionedChainProperties,
    default_properties,
)
from ledgerd.protocol.types.assets import shares, tokens
from tests.additions import PROPERTIES
from tests.recorded import recorded_sections

DEFAULTS = default_properties(MAINNET)

NEW_FIELDS = (
    "10270000000000000356495a00000000404b4c00000000000356495a0000000088130000000000000356495a00000000a086"
    "0100000000000356495a00000000408033e101f401100e0000fa009600320040420f0040420f00000000000356495a000000"
    "00c0a80000c0a800000075120080f40300e803f40188133075000014000000c8000000d007e8030000000000000356495a00"
    "00000001c800000001d007581b803a0900e8038813c800010a0014000a0001000a00404b4c00000000000356495a00000000"
    "050080510100320064000000320080970600e40ce8030000000000000356495a00000000d0070000a086010040420f000000"
    "00000356495a00000000a086010040420f00000000000356495a00000000"
)

TOKENS = (
    "pm_oracle_registration_fee",
    "pm_min_oracle_insurance",
    "pm_market_creation_fee",
    "pm_min_liquidity",
    "pm_dispute_fee",
    "pm_min_batch_bet",
    "pm_min_bet",
    "pm_leverage_min_market_liquidity",
    "pm_dispute_vote_min_vesting",
)
POSITIVE = (
    "pm_max_market_duration",
    "pm_oracle_accept_window_sec",
    "pm_batch_epoch_blocks",
    "pm_reveal_window_blocks",
    "pm_processing_cap_per_block",
    "pm_dispute_votes_per_market",
)
AT_MOST = {
    "pm_max_oracle_fee_percent": (10_000, ""),
    "pm_default_time_penalty_percent": (10_000, ""),
    "pm_max_time_penalty": (1_000_000, " (<= 1000000 = 100% of profit)"),
    "pm_dispute_approve_min_percent": (10_000, ""),
    "pm_oracle_penalty_percent": (10_000, ""),
    "pm_no_contest_penalty_percent": (10_000, ""),
    "pm_commit_no_reveal_penalty_percent": (10_000, ""),
    "pm_lazy_alloc_percent": (10_000, ""),
    "pm_lazy_max_total_alloc_percent": (10_000, ""),
    "pm_lazy_recall_step_percent": (10_000, ""),
    "pm_lazy_emergency_penalty_percent": (10_000, ""),
    "pm_lazy_min_liquidity_fee_percent": (10_000, ""),
    "pm_leverage_fund_percent": (100, ""),
    "pm_leverage_max_per_position_bp": (10_000, ""),
    "pm_leverage_pool_profit_percent": (100, ""),
    "pm_leverage_safety_margin_percent": (100, ""),
    "pm_leverage_max_slippage_percent": (100, ""),
    "pm_leverage_max_position_ratio_percent": (100, ""),
    "pm_leverage_m_factor_percent": (100, ""),
    "pm_leverage_funding_rate_ppm_per_day": (1_000_000, " (<= 100%/day)"),
    "pm_conversion_profit_cost_percent": (100, ""),
    "pm_early_exit_reward_cap_percent": (10_000, ""),
}
UNBOUND = (
    "pm_oracle_dispute_response_sec",
    "pm_dispute_auto_close_sec",
    "pm_dispute_vote_period_sec",
    "pm_lazy_lock_sec",
    "pm_leverage_expiration_buffer_sec",
)


def accepts(**fields: Any) -> None:
    replace(DEFAULTS, **fields).check(MAINNET)


def refuses(message: str, **fields: Any) -> None:
    with pytest.raises(RuleViolation) as refusal:
        replace(DEFAULTS, **fields).check(MAINNET)
    assert refusal.value.message == message


def test_the_defaults_in_bytes_behind_those_of_the_version_before() -> None:
    versioned = codec_of(VersionedChainProperties)
    older = codec_of(ChainPropertiesHf13).encode(codec_of(ChainPropertiesHf13).from_json({}))

    assert versioned.encode(DEFAULTS).hex() == "05" + older.hex() + NEW_FIELDS
    assert (len(older), len(NEW_FIELDS)) == (194, 560)
    assert versioned.from_json([5, {}]) == DEFAULTS


def test_there_are_54_of_them_which_are_the_same_on_both_networks() -> None:
    new = [name for name in ChainPropertiesHf14.__struct_fields__ if name not in ChainPropertiesHf13.__struct_fields__]

    assert len(new) == 54
    assert list(PROPERTIES) == new
    assert [name for name in new if getattr(DEFAULTS, name) != getattr(default_properties(TESTNET), name)] == []


@pytest.mark.parametrize("state", ["open-pm/state-1200", "open-pm2/state-463"])
def test_recorded_properties_are_read_and_printed_again(state: str) -> None:
    codec = codec_of(ChainPropertiesHf14)
    sections = recorded_sections(state)
    recorded = [each["props"] for each in sections["validator"]] + [sections["validator_schedule"][0]["median_props"]]

    assert [json.loads(codec.to_json(codec.from_json(each))) for each in recorded] == recorded
    assert any({name: each[name] for name in PROPERTIES} != PROPERTIES for each in recorded)


@pytest.mark.parametrize("field", TOKENS)
def test_an_amount_is_of_viz_and_above_zero(field: str) -> None:
    accepts(**{field: tokens(100)})
    refuses(f"a.symbol == TOKEN_SYMBOL: {field} must be VIZ", **{field: shares(1_000)})
    for amount in (0, -1):
        refuses(f"a.amount > 0: {field} must be positive", **{field: tokens(amount)})


@pytest.mark.parametrize("field", ["pm_min_batch_bet", "pm_min_bet"])
def test_the_least_bet_is_a_tenth_of_a_viz_at_least(field: str) -> None:
    refuses(f"{field}.amount >= 100: {field} must be >= 0.1 VIZ", **{field: tokens(99)})


@pytest.mark.parametrize("field", POSITIVE)
def test_a_count_or_time_is_above_zero(field: str) -> None:
    accepts(**{field: 1})
    refuses(f"{field} > 0: {field} must be positive", **{field: 0})


@pytest.mark.parametrize("field", AT_MOST)
def test_a_part_is_the_whole_at_most(field: str) -> None:
    most, why = AT_MOST[field]
    accepts(**{field: 0})
    accepts(**{field: most})
    refuses(f"{field} <= {most}: {field} out of range{why}", **{field: most + 1})


@pytest.mark.parametrize("field", UNBOUND)
def test_some_times_have_no_bounds(field: str) -> None:
    accepts(**{field: 0})
    accepts(**{field: 2**32 - 1})


def test_a_market_has_2_to_128_outcomes_at_most() -> None:
    for count in (2, 128):
        accepts(pm_max_outcomes=count)
    for count in (1, 129):
        refuses(
            "pm_max_outcomes >= 2 && pm_max_outcomes <= MAX_PM_OUTCOMES_PER_MARKET: "
            "pm_max_outcomes must be in [2, 128]",
            pm_max_outcomes=count,
        )


def test_bets_need_no_more_coverage_than_lists() -> None:
    accepts(pm_betting_min_coverage_percent=250)
    refuses(
        "pm_betting_min_coverage_percent <= pm_listing_min_coverage_percent: "
        "pm_betting_min_coverage_percent must be <= pm_listing_min_coverage_percent",
        pm_betting_min_coverage_percent=251,
    )


def test_disputes_may_be_filed_for_an_hour_at_least() -> None:
    accepts(pm_dispute_grace_sec=3_600)
    refuses(
        "pm_dispute_grace_sec >= 3600: pm_dispute_grace_sec must be >= 3600 (1 h structural floor)",
        pm_dispute_grace_sec=3_599,
    )


def test_a_reward_is_1_to_100_times_the_fee() -> None:
    for multiplier in (10_000, 1_000_000):
        accepts(pm_dispute_reward_multiplier=multiplier)
    for multiplier in (9_999, 1_000_001):
        refuses(
            "pm_dispute_reward_multiplier >= 10000 && pm_dispute_reward_multiplier <= 1000000: "
            "pm_dispute_reward_multiplier must be in [10000, 1000000]",
            pm_dispute_reward_multiplier=multiplier,
        )


def test_a_closed_market_is_kept_until_all_hidden_bets_are_over() -> None:
    accepts(pm_closed_market_retention_sec=661)
    refuses(
        "pm_closed_market_retention_sec > "
        "(uint64_t)(pm_batch_epoch_blocks + pm_reveal_window_blocks) * CHAIN_BLOCK_INTERVAL: "
        "pm_closed_market_retention_sec must exceed the worst-case commit reveal deadline "
        "((pm_batch_epoch_blocks + pm_reveal_window_blocks) * CHAIN_BLOCK_INTERVAL)",
        pm_closed_market_retention_sec=660,
    )


def test_blocks_that_add_up_to_more_than_32_bits_begin_again_from_zero() -> None:
    accepts(pm_batch_epoch_blocks=2**32 - 1)


def test_100_to_100_000_rows_are_settled_in_a_block() -> None:
    for rows in (100, 100_000):
        accepts(pm_settle_rows_per_block=rows)
    for rows in (99, 100_001):
        refuses(
            "pm_settle_rows_per_block >= 100 && pm_settle_rows_per_block <= 100000: "
            "pm_settle_rows_per_block must be in [100, 100000]",
            pm_settle_rows_per_block=rows,
        )


def test_what_the_committee_asks_of_voters_is_checked_without_words() -> None:
    accepts(committee_votes_per_request=1, committee_vote_min_vesting=tokens(1))
    refuses("committee_votes_per_request > 0: ", committee_votes_per_request=0)
    refuses("committee_vote_min_vesting.amount > 0: ", committee_vote_min_vesting=shares(0))
    refuses("committee_vote_min_vesting.symbol == TOKEN_SYMBOL: ", committee_vote_min_vesting=shares(1))


def test_rules_of_older_properties_come_first_and_the_others_in_the_order_of_the_reference() -> None:
    refuses("withdraw_intervals > 0: ", withdraw_intervals=0, pm_min_liquidity=tokens(0))
    refuses(
        "pm_oracle_penalty_percent <= 10000: pm_oracle_penalty_percent out of range",
        pm_leverage_fund_percent=101,
        pm_oracle_penalty_percent=10_001,
    )
    refuses(
        "a.amount > 0: pm_min_batch_bet must be positive",
        pm_max_outcomes=1,
        pm_min_batch_bet=tokens(0),
    )
