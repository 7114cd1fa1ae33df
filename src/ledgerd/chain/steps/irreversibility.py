"""The last irreversible block: as scheduled validators support it with their own blocks, or confirm it (spec 03,
sections 19.1 to 19.3). The reference never sends confirmations, so flags stay off. With a single scheduled validator
none are needed, and the block before the head becomes irreversible here.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.emergency import is_emergency
from ledgerd.protocol.constants import IRREVERSIBLE_THRESHOLD, MAX_BLOCK_POST_VALIDATION_COUNT
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, block_number_of
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT
from ledgerd.state.objects.validators import VALIDATOR_CONFIRMATIONS, ValidatorConfirmation


def update_last_irreversible_block(ledger: Ledger, context: BlockContext) -> None:
    """The highest block that three quarters of the scheduled validators support; it never goes back."""
    supported = sorted([each.last_supported_block_num for each in ledger.scheduled_validators()])
    number = supported[(HUNDRED_PERCENT - IRREVERSIBLE_THRESHOLD) * len(supported) // HUNDRED_PERCENT]
    head = ledger.globals
    if number >= head.head_block_number and is_emergency(ledger):
        number = head.head_block_number - 1
    if number >= head.last_irreversible_block_num:
        make_irreversible(ledger, context, number)


def make_irreversible(ledger: Ledger, context: BlockContext, number: int) -> None:
    block_id = context.block.id if number == context.number else _remembered_id(ledger, number)
    head = ledger.globals
    is_known = block_id != NO_BLOCK
    is_new = number != head.last_irreversible_block_num
    if not is_new and (not is_known or block_id == head.last_irreversible_block_id):
        return
    ledger.remember(head)
    head.last_irreversible_block_num = number
    head.last_irreversible_block_id = block_id
    head.last_irreversible_block_ref_num = number & 0xFFFF if is_known else 0
    head.last_irreversible_block_ref_prefix = int.from_bytes(block_id[4:8], "little")


def _remembered_id(ledger: Ledger, number: int) -> BlockId:
    block_id = ledger.store.get(BLOCK_SUMMARIES, number % BLOCK_SUMMARY_COUNT).block_id
    return block_id if block_number_of(block_id) == number else NO_BLOCK


def advance_by_confirmations(ledger: Ledger, context: BlockContext) -> None:
    """Each block in turn that enough of the others have confirmed."""
    if is_emergency(ledger):
        return
    required = ledger.schedule.num_scheduled_validators * IRREVERSIBLE_THRESHOLD // HUNDRED_PERCENT
    for confirmation in _waiting(ledger):
        following = ledger.globals.last_irreversible_block_num + 1
        if confirmation.block_num > following:
            break
        confirmed = sum(confirmation.current_shuffled_validators_validations)
        if confirmation.block_num == following and confirmed >= required:
            make_irreversible(ledger, context, following)
            ledger.store.remove(confirmation)


def remember_for_confirmation(ledger: Ledger, context: BlockContext) -> None:
    """The block waits for the other scheduled validators, among the last few that do."""
    store, irreversible = ledger.store, ledger.globals.last_irreversible_block_num
    next_id = store.next_id(VALIDATOR_CONFIRMATIONS)
    for confirmation in _waiting(ledger):
        are_few = next_id - confirmation.id < MAX_BLOCK_POST_VALIDATION_COUNT
        if are_few and confirmation.block_num > irreversible:
            break
        store.remove(confirmation)
    producer = context.producer.owner
    others = [name for name in ledger.schedule.scheduled if name != producer]
    places = ledger.network.max_validators
    new_confirmation = ValidatorConfirmation(
        block_num=context.number,
        block_id=context.block.id,
        current_shuffled_validators=(*others, *(NO_NAME,) * (places - len(others))),
        current_shuffled_validators_validations=(False,) * places,
    )
    store.create(VALIDATOR_CONFIRMATIONS, new_confirmation)


def _waiting(ledger: Ledger) -> Iterator[ValidatorConfirmation]:
    """The oldest first, by their ids, of which few are missing. A scan would write the index of ids in each block."""
    store = ledger.store
    oldest = store.oldest(VALIDATOR_CONFIRMATIONS)
    for each in () if oldest is None else range(oldest.id, store.next_id(VALIDATOR_CONFIRMATIONS)):
        confirmation = store.find(VALIDATOR_CONFIRMATIONS, each)
        if confirmation is not None:
            yield confirmation
