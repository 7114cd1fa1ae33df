"""The next round of producers: those with the most votes, and in turns all others (spec 03, section 17)."""

from __future__ import annotations

from itertools import zip_longest

from ledgerd.chain.ledger.arithmetic import MAX_UINT128, DivideByZero, uint32, uint128
from ledgerd.chain.ledger.block_context import BlockContext, when_due
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.emergency import fill_schedule_with_committee, is_emergency
from ledgerd.chain.rules.validators.medians import update_medians
from ledgerd.chain.rules.validators.votes import counted_votes
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.protocol.types.versions import Version
from ledgerd.state.objects import validators

LAP = MAX_UINT128
"""The length of a lap in virtual time, which each runs as fast as it has votes."""


def update_schedule(ledger: Ledger, context: BlockContext) -> None:
    if ledger.head_number % ledger.network.max_validators:
        return
    if ledger.hardfork(6):
        forgive_penalties(ledger, context)
    top = _choose_top(ledger)
    support, virtual_time = _choose_support(ledger, top)
    voters = _voters(ledger)
    majority = _majority_version(ledger, voters)
    _count_hardfork_votes(ledger, voters)
    turns = tuple(validator.owner for pair in zip_longest(top, support) for validator in pair if validator is not None)
    schedule = ledger.schedule
    ledger.remember(schedule)
    schedule.current_shuffled_validators = (*turns, *(NO_NAME,) * (ledger.network.max_validators - len(turns)))
    schedule.num_scheduled_validators = max(len(turns), 1)
    schedule.current_virtual_time = virtual_time
    schedule.next_shuffle_block_num = uint32(ledger.head_number + schedule.num_scheduled_validators)
    schedule.majority_version = majority
    fill_schedule_with_committee(ledger)
    update_medians(ledger)


def _forgive_penalties(ledger: Ledger, _context: BlockContext) -> None:
    for penalty in ledger.store.scan(validators.PENALTY_BY_EXPIRATION, upper=(ledger.now,)):
        validator = ledger.validator(penalty.validator)
        with ledger.editing(validator):
            validator.penalty_percent = uint32(validator.penalty_percent - penalty.penalty_percent)
            validator.counted_votes = counted_votes(validator.votes, validator.penalty_percent)
        ledger.store.remove(penalty)


forgive_penalties = when_due(_forgive_penalties, validators.PENALTY_BY_EXPIRATION)


def _may_be_scheduled(ledger: Ledger, validator: validators.Validator) -> bool:
    """Since hardfork 12 the committee is no validator among others: it fills in, in emergencies."""
    return validator.is_active and not (validator.owner == COMMITTEE_ACCOUNT and ledger.hardfork(12))


def _choose_top(ledger: Ledger) -> list[validators.Validator]:
    top: list[validators.Validator] = []
    for validator in ledger.store.scan(validators.VALIDATOR_BY_ACTIVE_COUNTED_VOTES, lower=(True,)):
        if _may_be_scheduled(ledger, validator):
            top.append(validator)
            if len(top) == ledger.network.max_top_validators:
                break
    for validator in top:
        _put(ledger, validator, validators.SchedulePlace.TOP)
    return top


def _choose_support(ledger: Ledger, top: list[validators.Validator]) -> tuple[list[validators.Validator], int]:
    """Those whose turn in virtual time comes first. All met on the way begin a new lap, also those passed over."""
    chosen = {validator.id for validator in top}
    missing = ledger.network.max_validators - len(top)
    virtual_time = ledger.schedule.current_virtual_time
    support: list[validators.Validator] = []
    met: list[validators.Validator] = []
    if not missing:
        return support, virtual_time
    for validator in ledger.store.scan(validators.VALIDATOR_BY_SCHEDULE_TIME):
        if len(support) == missing:
            break
        virtual_time = validator.virtual_scheduled_time
        met.append(validator)
        if validator.id not in chosen and _may_be_scheduled(ledger, validator):
            support.append(validator)
    for validator in support:
        _put(ledger, validator, validators.SchedulePlace.SUPPORT)
    return support, _begin_laps(ledger, met, virtual_time)


def _put(ledger: Ledger, validator: validators.Validator, place: validators.SchedulePlace) -> None:
    if validator.schedule != place:
        ledger.remember(validator)
        validator.schedule = place


def _begin_laps(ledger: Ledger, met: list[validators.Validator], virtual_time: int) -> int:
    """Begin a new lap for each; when virtual time runs over, it begins again for everybody."""
    for validator in met:
        scheduled = uint128(virtual_time + _lap_time(validator))
        if scheduled < virtual_time:
            _restart_virtual_time(ledger)
            return 0
        with ledger.editing(validator):
            validator.virtual_position = 0
            validator.virtual_last_update = virtual_time
            validator.virtual_scheduled_time = scheduled
    return virtual_time


def _restart_virtual_time(ledger: Ledger) -> None:
    for validator in ledger.store.scan(validators.VALIDATORS):
        with ledger.editing(validator):
            validator.virtual_position = 0
            validator.virtual_last_update = 0
            validator.virtual_scheduled_time = _lap_time(validator)


def _lap_time(validator: validators.Validator) -> int:
    """How long a lap takes with so many votes. Votes may be below zero before hardfork 5."""
    speed = uint128(validator.counted_votes + 1)
    if speed == 0:
        raise DivideByZero("")
    return LAP // speed


def _voters(ledger: Ledger) -> list[validators.Validator]:
    """The validators whose votes on versions count: the round that ends, without the committee of an emergency."""
    emergency = is_emergency(ledger)
    return ledger.validators(
        name for name in ledger.schedule.scheduled if not (emergency and name == COMMITTEE_ACCOUNT)
    )


def _majority_version(ledger: Ledger, voters: list[validators.Validator]) -> Version:
    running = sorted([validator.running_version for validator in voters], reverse=True)
    required = ledger.network.hardfork_required_validators
    return running[required - 1] if len(running) >= required else ledger.schedule.majority_version


def _count_hardfork_votes(ledger: Ledger, voters: list[validators.Validator]) -> None:
    """The next hardfork is the one that enough validators vote for, with its time; without one, the chain waits."""
    votes = [(validator.hardfork_version_vote, validator.hardfork_time_vote) for validator in voters]
    required = ledger.network.hardfork_required_validators
    hardforks = ledger.hardforks
    agreed = (hardforks.current_hardfork_version, hardforks.next_hardfork_time)
    agreed = min((vote for vote in set(votes) if votes.count(vote) >= required), default=agreed)
    if agreed != (hardforks.next_hardfork, hardforks.next_hardfork_time):
        ledger.remember(hardforks)
        hardforks.next_hardfork, hardforks.next_hardfork_time = agreed
