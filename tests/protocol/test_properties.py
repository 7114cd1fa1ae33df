"""Chain properties."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict, replace

from ledgerd.codec import codec_of
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.properties import (
    ChainPropertiesHf4,
    ChainPropertiesHf6,
    ChainPropertiesHf9,
    ChainPropertiesHf13,
    ChainPropertiesHf14,
    ChainPropertiesInit,
    VersionedChainProperties,
    default_properties,
    json_defaults_of,
)
from ledgerd.protocol.types.assets import Asset, shares, tokens

DEFAULTS = default_properties(MAINNET)

VERSIONS = (
    ChainPropertiesInit,
    ChainPropertiesHf4,
    ChainPropertiesHf6,
    ChainPropertiesHf9,
    ChainPropertiesHf13,
    ChainPropertiesHf14,
)

PERCENTS = (
    "bandwidth_reserve_percent",
    "flag_energy_additional_cost",
    "committee_request_approve_min_percent",
    "inflation_validator_percent",
    "inflation_ratio_committee_vs_reward_fund",
    "validator_miss_penalty_percent",
)

FEES = (
    "min_delegation",
    "create_invite_min_balance",
    "committee_create_request_fee",
    "create_paid_subscription_fee",
    "account_on_sale_fee",
    "subaccount_on_sale_fee",
    "validator_declaration_fee",
)

# Each bound: the field, the last value within it, the first beyond it, what the rule says.
BOUNDS: list[tuple[str, Any, Any, str]] = [
    (
        "account_creation_fee",
        tokens(1_000),
        tokens(999),
        "account_creation_fee.amount >= CHAIN_MIN_ACCOUNT_CREATION_FEE: ",
    ),
    ("account_creation_fee", tokens(1_000), shares(1_000), "account_creation_fee.symbol == TOKEN_SYMBOL: "),
    ("maximum_block_size", 65_536, 65_535, "maximum_block_size >= CHAIN_MIN_BLOCK_SIZE_LIMIT: "),
    ("maximum_block_size", 2_097_152, 2_097_153, "maximum_block_size <= CHAIN_MAX_BLOCK_SIZE_LIMIT: "),
    ("create_account_delegation_ratio", 1, 0, "create_account_delegation_ratio > 0: "),
    (
        "create_account_delegation_time",
        432_000,
        431_999,
        "create_account_delegation_time >= CHAIN_ENERGY_REGENERATION_SECONDS: ",
    ),
    ("min_curation_percent", 0, -1, "min_curation_percent >= 0: "),
    ("min_curation_percent", 1_600, 1_601, "min_curation_percent <= max_curation_percent: "),
    ("max_curation_percent", 10_000, 10_001, "max_curation_percent <= CHAIN_100_PERCENT: "),
    ("bandwidth_reserve_below", shares(0), shares(-1), "bandwidth_reserve_below.amount >= 0: "),
    ("bandwidth_reserve_below", shares(0), tokens(0), "bandwidth_reserve_below.symbol == SHARES_SYMBOL: "),
    ("inflation_recalc_period", 10_512_000, 10_512_001, "inflation_recalc_period <= CHAIN_BLOCKS_PER_YEAR: "),
    (
        "validator_miss_penalty_duration",
        31_536_000,
        31_536_001,
        "validator_miss_penalty_duration <= (CHAIN_BLOCKS_PER_YEAR * CHAIN_BLOCK_INTERVAL): ",
    ),
    ("withdraw_intervals", 1, 0, "withdraw_intervals > 0: "),
    (
        "distribution_epoch_length",
        1_200,
        1_199,
        (
            "distribution_epoch_length >= CHAIN_MIN_DISTRIBUTION_EPOCH_LENGTH: "
            "distribution_epoch_length must be at least 1200 blocks"
        ),
    ),
    (
        "distribution_epoch_length",
        10_512_000,
        10_512_001,
        (
            "distribution_epoch_length <= uint32_t(CHAIN_BLOCKS_PER_YEAR): "
            "distribution_epoch_length must not exceed one year in blocks"
        ),
    ),
    *((field, 0, -1, f"{field} >= 0: ") for field in PERCENTS),
    *((field, 10_000, 10_001, f"{field} <= CHAIN_100_PERCENT: ") for field in PERCENTS),
    *((field, tokens(1), tokens(0), f"{field}.amount > 0: ") for field in FEES),
    *((field, tokens(1), shares(1), f"{field}.symbol == TOKEN_SYMBOL: ") for field in FEES),
]


@pytest.mark.parametrize(("field", "within", "beyond", "message"), BOUNDS)
def test_a_property_beyond_its_bound_is_refused(field: str, within: object, beyond: object, message: str) -> None:
    replace(DEFAULTS, **{field: within}).check(MAINNET)
    with pytest.raises(RuleViolation) as refusal:
        replace(DEFAULTS, **{field: beyond}).check(MAINNET)
    assert refusal.value.message == message


@pytest.mark.parametrize("field", ["vote_accounting_min_rshares", "data_operations_cost_additional_bandwidth"])
def test_some_properties_have_no_bounds(field: str) -> None:
    for value in (0, 2**32 - 1):
        replace(DEFAULTS, **{field: value}).check(MAINNET)


def test_of_two_broken_rules_that_of_the_older_version_speaks() -> None:
    broken = replace(DEFAULTS, distribution_epoch_length=0, maximum_block_size=0)
    with pytest.raises(RuleViolation, match="maximum_block_size"):
        broken.check(MAINNET)


def test_an_older_version_knows_nothing_of_later_rules() -> None:
    newest = replace(DEFAULTS, withdraw_intervals=0)
    codec = codec_of(ChainPropertiesHf6)
    codec.decode(codec_of(ChainPropertiesHf13).encode(newest)).check(MAINNET)


def test_the_testnet_has_bounds_of_its_own() -> None:
    quick = replace(DEFAULTS, create_account_delegation_time=120, distribution_epoch_length=1)
    quick.check(TESTNET)
    with pytest.raises(RuleViolation, match="create_account_delegation_time"):
        replace(quick, create_account_delegation_time=119).check(TESTNET)
    with pytest.raises(RuleViolation, match="must be at least 1 blocks"):
        replace(quick, distribution_epoch_length=0).check(TESTNET)


def test_the_defaults_are_those_of_the_network() -> None:
    testnet = default_properties(TESTNET)
    assert (DEFAULTS.withdraw_intervals, DEFAULTS.distribution_epoch_length) == (28, 28_800)
    assert (testnet.withdraw_intervals, testnet.distribution_epoch_length) == (60, 1_200)
    assert replace(testnet, withdraw_intervals=28, distribution_epoch_length=28_800) == DEFAULTS
    for network in (MAINNET, TESTNET):
        default_properties(network).check(network)


def test_keys_that_json_leaves_out_take_the_defaults_of_the_network_around() -> None:
    codec = codec_of(ChainPropertiesHf14)
    sent = {"maximum_block_size": 65_536}
    assert codec.from_json(sent) == replace(DEFAULTS, maximum_block_size=65_536)
    with json_defaults_of(TESTNET):
        assert codec.from_json(sent) == replace(default_properties(TESTNET), maximum_block_size=65_536)
        with json_defaults_of(MAINNET):
            assert codec.from_json({}) == DEFAULTS
        assert codec.from_json({}) == default_properties(TESTNET)
    assert codec.from_json({}) == DEFAULTS


def test_the_network_around_is_forgotten_after_an_error() -> None:
    with pytest.raises(RuleViolation), json_defaults_of(TESTNET):
        replace(DEFAULTS, withdraw_intervals=0).check(TESTNET)
    assert codec_of(ChainPropertiesHf9).from_json({}).withdraw_intervals == 28


def test_the_tag_of_a_version_is_its_place() -> None:
    codec = codec_of(VersionedChainProperties)
    for tag, version in enumerate(VERSIONS):
        properties = codec_of(version).from_json({})
        assert codec.encode(properties)[0] == tag
        assert codec.decode_exactly(codec.encode(properties)) == properties
        assert type(codec.from_json([tag, {}])) is version
        assert codec.to_json(properties).startswith(f'[{tag},{{"account_creation_fee":"1.000 VIZ",')


def _properties() -> st.SearchStrategy[ChainPropertiesHf14]:
    kinds: dict[type, st.SearchStrategy[Any]] = {
        Asset: st.builds(Asset, st.integers(-(2**63), 2**63 - 1), st.sampled_from([tokens(0).symbol, shares(0).symbol]))
    }
    kinds[bool] = st.booleans()
    values = {field: kinds.get(type(default), st.integers(0, 2**15 - 1)) for field, default in asdict(DEFAULTS).items()}
    values["pm_max_outcomes"] = st.integers(0, 255)
    return st.builds(ChainPropertiesHf14, **values)


@given(_properties(), _properties())
def test_an_older_version_overwrites_its_own_fields_and_no_later_ones(
    voted: ChainPropertiesHf14, known: ChainPropertiesHf14
) -> None:
    packed = codec_of(ChainPropertiesHf14).encode(voted)
    for version in VERSIONS:
        older = codec_of(version).decode(packed)
        merged = older.apply_to(known)
        assert type(merged) is ChainPropertiesHf14
        for field in ChainPropertiesHf14.__struct_fields__:
            source = voted if field in version.__struct_fields__ else known
            assert getattr(merged, field) == getattr(source, field)


@given(_properties())
def test_bytes_of_properties_come_back(properties: ChainPropertiesHf14) -> None:
    codec = codec_of(ChainPropertiesHf14)
    assert codec.decode_exactly(codec.encode(properties)) == properties
