"""Emergency consensus (hardfork 12): validators stop, so the committee makes the blocks (spec 03, section 20)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol import constants
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.validators import VALIDATOR_PENALTIES, VALIDATORS, SchedulePlace, Validator


def is_emergency(ledger: Ledger) -> bool:
    return ledger.globals.emergency_consensus_active and ledger.hardfork(12)


def begin_emergency_after_silence(ledger: Ledger, missed: int) -> None:
    """After so many empty slots every slot becomes the committee's, and all other signing keys are removed."""
    if not ledger.hardfork(12) or ledger.globals.emergency_consensus_active:
        return
    if (missed + 1) * constants.BLOCK_INTERVAL < constants.EMERGENCY_CONSENSUS_TIMEOUT_SEC:
        return
    globals_, schedule = ledger.globals, ledger.schedule
    ledger.remember(globals_)
    globals_.emergency_consensus_active = True
    globals_.emergency_consensus_start_block = globals_.head_block_number
    _appoint_committee(ledger)
    for validator in ledger.store.scan(VALIDATORS):
        if validator.owner != constants.COMMITTEE_ACCOUNT:
            _dismiss(ledger, validator)
    for penalty in ledger.store.scan(VALIDATOR_PENALTIES):
        ledger.store.remove(penalty)
    ledger.remember(schedule)
    count = schedule.num_scheduled_validators
    rest = schedule.current_shuffled_validators[count:]
    schedule.current_shuffled_validators = (constants.COMMITTEE_ACCOUNT,) * count + rest
    schedule.next_shuffle_block_num = globals_.head_block_number + count


def _appoint_committee(ledger: Ledger) -> None:
    """The committee's validator, which has none of its own before the first emergency of some chains."""
    committee = ledger.find_validator(constants.COMMITTEE_ACCOUNT)
    if committee is None:
        props = ledger.median
        committee = ledger.store.create(
            VALIDATORS, Validator(owner=constants.COMMITTEE_ACCOUNT, created=ledger.now, props=props)
        )
    with ledger.editing(committee):
        committee.schedule = SchedulePlace.TOP
        _make_neutral(ledger, committee)


def _make_neutral(ledger: Ledger, committee: Validator) -> None:
    """The committee's own properties and votes are what is in force, so that it changes nothing."""
    hardforks = ledger.hardforks
    committee.signing_key = ledger.network.emergency_key
    committee.running_version = ledger.network.version
    committee.hardfork_version_vote = hardforks.current_hardfork_version
    committee.hardfork_time_vote = hardforks.processed_hardforks[hardforks.last_hardfork]
    committee.props = ledger.median


def _dismiss(ledger: Ledger, validator: Validator) -> None:
    with ledger.editing(validator):
        validator.signing_key = NULL_KEY
        validator.penalty_percent = 0
        validator.counted_votes = validator.votes
        validator.current_run = 0


def fill_schedule_with_committee(ledger: Ledger) -> None:
    """With enough validators back the emergency ends; this schedule stays as it is until the next one."""
    if not is_emergency(ledger):
        return
    schedule, globals_ = ledger.schedule, ledger.globals
    places = ledger.network.max_validators
    scheduled = schedule.scheduled + (NO_NAME,) * (places - schedule.num_scheduled_validators)
    ready = [_is_ready(ledger, name) for name in scheduled]
    filled = (
        name if is_ready else constants.COMMITTEE_ACCOUNT for name, is_ready in zip(scheduled, ready, strict=True)
    )
    ledger.remember(schedule)
    schedule.current_shuffled_validators = tuple(filled)
    schedule.num_scheduled_validators = places
    schedule.next_shuffle_block_num = globals_.head_block_number + places
    committee = ledger.find_validator(constants.COMMITTEE_ACCOUNT)
    if committee is not None:
        with ledger.editing(committee):
            _make_neutral(ledger, committee)
    if sum(ready) >= places * constants.IRREVERSIBLE_THRESHOLD // HUNDRED_PERCENT:
        ledger.remember(globals_)
        globals_.emergency_consensus_active = False


def _is_ready(ledger: Ledger, name: AccountName) -> bool:
    validator = ledger.find_validator(name) if name else None
    return validator is not None and validator.is_active


def repair_schedule(ledger: Ledger) -> None:
    """At the start of the node: a schedule with an empty place, which no block could follow, becomes the committee's.

    It happens outside of any block, on this node alone (spec 03, section 20.5).
    """
    schedule, globals_ = ledger.schedule, ledger.globals
    if globals_.head_block_number == 0 or NO_NAME not in schedule.scheduled:
        return
    places = ledger.network.max_validators
    with ledger.editing(schedule, globals_):
        if not globals_.emergency_consensus_active:
            globals_.emergency_consensus_active = True
            globals_.emergency_consensus_start_block = globals_.head_block_number
        schedule.current_shuffled_validators = (constants.COMMITTEE_ACCOUNT,) * places
        schedule.num_scheduled_validators = places
        schedule.next_shuffle_block_num = globals_.head_block_number + places
