"""Applying a block: its steps, in the order that is consensus (spec 03, section 14)."""

from __future__ import annotations

from ledgerd.chain import evaluators  # noqa: F401 - makes the rules of the operations known
from ledgerd.chain.ledger.block_context import BlockContext, Step
from ledgerd.chain.ledger.events import NOTHING_MISSED
from ledgerd.chain.ledger.holdings import BlockChanges
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.migrations.hardforks import process_hardforks
from ledgerd.chain.steps.committee import process_committee_requests
from ledgerd.chain.steps.globals import count_bandwidth_candidates, update_globals
from ledgerd.chain.steps.header import (
    check_header,
    check_running_version,
    fix_genesis_time,
    name_producer,
    process_header_extensions,
    update_signing_validator,
)
from ledgerd.chain.steps.housekeeping import (
    claim_committee_account,
    clear_anonymous_account,
    clear_closed_committee_requests,
    clear_null_account,
    clear_used_invites,
    expire_award_shares,
    expire_escrows,
    process_account_recovery,
    return_delegations,
)
from ledgerd.chain.steps.inflation import distribute_epoch, pay_inflation, recalculate_inflation
from ledgerd.chain.steps.irreversibility import (
    advance_by_confirmations,
    remember_for_confirmation,
    update_last_irreversible_block,
)
from ledgerd.chain.steps.markets.frame import process_markets
from ledgerd.chain.steps.payments import end_auctions, pay_contents, renew_subscriptions, withdraw_vesting
from ledgerd.chain.steps.schedule import update_schedule
from ledgerd.chain.steps.transactions import (
    apply_transactions,
    check_contents,
    expire_proposals,
    expire_transactions,
    remember_block,
)
from ledgerd.protocol.blocks.block import Block


def since(hardfork: int, *steps: Step) -> Step:
    def guarded(ledger: Ledger, context: BlockContext) -> None:
        if ledger.hardfork(hardfork):
            for step in steps:
                step(ledger, context)

    guarded.__name__ = ",".join(step.__name__ for step in steps)
    return guarded


STEPS: tuple[Step, ...] = (
    check_contents,
    check_header,
    name_producer,
    fix_genesis_time,
    process_header_extensions,
    check_running_version,
    apply_transactions,
    # From here on the head is this block.
    update_globals,
    update_signing_validator,
    update_last_irreversible_block,
    remember_block,
    expire_proposals,
    expire_transactions,
    return_delegations,
    since(9, clear_used_invites, clear_closed_committee_requests),
    count_bandwidth_candidates,
    update_schedule,
    since(4, recalculate_inflation, expire_award_shares),
    pay_inflation,
    since(13, distribute_epoch),
    pay_contents,
    withdraw_vesting,
    process_account_recovery,
    expire_escrows,
    since(11, end_auctions),
    clear_null_account,
    clear_anonymous_account,
    claim_committee_account,
    process_committee_requests,
    renew_subscriptions,
    since(14, process_markets),
    process_hardforks,
    # A hardfork of this block counts from here on.
    advance_by_confirmations,
    remember_for_confirmation,
)


NAMED_STEPS = tuple((step.__name__, step) for step in STEPS)


def apply_block(ledger: Ledger, block: Block, skip: SkipFlags = Skip.NOTHING) -> BlockContext:
    """Apply a block on top of the head, inside whatever session is open; any failure fails all of it."""
    context = BlockContext(block, skip, ledger.now)
    ledger.operations.clear()
    ledger.missed = NOTHING_MISSED
    ledger.samples.clear()
    ledger.cursor.begin_block(block.number, block.timestamp)
    if ledger.gatherer is not None:
        _apply_steps_gathering(ledger, context, ledger.gatherer)
    else:
        for step in STEPS:
            step(ledger, context)
    return context


def _apply_steps_gathering(ledger: Ledger, context: BlockContext, changes: BlockChanges) -> None:
    """The same, with a look at what each step has changed."""
    ledger.begin_gathering(changes)
    touched = changes.touched
    try:
        for name, step in NAMED_STEPS:
            changes.cause = name
            step(ledger, context)
            if touched:
                changes.settle()
        ledger.balances, ledger.penalties = changes.balances(), changes.penalties()
    finally:
        ledger.end_gathering()
