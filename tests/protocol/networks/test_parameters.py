"""What the two known networks are, as recorded and as the reference's headers have them."""

from __future__ import annotations

import msgspec
import pytest

from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.networks.parameters import MAINNET, NETWORKS, TESTNET, ChainParameters, chain_id_of
from ledgerd.protocol.types.versions import version_number

EMERGENCY_KEY = "VIZ75CRHVHPwYiUESy1bgN3KhVFbZCQQRA9jT6TnpzKAmpxMPD6Xv"
INVITE_KEY = "VIZ6LiKWipnNoBSDafStzSUgo9ihGawo25WW9kMvfTpGMwKp2qfG9"


def test_chain_ids_are_hashes_of_names() -> None:
    mainnet = "2040effda178d4fffff5eab7a915d4019879f5205cc5392e4bcced2b6edda0cd"
    testnet = "441adba730c2a8dab953abd87d452bb356627b8a7d181f46b2aaa2c053af2112"

    assert MAINNET.chain_id.hex() == chain_id_of("VIZ").hex() == mainnet
    assert TESTNET.chain_id.hex() == chain_id_of("VIZTEST").hex() == testnet


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_both_networks_run_version_4_1_0_and_began_with_1_0_0(network: ChainParameters) -> None:
    assert network.version == network.hardfork_version == version_number(4, 1)
    assert network.startup_version == version_number(1, 0)
    assert network.last_hardfork.number == 15


def test_a_round_of_the_mainnet_has_21_places() -> None:
    assert (MAINNET.max_top_validators, MAINNET.max_support_validators) == (11, 10)
    assert MAINNET.max_validators == 21
    assert MAINNET.emergency_max_validator_missed_blocks == 105


def test_a_round_of_the_testnet_has_one_place() -> None:
    assert (TESTNET.max_top_validators, TESTNET.max_support_validators) == (1, 0)
    assert TESTNET.max_validators == 1
    assert TESTNET.emergency_max_validator_missed_blocks == 5


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_both_networks_have_the_same_keys(network: ChainParameters) -> None:
    assert public_key_text(network.emergency_key) == EMERGENCY_KEY
    assert public_key_text(network.invite_key) == INVITE_KEY


def test_the_initial_distribution_is_read_when_it_is_asked_for() -> None:
    assert MAINNET.genesis == "mainnet"
    assert MAINNET.genesis_accounts[0].name == "in"
    assert TESTNET.genesis_accounts[0].name == "alice"


def test_a_network_may_bring_its_own_accounts() -> None:
    accounts = TESTNET.genesis_accounts[:2]

    assert msgspec.structs.replace(MAINNET, genesis=accounts).genesis_accounts == accounts


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_the_known_networks_keep_to_the_ranges_that_chain_files_must_keep_to(network: ChainParameters) -> None:
    for field in msgspec.structs.fields(ChainParameters):
        value = getattr(network, field.name)
        if isinstance(value, int):
            assert msgspec.convert(value, field.type) == value


@pytest.mark.parametrize(
    ("key", "mainnet", "testnet"),
    [
        ("hardfork_required_validators", 17, 1),
        ("energy_regeneration_seconds", 432_000, 120),
        ("vesting_withdraw_intervals", 28, 60),
        ("vesting_withdraw_interval_seconds", 86_400, 1),
        ("bandwidth_average_window_seconds", 604_800, 86_400),
        ("master_auth_recovery_period", 2_592_000, 120),
        ("master_update_limit", 3_600, 600),
        ("account_on_sale_delay", 604_800, 600),
        ("clear_used_invite_delay", 86_400, 600),
        ("clear_closed_committee_request_delay", 604_800, 600),
        ("committee_min_duration", 432_000, 3_600),
        ("committee_request_per_time", 86_400, 60),
        ("committee_request_processing", 200, 20),
        ("default_distribution_epoch_length", 28_800, 1_200),
        ("min_distribution_epoch_length", 1_200, 1),
    ],
)
def test_the_networks_differ_as_the_headers_do(key: str, mainnet: int, testnet: int) -> None:
    assert getattr(MAINNET, key) == mainnet
    assert getattr(TESTNET, key) == testnet
