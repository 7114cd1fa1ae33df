"""Importing: what a reader of snapshots must do besides taking the records (spec 03, section 27.4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lmdb
import msgspec
import pytest

from ledgerd.chain.ledger.discrepancies import recorded
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.offline.audit import excess_tokens, excess_votes
from ledgerd.protocol.networks.parameters import MAINNET, TESTNET, ChainParameters
from ledgerd.protocol.types.identifiers import NO_BLOCK, ChainId
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import BY_NAME
from ledgerd.snapshot.importing.filling import fill
from ledgerd.snapshot.importing.load import load
from ledgerd.state import Store
from ledgerd.state.files.disk import MAX_DATABASES
from ledgerd.state.loading import LoadingLimits
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME, ACCOUNTS, Account
from ledgerd.state.objects.accounts.proposals import PROPOSALS
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.money.invites import INVITES, Invite
from ledgerd.state.objects.validators import (
    VALIDATOR_BY_NAME,
    VALIDATOR_PENALTIES,
    VALIDATOR_SCHEDULES,
    VALIDATOR_VOTES,
    SchedulePlace,
)
from tests.snapshot.recorded import STATES, light_file, packed, recorded_file, small_state
from tests.state.ids import set_next_id


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, STORED_TABLES) as store:
        yield store


def load_state(store: Store, state: dict[str, Any], network: ChainParameters = TESTNET, **header: Any) -> None:
    load(store, Snapshot.from_bytes(packed(state, **header)), network)


def renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): renamed(item, names) for key, item in value.items()}
    return [renamed(item, names) for item in value] if isinstance(value, list) else value


def test_objects_are_found_by_their_keys(store: Store) -> None:
    load_state(store, small_state())

    alice = store.at(ACCOUNT_BY_NAME, "alice")

    assert store.get(ACCOUNTS, alice.id) is alice
    assert store.at(VALIDATOR_BY_NAME, "viz").schedule is SchedulePlace.TOP


def test_the_head_is_irreversible_and_its_block_unknown(store: Store) -> None:
    load_state(store, small_state())

    head = store.get(DYNAMIC_GLOBAL_PROPERTIES, 0)

    assert head.last_irreversible_block_num == head.head_block_number == 120
    assert head.last_irreversible_block_id == NO_BLOCK
    assert (head.last_irreversible_block_ref_num, head.last_irreversible_block_ref_prefix) == (0, 0)


def test_the_revision_is_the_number_of_the_head(store: Store) -> None:
    load_state(store, small_state())

    assert store.revision == 120


def test_what_does_not_add_up_in_a_state_is_taken_where_that_is_known(store: Store) -> None:
    """Fixed awards had paid 0.637 beyond the supply; and no file tells the weight of votes."""
    load(store, Snapshot.from_bytes(recorded_file("open-1-600")), TESTNET, residual=637)

    ledger = Ledger(store, TESTNET)

    assert recorded(ledger, Sum.TOKENS) == excess_tokens(ledger) == {0: 637}
    assert recorded(ledger, Sum.VOTES) == excess_votes(ledger) != {}


def test_the_head_block_is_returned(store: Store) -> None:
    snapshot = Snapshot.from_bytes(packed(small_state()))

    block = load(store, snapshot, TESTNET)

    assert block is not None
    assert block.id == snapshot.head_id


def test_the_next_id_is_one_more_than_the_last(store: Store) -> None:
    state = small_state()
    state["proposal"][0]["id"] = 70_000

    load_state(store, state)

    assert store.next_id(PROPOSALS) == 70_001
    assert store.create(ACCOUNTS, Account(name=state["account"][0]["name"] + ".new")).id == len(state["account"])


def test_a_section_that_is_missing_stays_empty(store: Store) -> None:
    state = small_state()
    del state["invite"], state["block_summary"]

    load_state(store, state)

    assert store.create(INVITES, Invite()).id == 0


def test_a_penalty_that_nothing_would_take_back_ends(store: Store) -> None:
    state = small_state()
    state["validator"][0].update(penalty_percent=100, votes=5_000, counted_votes=4_950)
    state["validator"][1].update(penalty_percent=200, votes=6_000, counted_votes=5_880)
    penalty = {"id": 4, "validator": state["validator"][1]["owner"], "penalty_percent": 200}
    state["validator_penalty_expire"] = [{**penalty, "expires": "2027-03-02T00:00:00"}]

    load_state(store, state)

    healed, kept = (store.at(VALIDATOR_BY_NAME, each["owner"]) for each in state["validator"])
    assert (healed.penalty_percent, healed.counted_votes) == (0, 5_000)
    assert (kept.penalty_percent, kept.counted_votes) == (200, 5_880)
    assert store.get(VALIDATOR_PENALTIES, 4).penalty_percent == 200


def test_the_names_of_older_nodes_are_read(store: Store, tmp_path: Path) -> None:
    sections = {
        "validator_schedule": "witness_schedule",
        "validator": "witness",
        "validator_penalty_expire": "witness_penalty_expire",
    }
    fields = {
        "current_validator": "current_witness",
        "inflation_validator_percent": "inflation_witness_percent",
        "validators_voted_for": "witnesses_voted_for",
        "validator": "witness",
        "current_shuffled_validators": "current_shuffled_witnesses",
        "current_shuffled_validators_validations": "current_shuffled_witnesses_validations",
        "num_scheduled_validators": "num_scheduled_witnesses",
        "validator_miss_penalty_percent": "witness_miss_penalty_percent",
        "validator_miss_penalty_duration": "witness_miss_penalty_duration",
        "validator_declaration_fee": "witness_declaration_fee",
    }
    state = small_state()
    block = state.pop("fork_db_head_block")
    old = {sections.get(name, name): renamed(section, fields) for name, section in state.items()}
    old["witness_vote"] = old["validator_vote"]
    old["validator_vote"] = []

    load_state(store, {**old, "fork_db_head_block": block})

    with Store.open(tmp_path / "new", STORED_TABLES) as today:
        load_state(today, state)
        for table in STORED_TABLES:
            assert list(store.scan(table)) == list(today.scan(table))


def test_old_votes_are_not_read_beside_new_ones(store: Store) -> None:
    state = small_state()
    state["witness_vote"] = [{"id": 900, "witness": 0, "account": 1}]

    load_state(store, state)

    assert store.find(VALIDATOR_VOTES, 900) is None


def test_what_older_nodes_did_not_have_is_zero(store: Store) -> None:
    state = small_state()
    del state["dynamic_global_property"][0]["emergency_consensus_active"]
    del state["dynamic_global_property"][0]["emergency_consensus_start_block"]
    for validator in state["validator"]:
        del validator["sharing_rate"], validator["pending_stakeholder_reward"]
    for vote in state["validator_vote"]:
        del vote["vote_created_block"]

    load_state(store, state)

    assert store.get(DYNAMIC_GLOBAL_PROPERTIES, 0).emergency_consensus_active is False
    assert {vote.vote_created_block for vote in store.scan(VALIDATOR_VOTES)} == {0}


def test_a_snapshot_of_another_chain_is_refused(store: Store) -> None:
    with pytest.raises(SnapshotError, match="Chain ID mismatch"):
        load_state(store, small_state(), chain_id="11" * 32)


def test_a_snapshot_of_a_network_with_another_round_is_refused(store: Store) -> None:
    network = msgspec.structs.replace(MAINNET, chain_id=ChainId(TESTNET.chain_id))

    with pytest.raises(SnapshotError, match="1 validators in a round, this one has 21"):
        load_state(store, small_state(), network)


@pytest.mark.parametrize("header", [{"snapshot_block_num": 121}, {"snapshot_block_id": "00000078" + "11" * 16}])
def test_a_header_of_another_block_than_the_state_is_refused(store: Store, header: dict[str, Any]) -> None:
    state = small_state()
    del state["fork_db_head_block"]
    with pytest.raises(SnapshotError, match="the snapshot is of block 120"):
        load_state(store, state, **header)


def test_a_head_block_that_is_not_the_head_is_refused(store: Store) -> None:
    state = small_state()
    state["fork_db_head_block"]["timestamp"] = "2030-01-01T00:00:00"

    with pytest.raises(SnapshotError, match="embedded head block does not match header anchor"):
        load_state(store, state)


def contents(folder: Path) -> dict[bytes, list[tuple[bytes, bytes]]]:
    """Every entry of every sub-database of a closed state."""
    with lmdb.Environment(str(folder), max_dbs=MAX_DATABASES, readonly=True, lock=False) as environment:
        with environment.begin() as transaction:
            names = environment.dbs(transaction)
        handles = {name: environment.open_db(name, create=False) for name in names}
        with environment.begin() as transaction:
            return {name: list(transaction.cursor(handle)) for name, handle in handles.items()}


LIMITS = (LoadingLimits(), LoadingLimits(rows_a_run=7, items_a_block=3, bytes_a_commit=5000))


@pytest.mark.parametrize("name", STATES)
def test_a_recorded_state_is_the_file_of_its_records_created_one_by_one(tmp_path: Path, name: str) -> None:
    snapshot = Snapshot.from_bytes(light_file(name))
    records = [
        (section.table, section.parse(record))
        for section, record in ((BY_NAME.get(name), record) for name, record in snapshot.records())
        if section is not None
    ]
    with Store.open(tmp_path / "created", STORED_TABLES) as store:
        for table, entity in records:
            set_next_id(store, table, entity.id)
            store.create(table, entity.__copy__())
        store.commit()

    created = contents(tmp_path / "created")

    for limits in LIMITS:
        folder = tmp_path / f"loaded {limits.rows_a_run}"
        with Store.open(folder, STORED_TABLES) as store, store.loading(limits) as rows:
            for table, entity in records:
                rows.add(table, entity)
        assert contents(folder) == created
    with Store.open(tmp_path / "filled", STORED_TABLES) as store:
        fill(store, snapshot)
    assert contents(tmp_path / "filled") == created


@pytest.mark.parametrize("section", ["dynamic_global_property", "validator_schedule", "hardfork_property"])
def test_a_snapshot_that_is_not_whole_is_refused(store: Store, section: str) -> None:
    state = small_state()
    del state[section]

    with pytest.raises(SnapshotError, match="it is not whole"):
        load_state(store, state)


def test_a_section_that_nobody_knows_is_refused(store: Store) -> None:
    with pytest.raises(SnapshotError, match="a section markets, which this program does not know"):
        load_state(store, {**small_state(), "markets": [{"id": 0}]})


def test_a_record_that_lacks_a_field_is_refused(store: Store) -> None:
    state = small_state()
    del state["account"][2]["balance"]

    with pytest.raises(SnapshotError, match=r"a record of account .* balance"):
        load_state(store, state)


@pytest.mark.parametrize("value", ["many VIZ", "1.000000 SHARES", None, []])
def test_a_field_of_another_kind_is_refused(store: Store, value: object) -> None:
    state = small_state()
    state["account"][2]["balance"] = value

    with pytest.raises(SnapshotError, match=r"a record of account .* balance"):
        load_state(store, state)


def test_two_objects_of_one_id_are_refused(store: Store) -> None:
    state = small_state()
    state["account"][2]["id"] = 1

    with pytest.raises(SnapshotError, match="a record of account"):
        load_state(store, state)


def test_two_objects_of_one_name_are_refused(store: Store) -> None:
    state = small_state()
    state["account"][2]["name"] = "null"
    taken = state["account"][2]["id"]

    with pytest.raises(SnapshotError, match=rf"a record of account in the snapshot, {taken}, cannot .* uniqueness"):
        load_state(store, state)


def test_a_vote_of_an_account_that_is_missing_is_refused(store: Store) -> None:
    state = small_state()
    state["validator_vote"][0]["account"] = 4_000

    with pytest.raises(SnapshotError, match=r"a vote for a validator .* is of an account that is not in it"):
        load_state(store, state)


def test_the_schedule_is_read_as_names(store: Store) -> None:
    load_state(store, small_state())

    assert store.get(VALIDATOR_SCHEDULES, 0).scheduled == ("viz",)
