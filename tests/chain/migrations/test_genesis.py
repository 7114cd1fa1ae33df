"""The state before the first block."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.genesis import create_genesis
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET, ChainParameters
from ledgerd.protocol.properties import default_properties
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.versions import version_number
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES
from ledgerd.state.objects.validators import VALIDATORS, SchedulePlace
from tests.chain.ledgers import NOW, authority_for, metadata_of

NOBODY = Authority(1, {}, {})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, STORED_TABLES) as store:
        yield store


@pytest.fixture(params=[MAINNET, TESTNET], ids=["mainnet", "testnet"])
def ledger(store: Store, request: pytest.FixtureRequest) -> Ledger:
    return genesis_of(store, request.param)


def genesis_of(store: Store, network: ChainParameters) -> Ledger:
    ledger = Ledger(store, network)
    create_genesis(ledger, NOW)
    return ledger


def test_the_built_in_accounts_come_first(ledger: Ledger) -> None:
    names = [account.name for account in ledger.store.scan(ACCOUNTS)]

    assert names[:5] == ["null", "committee", "anonymous", "invite", "viz"]
    assert names[5:] == [each.name for each in ledger.network.genesis_accounts]
    assert [metadata_of(ledger, name) for name in names[:6]] == ["", "", "0", "", "", ""]


def test_nobody_can_sign_for_what_belongs_to_everybody(ledger: Ledger) -> None:
    network = ledger.network
    for name in ("null", "committee", "anonymous"):
        record = authority_for(ledger, name)
        assert (record.master, record.active, record.regular) == (NOBODY, NOBODY, NOBODY)
    invite = authority_for(ledger, "invite")
    assert (invite.master, invite.active) == (NOBODY, authority_of(network.invite_key))
    assert authority_for(ledger, "viz").master == authority_of(network.initiator_key)


def test_the_committee_is_the_first_validator_and_has_told_no_version(ledger: Ledger) -> None:
    committee = ledger.store.get(VALIDATORS, 0)

    assert (committee.owner, committee.signing_key) == ("committee", ledger.network.committee_key)
    assert (committee.schedule, committee.running_version, committee.hardfork_version_vote) == (SchedulePlace.TOP, 0, 0)
    assert committee.props == ledger.median == default_properties(ledger.network)
    assert ledger.schedule.scheduled == ("committee",)
    assert len(ledger.schedule.current_shuffled_validators) == ledger.network.max_validators


def test_hardfork_0_is_in_force(ledger: Ledger) -> None:
    hardforks = ledger.hardforks

    assert (hardforks.processed_hardforks, hardforks.last_hardfork) == ((NOW,), 0)
    assert hardforks.current_hardfork_version == version_number(1, 0)
    assert (hardforks.next_hardfork, hardforks.next_hardfork_time) == (0, 0)


def test_the_chain_has_no_head_yet(ledger: Ledger) -> None:
    head = ledger.globals

    assert (head.head_block_number, head.time, head.genesis_time) == (0, 0, NOW)
    assert (head.recent_slots_filled, head.participation_count) == (2**128 - 1, 128)
    assert head.maximum_block_size == 6_291_456
    assert ledger.store.next_id(BLOCK_SUMMARIES) == 65_536


def test_every_distributed_token_is_vested_and_the_rest_is_the_initiators(ledger: Ledger) -> None:
    head, store = ledger.globals, ledger.store

    assert head.current_supply == 50_000_000_000
    assert store.get(ACCOUNTS, 4).balance + head.total_vesting_fund == head.current_supply
    assert sum(account.vesting_shares for account in store.scan(ACCOUNTS)) == head.total_vesting_shares
    assert head.total_vesting_shares == 1_000 * head.total_vesting_fund


@pytest.mark.parametrize(
    ("network", "accounts", "fund", "left", "candidates"),
    [(MAINNET, 34, 49_999_999_998, 2, 37), (TESTNET, 6, 600_000_000, 49_400_000_000, 9)],
)
def test_the_distribution_is_that_of_the_network(
    store: Store, network: ChainParameters, accounts: int, fund: int, left: int, candidates: int
) -> None:
    ledger = genesis_of(store, network)

    assert store.next_id(ACCOUNTS) == 5 + accounts
    assert (ledger.globals.total_vesting_fund, store.get(ACCOUNTS, 4).balance) == (fund, left)
    assert ledger.globals.bandwidth_reserve_candidates == candidates


def test_a_distributed_account_has_one_key_and_the_initiator_to_recover_it(ledger: Ledger) -> None:
    entry = ledger.network.genesis_accounts[0]

    account, record = ledger.account(entry.name), authority_for(ledger, entry.name)
    assert (account.memo_key, account.recovery_account) == (entry.key, "viz")
    assert record.master == record.active == record.regular == authority_of(entry.key)
    assert (record.last_master_update, account.created) == (0, 0)


def test_a_network_without_a_distribution_begins_with_the_built_in_accounts(store: Store) -> None:
    ledger = genesis_of(store, msgspec.structs.replace(TESTNET, genesis=()))

    assert ledger.globals.total_vesting_shares == 0
    assert store.get(ACCOUNTS, 4).balance == 50_000_000_000
