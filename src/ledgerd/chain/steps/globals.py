"""The global properties, penalties for missed slots (spec 03, 15.9), and the reserve of bandwidth (spec 02, 4.13)."""

from __future__ import annotations

from ledgerd.basics.durations import DAY
from ledgerd.chain.ledger.arithmetic import MAX_UINT128, uint32, uint64
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.events import MissedSlotOwners
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.rules.validators.emergency import begin_emergency_after_silence, is_emergency
from ledgerd.chain.rules.validators.slots import SLOTS_REMEMBERED, scheduled_validator, slot_at
from ledgerd.chain.rules.validators.votes import counted_votes
from ledgerd.protocol import constants
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.virtual import ShutdownValidator
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_DAY_OF_BANDWIDTH_UPDATE
from ledgerd.state.objects.globals import DynamicGlobalProperty
from ledgerd.state.objects.validators import VALIDATOR_PENALTIES, Validator, ValidatorPenaltyExpire

LOAD_REVIEWED_EVERY = 20
"""Blocks between two reviews of the load."""

FULL_LOAD = 4
"""Blocks count as full from this part of their largest size on."""

MIN_RESERVE_RATIO = constants.MAX_RESERVE_RATIO // 10


class UndoHistoryExhausted(RuleViolation):
    """So many blocks without an irreversible one that they could no longer be undone."""

    code, name, what = 4070000, "undo_database_exception", "undo database exception"


def update_globals(ledger: Ledger, context: BlockContext) -> None:
    missed = _count_missed(ledger, context)
    if missed:
        _hold_to_account(ledger, context, missed)
    globals_ = ledger.globals
    ledger.remember(globals_)
    count_slots(globals_, missed)
    globals_.head_block_number = context.number
    globals_.head_block_id = context.block.id
    globals_.time = context.block.timestamp
    globals_.current_aslot = uint64(globals_.current_aslot + missed + 1)
    _review_load(globals_, len(context.block.packed), ledger.network.bandwidth_average_window_seconds)
    if not context.skip & Skip.UNDO_HISTORY:
        _check_undo_history(globals_)
    begin_emergency_after_silence(ledger, missed)


def _count_missed(ledger: Ledger, context: BlockContext) -> int:
    if ledger.now == 0:
        return 0
    slot = slot_at(ledger, context.block.timestamp)
    require(slot > 0, "missed_blocks != 0: ")
    return slot - 1


def _hold_to_account(ledger: Ledger, context: BlockContext, missed: int) -> None:
    """In an emergency absent validators keep their votes, but lose their key all the same when absent too long."""
    emergency = is_emergency(ledger)
    ledger.missed = _owners(ledger, missed)
    for slot in range(1, missed + 1):
        validator = ledger.validator(scheduled_validator(ledger, slot))
        if validator.owner == context.producer.owner:
            continue
        with ledger.editing(validator):
            validator.current_run = 0
            if not emergency:
                _punish(ledger, validator)
                _shut_down_after(ledger, validator, constants.MAX_VALIDATOR_MISSED_BLOCKS)
            elif validator.owner != constants.COMMITTEE_ACCOUNT:
                _shut_down_after(ledger, validator, ledger.network.emergency_max_validator_missed_blocks)


def _owners(ledger: Ledger, missed: int) -> MissedSlotOwners:
    """Whose the slots after the head are. However many there are, they go round the schedule."""
    named = min(missed, ledger.schedule.num_scheduled_validators)
    return MissedSlotOwners([scheduled_validator(ledger, slot) for slot in range(1, named + 1)], missed)


def _punish(ledger: Ledger, validator: Validator) -> None:
    """Since hardfork 6 a missed block costs votes for a while."""
    validator.total_missed = uint32(validator.total_missed + 1)
    if not ledger.hardfork(6):
        return
    percent, duration = ledger.median.validator_miss_penalty_percent, ledger.median.validator_miss_penalty_duration
    validator.penalty_percent = uint32(validator.penalty_percent + percent)
    validator.counted_votes = counted_votes(validator.votes, validator.penalty_percent)
    penalty = ValidatorPenaltyExpire(
        validator=validator.owner, penalty_percent=percent, expires=uint32(ledger.now + duration)
    )
    ledger.store.create(VALIDATOR_PENALTIES, penalty)


def _shut_down_after(ledger: Ledger, validator: Validator, blocks: int) -> None:
    if validator.is_active and ledger.head_number - validator.last_confirmed_block_num > blocks:
        validator.signing_key = NULL_KEY
        ledger.emit(ShutdownValidator(validator.owner))


def count_slots(globals_: DynamicGlobalProperty, missed: int) -> None:
    """Shift in a one for this block, and then the zeros of the slots before it (spec 03, section 15.9, quirk)."""
    shifts = min(missed, SLOTS_REMEMBERED)
    filled = (globals_.recent_slots_filled << 1 | 1) << shifts
    forgotten = (filled >> SLOTS_REMEMBERED).bit_count()
    globals_.recent_slots_filled = filled & MAX_UINT128
    globals_.participation_count = globals_.participation_count + 1 - forgotten & 0xFF


def _review_load(globals_: DynamicGlobalProperty, size: int, window: int) -> None:
    """The fuller the blocks, the less bandwidth the shares give; it halves at once and grows back slowly."""
    globals_.average_block_size = uint32((99 * globals_.average_block_size + size) // 100)
    if globals_.head_block_number % LOAD_REVIEWED_EVERY == 0:
        ratio = globals_.current_reserve_ratio
        is_full = globals_.average_block_size > globals_.maximum_block_size // FULL_LOAD
        ratio = ratio // 2 if is_full else ratio + 1
        globals_.current_reserve_ratio = max(min(ratio, constants.MAX_RESERVE_RATIO), MIN_RESERVE_RATIO)
    # The product wraps, and does so for usual values (spec 03, section 15.9, quirk).
    capacity = globals_.maximum_block_size * globals_.current_reserve_ratio * constants.BANDWIDTH_PRECISION * window
    globals_.max_virtual_bandwidth = uint64(capacity) // constants.BLOCK_INTERVAL


def _check_undo_history(globals_: DynamicGlobalProperty) -> None:
    if uint32(globals_.head_block_number - globals_.last_irreversible_block_num) >= constants.MAX_UNDO_HISTORY:
        raise UndoHistoryExhausted(
            "The database does not have enough undo history to support a blockchain with so many missed blocks. "
            "Please add a checkpoint if you would like to continue applying blocks beyond this point."
        )


def count_bandwidth_candidates(ledger: Ledger, _context: BlockContext) -> None:
    """Hourly: what is few is voted on, and time passes for all, so no count could be kept up with each change."""
    if ledger.head_number % constants.BLOCKS_PER_HOUR != 0:
        return
    since = max(ledger.now - constants.BANDWIDTH_RESERVE_ACTIVE_TIME, 0)
    few = ledger.median.bandwidth_reserve_below.amount
    recent = ledger.store.scan(ACCOUNT_BY_DAY_OF_BANDWIDTH_UPDATE, lower=(since // DAY,))
    globals_ = ledger.globals
    candidates = 1 + sum(each.last_bandwidth_update >= since and each.effective_shares < few for each in recent)
    ledger.remember(globals_)
    globals_.bandwidth_reserve_candidates = candidates
