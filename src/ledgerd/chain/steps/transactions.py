"""A block's transactions, what is remembered of them (spec 03, 12 and 14), and the end of proposals (15.13)."""

from __future__ import annotations

from contextlib import suppress

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.rules.transactions.proposals import execute, is_authorized, remove_proposal
from ledgerd.chain.rules.transactions.transactions import apply_transaction
from ledgerd.protocol.blocks.block import require_block_size, require_merkle_root
from ledgerd.protocol.errors import RuleViolation
from ledgerd.state.objects.accounts.proposals import PROPOSAL_BY_EXPIRATION
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES

SUMMARIES = 0xFFFF


def check_contents(ledger: Ledger, context: BlockContext) -> None:
    block = context.block
    if not context.skip & Skip.MERKLE_ROOT:
        require_merkle_root(block)
    if not context.skip & Skip.BLOCK_SIZE:
        require_block_size(len(block.packed), ledger.globals.maximum_block_size)


def apply_transactions(ledger: Ledger, context: BlockContext) -> None:
    for transaction in context.block.transactions:
        apply_transaction(ledger, transaction, context.skip)
        ledger.cursor.transaction_in_block += 1
    ledger.cursor.end_transactions()


def remember_block(ledger: Ledger, context: BlockContext) -> None:
    """Transactions may refer to any of the last 65,536 blocks."""
    summary = ledger.store.get(BLOCK_SUMMARIES, context.number & SUMMARIES)
    ledger.remember(summary)
    summary.block_id = context.block.id


def expire_transactions(ledger: Ledger, _context: BlockContext) -> None:
    ledger.known.forget(ledger.now)


def expire_proposals(ledger: Ledger, _context: BlockContext) -> None:
    """A proposal that is agreed to is tried a last time at its end; then it goes."""
    while True:
        proposal = ledger.store.first(PROPOSAL_BY_EXPIRATION, upper=(ledger.now,))
        if proposal is None:
            return
        proposal_id = proposal.id
        if is_authorized(ledger, proposal):
            with suppress(RuleViolation):
                execute(ledger, proposal)
        remove_proposal(ledger, proposal_id)
