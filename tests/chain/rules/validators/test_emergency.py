"""Emergency consensus: how it begins, who produces meanwhile, how it ends."""

from __future__ import annotations

import base64
import json
import lzma
import zlib
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.emergency import (
    begin_emergency_after_silence,
    fill_schedule_with_committee,
    repair_schedule,
)
from ledgerd.chain.steps.applying import apply_block
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.protocol.types.versions import version_number
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.file.sections import BY_NAME
from ledgerd.snapshot.importing.filling import fill
from ledgerd.state import Store
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.validators import (
    VALIDATOR_PENALTIES,
    VALIDATORS,
    SchedulePlace,
    Validator,
    ValidatorPenaltyExpire,
)
from tests.additions import PROPERTIES
from tests.chain.empty_blocks import schedule
from tests.chain.ledgers import ALICE, BOB, HEAD, NOW, change, create_validator, key_of, set_median
from tests.chain.recorded_chains import LIKE_THE_RECORDING, network_of
from tests.recorded import FOLDER, recorded_answers

PLACES = 21
FROM_399_MISSED_SLOTS_ON = ((398, False), (399, True))
OPEN_MAIN = FOLDER / "open-main"


def begin(ledger: Ledger, missed: int = 399) -> None:
    begin_emergency_after_silence(ledger, missed)


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    """Alice, with a penalty, and bob take turns."""
    create_validator(ledger, ALICE, votes=500, counted_votes=400, penalty_percent=2_000, current_run=4)
    create_validator(ledger, BOB, votes=300, counted_votes=300, current_run=4)
    ledger.store.create(VALIDATOR_PENALTIES, ValidatorPenaltyExpire(validator=ALICE, penalty_percent=2_000))
    change(ledger, ledger.hardforks, last_hardfork=13, current_hardfork_version=version_number(3, 2))
    schedule(ledger, ALICE, BOB)
    return ledger


def recorded_answer(method: str) -> Any:
    """What the reference answered after block 901, which began an emergency."""
    text = lzma.decompress((OPEN_MAIN / "answers-901-emergency.jsonl.xz").read_bytes()).decode()
    facts = [json.loads(line) for line in text.splitlines()]
    return next(json.loads(fact["answer"])["result"] for fact in facts if fact["request"]["params"][1] == method)


def differences(ours: Any, recorded: Any) -> dict[str, tuple[Any, Any]]:
    """Fields that both show, where they differ; the API prints some numbers as texts."""
    both = ours.keys() & recorded.keys()
    return {key: (ours[key], recorded[key]) for key in both if str(ours[key]) != str(recorded[key])}


def with_new_properties(recorded: dict[str, Any], field: str) -> dict[str, Any]:
    """The same with the properties that later versions add."""
    return {**recorded, field: {**recorded[field], **PROPERTIES}}


def test_a_recorded_silence_of_669_slots_begins_an_emergency_as_in_the_reference(tmp_path: Path) -> None:
    state = lzma.decompress((OPEN_MAIN / "state-900.json.xz").read_bytes())
    raw = json.loads(recorded_answers("open-main", 901)["get_raw_block"][(901,)])["raw_block"]
    block = codec_of(Block).decode_exactly(base64.b64decode(raw))
    with Store.open(tmp_path, STORED_TABLES) as store:
        fill(store, Snapshot.from_bytes(zlib.compress(state)))
        ledger = Ledger(store, network_of("open-main"))

        apply_block(ledger, block, LIKE_THE_RECORDING)

        ours = json.loads(BY_NAME["dynamic_global_property"].text(ledger.globals))
        assert differences(ours, recorded_answer("get_dynamic_global_properties")) == {}
        ours = json.loads(BY_NAME["validator_schedule"].text(ledger.schedule))
        recorded = with_new_properties(recorded_answer("get_validator_schedule"), "median_props")
        assert differences(ours, recorded) == {}
        validators = recorded_answer("get_validators_by_counted_vote")
        assert len(validators) == 34
        for recorded in validators:
            ours = json.loads(BY_NAME["validator"].text(store.get(VALIDATORS, recorded["id"])))
            assert differences(ours, with_new_properties(recorded, "props")) == {}


@pytest.mark.parametrize(("missed", "is_active"), FROM_399_MISSED_SLOTS_ON)
def test_it_begins_with_a_block_after_twenty_minutes_of_silence(
    ledger: Ledger, missed: int, *, is_active: bool
) -> None:
    begin(ledger, missed)

    assert ledger.globals.emergency_consensus_active is is_active


def test_before_hardfork_12_there_are_no_emergencies(ledger: Ledger) -> None:
    change(ledger, ledger.hardforks, processed_hardforks=(0,) * 12)

    begin(ledger)

    assert not ledger.globals.emergency_consensus_active


def test_an_emergency_does_not_begin_again_while_it_lasts(ledger: Ledger) -> None:
    change(ledger, ledger.globals, emergency_consensus_active=True, emergency_consensus_start_block=5)

    begin(ledger)

    assert ledger.globals.emergency_consensus_start_block == 5
    assert ledger.validator(ALICE).is_active


def test_all_keys_but_the_committees_go_and_penalties_with_them(ledger: Ledger) -> None:
    begin(ledger)

    alice = ledger.validator(ALICE)
    assert alice.signing_key == NULL_KEY
    assert (alice.penalty_percent, alice.counted_votes, alice.current_run) == (0, 500, 0)
    assert ledger.store.find(VALIDATOR_PENALTIES, 0) is None
    assert ledger.globals.emergency_consensus_start_block == HEAD


def test_every_slot_of_the_round_is_the_committees(ledger: Ledger) -> None:
    begin(ledger)

    assert ledger.schedule.scheduled == (COMMITTEE_ACCOUNT, COMMITTEE_ACCOUNT)
    assert ledger.schedule.current_shuffled_validators[2:] == (NO_NAME,) * (PLACES - 2)
    assert ledger.schedule.next_shuffle_block_num == HEAD + 2


def test_the_committee_stands_for_what_is_in_force(ledger: Ledger) -> None:
    set_median(ledger, withdraw_intervals=77)

    begin(ledger)

    committee = ledger.validator(COMMITTEE_ACCOUNT)
    assert committee.signing_key == ledger.network.emergency_key
    assert (committee.schedule, committee.props.withdraw_intervals) == (SchedulePlace.TOP, 77)
    assert committee.running_version == ledger.network.version == version_number(4, 1)
    assert committee.hardfork_version_vote == version_number(3, 2)


def test_a_committee_that_is_no_validator_becomes_one(ledger: Ledger) -> None:
    ledger.store.remove(ledger.validator(COMMITTEE_ACCOUNT))

    begin(ledger)

    committee = ledger.validator(COMMITTEE_ACCOUNT)
    assert (committee.created, committee.signing_key) == (NOW, ledger.network.emergency_key)


def returned(ledger: Ledger, count: int) -> Validator:
    """So many validators have set a key again, and are in the new round; a place behind them lost its key since."""
    names = [f"v{place:02}" for place in range(count)]
    for owner in names:
        create_validator(ledger, owner)
    gone = create_validator(ledger, "gone", signing_key=NULL_KEY)
    schedule(ledger, *names, "gone")
    change(ledger, ledger.globals, emergency_consensus_active=True)
    return gone


@pytest.mark.parametrize(("count", "is_active"), [(14, True), (15, False)])
def test_it_ends_when_15_of_21_are_back(ledger: Ledger, count: int, *, is_active: bool) -> None:
    returned(ledger, count)

    fill_schedule_with_committee(ledger)

    assert ledger.globals.emergency_consensus_active is is_active
    assert ledger.schedule.num_scheduled_validators == PLACES
    assert ledger.schedule.scheduled[count - 1 :] == (f"v{count - 1:02}", *(COMMITTEE_ACCOUNT,) * (PLACES - count))
    assert ledger.schedule.next_shuffle_block_num == HEAD + PLACES


def test_on_a_network_of_one_place_it_ends_with_the_next_round(ledger: Ledger) -> None:
    ledger.network = TESTNET
    change(ledger, ledger.globals, emergency_consensus_active=True)
    schedule(ledger, NO_NAME)

    fill_schedule_with_committee(ledger)

    assert ledger.schedule.scheduled == (COMMITTEE_ACCOUNT,)
    assert not ledger.globals.emergency_consensus_active


def test_without_an_emergency_a_round_stays_as_it_was_planned(ledger: Ledger) -> None:
    fill_schedule_with_committee(ledger)

    assert ledger.schedule.scheduled == (ALICE, BOB)
    assert ledger.validator(COMMITTEE_ACCOUNT).signing_key == key_of(COMMITTEE_ACCOUNT)


def test_at_the_start_a_round_with_an_empty_place_becomes_the_committees(ledger: Ledger) -> None:
    schedule(ledger, ALICE, NO_NAME)

    repair_schedule(ledger)

    assert ledger.schedule.scheduled == (COMMITTEE_ACCOUNT,) * PLACES
    assert ledger.globals.emergency_consensus_active
    assert ledger.globals.emergency_consensus_start_block == HEAD


def test_at_the_start_a_whole_round_is_left_alone(ledger: Ledger) -> None:
    repair_schedule(ledger)

    assert ledger.schedule.scheduled == (ALICE, BOB)
    assert not ledger.globals.emergency_consensus_active
