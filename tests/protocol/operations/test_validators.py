"""Validators, votes for them and theirs on the chain's properties: bytes, JSON, rules, authorities."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_from_text
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET
from ledgerd.protocol.operations.base import active
from ledgerd.protocol.operations.validators import (
    AccountValidatorProxy,
    AccountValidatorVote,
    ChainPropertiesUpdate,
    SetRewardSharing,
    ValidatorUpdate,
    VersionedChainPropertiesUpdate,
)
from ledgerd.protocol.properties import (
    ChainPropertiesHf4,
    ChainPropertiesHf6,
    ChainPropertiesHf9,
    ChainPropertiesHf13,
    ChainPropertiesHf14,
    ChainPropertiesInit,
    default_properties,
    json_defaults_of,
)
from ledgerd.protocol.types.names import NO_NAME, AccountName
from tests.protocol.operations.expect import accepts, asks_for_names, changed, refuses, round_trips

VIZ = AccountName("viz")
KEY_TEXT = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"

UPDATE = ValidatorUpdate(VIZ, "https://example.test/viz", public_key_from_text(KEY_TEXT))
VOTE = AccountValidatorVote(VIZ, VIZ, True)
PROXY = AccountValidatorProxy(AccountName("frank"), AccountName("bob"))
DEFAULTS = default_properties(MAINNET)
FIRST_DEFAULTS = ChainPropertiesInit(*(getattr(DEFAULTS, field) for field in ChainPropertiesInit.__struct_fields__))
PROPERTIES = ChainPropertiesUpdate(AccountName("a311599"), FIRST_DEFAULTS)
VERSIONED = VersionedChainPropertiesUpdate(VIZ, DEFAULTS)
SHARING = SetRewardSharing(VIZ, 5_000)

RECORDED: list[tuple[type[ChainPropertiesInit], str, dict[str, Any]]] = [
    (
        ChainPropertiesInit,
        (
            "00e8030000000000000356495a00000000000002000a000000008d270001000000000000000356495a0000000000001027"
            "e8030065cd1d000000000653484152455300000020a107006400"
        ),
        {
            "account_creation_fee": "1.000 VIZ",
            "maximum_block_size": 131072,
            "create_account_delegation_ratio": 10,
            "create_account_delegation_time": 2592000,
            "min_delegation": "0.001 VIZ",
            "min_curation_percent": 0,
            "max_curation_percent": 10000,
            "bandwidth_reserve_percent": 1000,
            "bandwidth_reserve_below": "500.000000 SHARES",
            "flag_energy_additional_cost": 0,
            "vote_accounting_min_rshares": 500000,
            "committee_request_approve_min_percent": 100,
        },
    ),
    (
        ChainPropertiesHf4,
        (
            "01e8030000000000000356495a00000000000002000a000000008d270001000000000000000356495a0000000000001027"
            "e8030065cd1d000000000653484152455300000020a10700e803d0078813b0040000"
        ),
        {
            "committee_request_approve_min_percent": 1000,
            "inflation_validator_percent": 2000,
            "inflation_ratio_committee_vs_reward_fund": 5000,
            "inflation_recalc_period": 1200,
        },
    ),
    (
        ChainPropertiesHf6,
        (
            "02e8030000000000000356495a00000000000002000a000000008d270001000000000000000356495a0000000000001027"
            "64000065cd1d000000000653484152455300000020a107006400d0078813004e0c0064000000640080510100"
        ),
        {
            "bandwidth_reserve_percent": 100,
            "committee_request_approve_min_percent": 100,
            "inflation_recalc_period": 806400,
            "data_operations_cost_additional_bandwidth": 100,
            "validator_miss_penalty_percent": 100,
            "validator_miss_penalty_duration": 86400,
        },
    ),
    (
        ChainPropertiesHf9,
        (
            "03e8030000000000000356495a00000000000002000a000000008d270001000000000000000356495a0000000000001027"
            "64000065cd1d000000000653484152455300000020a107006400e8038813b0040000000000006400805101001027000000"
            "0000000356495a00000000e8030000000000000356495a00000000e8030000000000000356495a00000000e80300000000"
            "00000356495a00000000e8030000000000000356495a00000000e8030000000000000356495a000000001c00"
        ),
        {
            "inflation_validator_percent": 1000,
            "inflation_recalc_period": 1200,
            "data_operations_cost_additional_bandwidth": 0,
            "create_invite_min_balance": "10.000 VIZ",
            "committee_create_request_fee": "1.000 VIZ",
            "create_paid_subscription_fee": "1.000 VIZ",
            "account_on_sale_fee": "1.000 VIZ",
            "subaccount_on_sale_fee": "1.000 VIZ",
            "validator_declaration_fee": "1.000 VIZ",
            "withdraw_intervals": 28,
        },
    ),
    (
        ChainPropertiesHf13,
        (
            "04e8030000000000000356495a00000000000002000a000000008d270001000000000000000356495a0000000000001027"
            "e8030065cd1d000000000653484152455300000020a107006400b80b881364000000000000006400805101001027000000"
            "0000000356495a00000000e8030000000000000356495a00000000e8030000000000000356495a00000000e80300000000"
            "00000356495a00000000e8030000000000000356495a00000000e8030000000000000356495a000000001c003c000000"
        ),
        {
            "bandwidth_reserve_percent": 1000,
            "inflation_validator_percent": 3000,
            "inflation_recalc_period": 100,
            "distribution_epoch_length": 60,
        },
    ),
]
"""Properties that the recorded chains were asked for; each is written as the one before it with these keys."""


def test_a_recorded_declaration() -> None:
    round_trips(
        UPDATE,
        "060376697a1868747470733a2f2f6578616d706c652e746573742f76697a"
        "02c21b05402e2af0456468e2a3f01938f6fbc0250c500f93eea6f069c1a75083ee",
        [
            "validator_update",
            {"owner": "viz", "url": "https://example.test/viz", "block_signing_key": KEY_TEXT},
        ],
    )


def test_a_recorded_vote() -> None:
    round_trips(
        VOTE,
        "070376697a0376697a01",
        ["account_validator_vote", {"account": "viz", "validator": "viz", "approve": True}],
    )


def test_a_recorded_proxy_set_and_taken_back() -> None:
    round_trips(PROXY, "08056672616e6b03626f62", ["account_validator_proxy", {"account": "frank", "proxy": "bob"}])
    round_trips(
        AccountValidatorProxy(AccountName("a311599"), NO_NAME),
        "08076133313135393900",
        ["account_validator_proxy", {"account": "a311599", "proxy": ""}],
    )


def test_a_recorded_vote_on_the_first_properties() -> None:
    _, raw, body = RECORDED[0]
    owner, raw = "a311599", raw[2:-4] + "e803"
    body = body | {"committee_request_approve_min_percent": 1000}
    operation = ChainPropertiesUpdate(AccountName(owner), codec_of(ChainPropertiesInit).from_json(body))
    round_trips(
        operation, "1907" + owner.encode().hex() + raw, ["chain_properties_update", {"owner": owner, "props": body}]
    )


@pytest.mark.parametrize("tag", range(5))
def test_recorded_properties_of_each_version(tag: int) -> None:
    version, raw, _ = RECORDED[tag]
    body: dict[str, Any] = {}
    for _, _, fields in RECORDED[: tag + 1]:
        body |= fields
    operation = VersionedChainPropertiesUpdate(VIZ, codec_of(version).from_json(body))
    printed = {"owner": "viz", "props": [tag, body]}
    round_trips(operation, "2e0376697a" + raw, ["versioned_chain_properties_update", printed])


def test_a_recorded_sharing_of_rewards() -> None:
    round_trips(SHARING, "400376697a8813", ["set_reward_sharing", {"owner": "viz", "sharing_rate": 5000}])


def test_all_defaults_of_the_main_network_in_bytes() -> None:
    raw = (
        "05616c69636504e8030000000000000356495a00000000000002000a000000008d270001000000000000000356495a0000"
        "000040064006e8030065cd1d0000000006534841524553000000404b4c00e803d0078813004e0c00000000006400805101"
        "0010270000000000000356495a00000000a0860100000000000356495a00000000a0860100000000000356495a00000000"
        "10270000000000000356495a00000000a0860100000000000356495a0000000010270000000000000356495a000000001c"
        "0080700000"
    )
    operation = VersionedChainPropertiesUpdate(AccountName("alice"), codec_of(ChainPropertiesHf13).from_json({}))
    assert codec_of(VersionedChainPropertiesUpdate).encode(operation).hex() == raw


def test_a_vote_approves_unless_json_says_otherwise() -> None:
    assert codec_of(AccountValidatorVote).from_json({}) == AccountValidatorVote(NO_NAME, NO_NAME, True)


def test_other_missing_keys_are_empty_or_the_defaults_of_the_properties() -> None:
    assert codec_of(ValidatorUpdate).from_json({}) == ValidatorUpdate(NO_NAME, "", NULL_KEY)
    assert codec_of(AccountValidatorProxy).from_json({}) == AccountValidatorProxy(NO_NAME, NO_NAME)
    assert codec_of(SetRewardSharing).from_json({}) == SetRewardSharing(NO_NAME, 0)
    assert codec_of(ChainPropertiesUpdate).from_json({}) == ChainPropertiesUpdate(NO_NAME, FIRST_DEFAULTS)
    versioned = codec_of(VersionedChainPropertiesUpdate)
    assert versioned.from_json({}) == VersionedChainPropertiesUpdate(NO_NAME, FIRST_DEFAULTS)
    with json_defaults_of(TESTNET):
        assert versioned.from_json({"props": [5, {}]}).props == default_properties(TESTNET)


def test_names_have_to_be_valid() -> None:
    asks_for_names(UPDATE, "owner")
    asks_for_names(VOTE, "account", "validator")
    asks_for_names(PROXY, "account", "proxy")
    asks_for_names(PROPERTIES, "owner")
    asks_for_names(VERSIONED, "owner")
    asks_for_names(SHARING, "owner")


def test_a_validator_has_a_page_of_less_than_2048_bytes_in_utf8() -> None:
    accepts(changed(UPDATE, url="u"))
    accepts(changed(UPDATE, url="u" * 2_047))
    refuses(changed(UPDATE, url=""), "url.size() > 0: URL size must be greater than 0")
    refuses(
        changed(UPDATE, url="é" * 1_024),
        "url.size() < CHAIN_MAX_VALIDATOR_URL_LENGTH: URL size must be lesser than CHAIN_MAX_VALIDATOR_URL_LENGTH",
    )
    refuses(changed(UPDATE, url="\udcff"), "fc::is_utf8(url): URL is not valid UTF8")


def test_a_null_key_retires_a_validator() -> None:
    accepts(changed(UPDATE, block_signing_key=NULL_KEY))


def test_nobody_is_their_own_proxy() -> None:
    accepts(changed(PROXY, proxy=NO_NAME))
    refuses(changed(PROXY, proxy=PROXY.account), "proxy != account: Cannot proxy to self")


def test_properties_are_checked_in_both_operations() -> None:
    accepts(PROPERTIES)
    accepts(VERSIONED)
    huge = changed(PROPERTIES, props=codec_of(ChainPropertiesInit).from_json({"maximum_block_size": 2**32 - 1}))
    refuses(huge, "maximum_block_size <= CHAIN_MAX_BLOCK_SIZE_LIMIT: ")
    refuses(
        changed(VERSIONED, props=codec_of(ChainPropertiesHf13).from_json({"withdraw_intervals": 0})),
        "withdraw_intervals > 0: ",
    )


def test_how_short_an_epoch_may_be_depends_on_the_network() -> None:
    short = changed(VERSIONED, props=codec_of(ChainPropertiesHf13).from_json({"distribution_epoch_length": 60}))
    accepts(short, TESTNET)
    refuses(
        short,
        "distribution_epoch_length >= CHAIN_MIN_DISTRIBUTION_EPOCH_LENGTH: "
        "distribution_epoch_length must be at least 1200 blocks",
    )


def test_a_validator_shares_all_of_its_rewards_at_most() -> None:
    accepts(changed(SHARING, sharing_rate=0))
    accepts(changed(SHARING, sharing_rate=10_000))
    refuses(
        changed(SHARING, sharing_rate=10_001),
        "sharing_rate <= CHAIN_VALIDATOR_MAX_SHARING_RATE: sharing_rate 10001 exceeds maximum 10000",
    )


def test_the_active_authority_declares_and_votes() -> None:
    assert UPDATE.authorities() == active(VIZ)
    assert changed(VOTE, validator=AccountName("bob")).authorities() == active(VIZ)
    assert PROXY.authorities() == active(AccountName("frank"))
    assert PROPERTIES.authorities() == active(AccountName("a311599"))
    assert VERSIONED.authorities() == active(VIZ)
    assert SHARING.authorities() == active(VIZ)


def test_fields_are_read_by_their_names_of_before_where_todays_are_missing() -> None:
    vote = codec_of(AccountValidatorVote)
    assert vote.from_json({"account": "viz", "witness": "viz", "approve": True}) == VOTE
    assert vote.from_json({"account": "viz", "witness": "bob", "validator": "viz"}) == VOTE

    given = json.loads(codec_of(ChainPropertiesHf14).to_json(DEFAULTS))
    renamed = {name.replace("validator", "witness"): value for name, value in given.items()}
    assert sum("witness" in name for name in renamed) == 4
    assert codec_of(ChainPropertiesHf14).from_json(renamed) == DEFAULTS
