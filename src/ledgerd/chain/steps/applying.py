"""Applying a block: its steps, in the order that is consensus (spec 03, section 14)."""

from __future__ import annotations

from ledgerd.chain import evaluators  # noqa: F401 - makes the rules of the operations known
from ledgerd.chain.ledger.block_context import BlockContext, Step
from ledgerd.chain.ledger.events import NOTHING_MISSED
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import SkipFlags
from ledgerd.chain.ledger.tracing import Tracing
from ledgerd.chain.migrations.hardforks import process_hardforks
from ledgerd.chain.steps import header, housekeeping, irreversibility, transactions
from ledgerd.chain.steps.committee import process_committee_requests
from ledgerd.chain.steps.globals import count_bandwidth_candidates, update_globals
from ledgerd.chain.steps.inflation import distribute_epoch, pay_inflation, recalculate_inflation
from ledgerd.chain.steps.markets.frame import process_markets
from ledgerd.chain.steps.payments import end_auctions, pay_contents, renew_subscriptions, withdraw_vesting
from ledgerd.chain.steps.schedule import update_schedule
from ledgerd.protocol.blocks.block import Block


def since(hardfork: int, *steps: Step) -> Step:
    def guarded(ledger: Ledger, context: BlockContext) -> None:
        if ledger.hardfork(hardfork):
            for step in steps:
                step(ledger, context)

    guarded.__name__ = ",".join(step.__name__ for step in steps)
    return guarded


STEPS: tuple[Step, ...] = (
    transactions.check_contents,
    header.check_header,
    header.name_producer,
    header.fix_genesis_time,
    header.process_header_extensions,
    header.check_running_version,
    transactions.apply_transactions,
    # From here on the head is this block.
    update_globals,
    header.update_signing_validator,
    irreversibility.update_last_irreversible_block,
    transactions.remember_block,
    transactions.expire_proposals,
    transactions.expire_transactions,
    housekeeping.return_delegations,
    since(9, housekeeping.clear_used_invites, housekeeping.clear_closed_committee_requests),
    count_bandwidth_candidates,
    update_schedule,
    since(4, recalculate_inflation, housekeeping.expire_award_shares),
    pay_inflation,
    since(13, distribute_epoch),
    pay_contents,
    withdraw_vesting,
    housekeeping.process_account_recovery,
    housekeeping.expire_escrows,
    since(11, end_auctions),
    housekeeping.clear_null_account,
    housekeeping.clear_anonymous_account,
    housekeeping.claim_committee_account,
    process_committee_requests,
    renew_subscriptions,
    since(14, process_markets),
    process_hardforks,
    # A hardfork of this block counts from here on.
    irreversibility.advance_by_confirmations,
    irreversibility.remember_for_confirmation,
)


NAMED_STEPS = tuple((step.__name__, step) for step in STEPS)


def apply_block(ledger: Ledger, block: Block, skip: SkipFlags) -> None:
    """Apply a block on top of the head, inside whatever session is open; any failure fails all of it."""
    context = BlockContext(block, skip, ledger.now)
    ledger.operations.clear()
    ledger.missed = NOTHING_MISSED
    ledger.samples.clear()
    ledger.cursor.begin_block(block.number, block.timestamp)
    if ledger.tracer is not None:
        _apply_steps_tracing(ledger, context, ledger.tracer)
    else:
        for step in STEPS:
            step(ledger, context)
    ledger.sample_block(block)


def _apply_steps_tracing(ledger: Ledger, context: BlockContext, tracing: Tracing) -> None:
    """The same, with a look at what each step has changed."""
    ledger.begin_tracing(tracing)
    touched = tracing.touched
    try:
        for name, step in NAMED_STEPS:
            tracing.cause = name
            step(ledger, context)
            if touched:
                tracing.settle()
        ledger.traced = tracing.changes()
    finally:
        ledger.end_tracing()
