"""The last irreversible block, as the scheduled validators support it with their own blocks (spec 03, section 19.1).

Only the state is here: what becomes irreversible is committed and logged by who drives the chain.
"""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.emergency import is_emergency
from ledgerd.protocol.constants import IRREVERSIBLE_THRESHOLD
from ledgerd.protocol.identifiers import NO_BLOCK, BlockId, block_number_of
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT


def update_last_irreversible_block(ledger: Ledger, context: BlockContext) -> None:
    """The highest block that three quarters of the scheduled validators support; it never goes back."""
    supported = sorted([each.last_supported_block_num for each in ledger.validators(ledger.schedule.scheduled)])
    number = supported[(HUNDRED_PERCENT - IRREVERSIBLE_THRESHOLD) * len(supported) // HUNDRED_PERCENT]
    head = ledger.globals
    if number >= head.head_block_number and is_emergency(ledger):
        number = head.head_block_number - 1
    if number >= head.last_irreversible_block_num:
        make_irreversible(ledger, context, number)


def make_irreversible(ledger: Ledger, context: BlockContext, number: int) -> None:
    """Note the last irreversible block, and its id where it is known."""
    block_id = context.block.id if number == context.number else _remembered_id(ledger, number)
    head = ledger.globals
    is_known = block_id != NO_BLOCK
    is_new = number != head.last_irreversible_block_num
    if not is_new and (not is_known or block_id == head.last_irreversible_block_id):
        return
    with ledger.editing(head):
        head.last_irreversible_block_num = number
        head.last_irreversible_block_id = block_id
        head.last_irreversible_block_ref_num = number & 0xFFFF if is_known else 0
        head.last_irreversible_block_ref_prefix = int.from_bytes(block_id[4:8], "little")


def _remembered_id(ledger: Ledger, number: int) -> BlockId:
    block_id = ledger.store.get(BLOCK_SUMMARIES, number % BLOCK_SUMMARY_COUNT).block_id
    return block_id if block_number_of(block_id) == number else NO_BLOCK
