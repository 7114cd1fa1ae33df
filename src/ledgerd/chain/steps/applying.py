"""Applying a block: its steps, in the order that is consensus (spec 03, section 14)."""

from __future__ import annotations

from ledgerd.chain import evaluators  # noqa: F401 - makes the rules of the operations known
from ledgerd.chain.ledger.block_context import BlockContext, Step, since, when_due
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
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_AUCTION_START, ACCOUNT_BY_NEXT_WITHDRAWAL
from ledgerd.state.objects.accounts.content import CONTENT_BY_CASHOUT
from ledgerd.state.objects.accounts.proposals import PROPOSAL_BY_EXPIRATION
from ledgerd.state.objects.accounts.recovery import CHANGE_RECOVERY_BY_EFFECTIVE_DATE, RECOVERY_REQUEST_BY_EXPIRATION
from ledgerd.state.objects.globals import AWARD_SHARES_BY_EXPIRATION
from ledgerd.state.objects.money.committee import REQUEST_BY_CONCLUSION
from ledgerd.state.objects.money.escrow import ESCROW_BY_DEADLINE
from ledgerd.state.objects.money.invites import INVITE_BY_CLAIM_TIME
from ledgerd.state.objects.money.paid_subscriptions import SUBSCRIBE_BY_NEXT_TIME
from ledgerd.state.objects.money.vesting import RETURN_BY_EXPIRATION

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
    when_due(transactions.expire_proposals, PROPOSAL_BY_EXPIRATION),
    transactions.expire_transactions,
    when_due(housekeeping.return_delegations, RETURN_BY_EXPIRATION, delay=lambda _: 1),
    when_due(
        since(9, housekeeping.clear_used_invites),
        INVITE_BY_CLAIM_TIME,
        True,
        delay=lambda network: network.clear_used_invite_delay + 1,
    ),
    when_due(
        since(9, housekeeping.clear_closed_committee_requests),
        REQUEST_BY_CONCLUSION,
        True,
        delay=lambda network: network.clear_closed_committee_request_delay + 1,
    ),
    count_bandwidth_candidates,
    update_schedule,
    since(4, recalculate_inflation),
    when_due(since(4, housekeeping.expire_award_shares), AWARD_SHARES_BY_EXPIRATION),
    pay_inflation,
    since(13, distribute_epoch),
    when_due(pay_contents, CONTENT_BY_CASHOUT),
    when_due(withdraw_vesting, ACCOUNT_BY_NEXT_WITHDRAWAL),
    when_due(housekeeping.expire_recovery_requests, RECOVERY_REQUEST_BY_EXPIRATION),
    housekeeping.forget_master_authorities,
    when_due(housekeeping.change_recovery_accounts, CHANGE_RECOVERY_BY_EFFECTIVE_DATE),
    when_due(housekeeping.expire_escrows, ESCROW_BY_DEADLINE, False),
    when_due(since(11, end_auctions), ACCOUNT_BY_AUCTION_START, True),
    housekeeping.clear_null_account,
    housekeeping.clear_anonymous_account,
    housekeeping.claim_committee_account,
    process_committee_requests,
    when_due(renew_subscriptions, SUBSCRIBE_BY_NEXT_TIME),
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
