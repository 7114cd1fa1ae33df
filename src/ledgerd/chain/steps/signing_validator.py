"""Records of the block's validator: its last block, and the start of its run without a gap (spec 03, section 15.10)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import IRREVERSIBLE_SUPPORT_MIN_RUN


def update_signing_validator(ledger: Ledger, context: BlockContext) -> None:
    """A validator that comes back supports what is before its block only after a run of blocks."""
    producer = context.producer
    with ledger.editing(producer):
        producer.last_aslot = ledger.globals.current_aslot
        producer.last_confirmed_block_num = context.number
        if producer.current_run >= IRREVERSIBLE_SUPPORT_MIN_RUN:
            producer.last_supported_block_num = context.number
        producer.current_run += 1
