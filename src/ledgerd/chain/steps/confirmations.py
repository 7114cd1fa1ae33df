"""Irreversibility by confirmations: the other way in which a block can become irreversible (spec 03, 19.2 and 19.3).

The reference never sends the confirmations, so flags stay off. With a single scheduled validator none are needed,
and the block before the head becomes irreversible here.
"""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.emergency import is_emergency
from ledgerd.chain.steps.irreversibility import make_irreversible
from ledgerd.protocol.constants import IRREVERSIBLE_THRESHOLD, MAX_BLOCK_POST_VALIDATION_COUNT
from ledgerd.protocol.names import NO_NAME
from ledgerd.state.objects.validators import VALIDATOR_CONFIRMATIONS, ValidatorConfirmation


def advance_by_confirmations(ledger: Ledger, context: BlockContext) -> None:
    """Each block in turn that enough of the others have confirmed."""
    if is_emergency(ledger):
        return
    required = ledger.schedule.num_scheduled_validators * IRREVERSIBLE_THRESHOLD // HUNDRED_PERCENT
    waiting = _waiting(ledger, context)
    for confirmation in tuple(waiting):
        following = ledger.globals.last_irreversible_block_num + 1
        if confirmation.block_num > following:
            break
        confirmed = sum(confirmation.current_shuffled_validators_validations)
        if confirmation.block_num == following and confirmed >= required:
            make_irreversible(ledger, context, following)
            ledger.store.remove(confirmation)
            waiting.remove(confirmation)


def remember_for_confirmation(ledger: Ledger, context: BlockContext) -> None:
    """The block waits for the other scheduled validators, among the last few that do."""
    store, irreversible = ledger.store, ledger.globals.last_irreversible_block_num
    next_id = store.next_id(VALIDATOR_CONFIRMATIONS)
    for confirmation in _waiting(ledger, context):
        are_few = next_id - confirmation.id < MAX_BLOCK_POST_VALIDATION_COUNT
        if are_few and confirmation.block_num > irreversible:
            break
        store.remove(confirmation)
    others = [name for name in ledger.schedule.scheduled if name != context.producer.owner]
    places = ledger.network.max_validators
    store.create(
        VALIDATOR_CONFIRMATIONS,
        ValidatorConfirmation(
            block_num=context.number,
            block_id=context.block.id,
            current_shuffled_validators=(*others, *(NO_NAME,) * (places - len(others))),
            current_shuffled_validators_validations=(False,) * places,
        ),
    )


def _waiting(ledger: Ledger, context: BlockContext) -> list[ValidatorConfirmation]:
    """All that wait, the oldest first; for both steps of a block the same list.

    One begins to wait with each block, and with the block all below the last irreversible one are gone: so they have
    consecutive ids up to the newest. They are fetched by these. A scan would write the index of ids in each block.
    """
    if context.unconfirmed is not None:
        return context.unconfirmed
    store, found = ledger.store, []
    object_id = store.next_id(VALIDATOR_CONFIRMATIONS) - 1
    while (confirmation := store.find(VALIDATOR_CONFIRMATIONS, object_id)) is not None:
        found.append(confirmation)
        object_id -= 1
    found.reverse()
    context.unconfirmed = found
    return found
