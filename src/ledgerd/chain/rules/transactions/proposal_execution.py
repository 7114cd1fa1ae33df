"""Proposals: whether they are approved, their execution, and their removal (spec 02, section 15).

The rules of the operations on them are in `evaluators.proposals`, their expiry in `steps.proposals`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.chain.events import NO_TRANSACTION
from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import apply_proposed_operation
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import Skip
from ledgerd.chain.rules.transactions.transactions import apply_transaction
from ledgerd.codec import codec_of
from ledgerd.protocol.authority_check import (
    Approvals,
    IrrelevantApproval,
    IrrelevantSignature,
    in_word_order,
    verify_authority,
)
from ledgerd.protocol.constants import MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.transaction import Transaction
from ledgerd.state.objects.proposals import PROPOSALS, REQUIRED_APPROVAL_BY_ACCOUNT, Proposal

PROPOSED = codec_of(tuple[Operation, ...])
"""The form in which a proposal keeps its operations."""

UNSIGNED = Skip.TRANSACTION_SIGNATURES | Skip.AUTHORITIES | Skip.REFERENCED_BLOCK
"""Checks that are skipped for operations that are only tried out."""


def operations_of(proposal: Proposal) -> tuple[Operation, ...]:
    operations: tuple[Operation, ...] = PROPOSED.decode(proposal.proposed_operations)
    return operations


def approvals_of(proposal: Proposal) -> Approvals:
    return Approvals(
        active=proposal.available_active_approvals,
        master=proposal.available_master_approvals,
        regular=proposal.available_regular_approvals,
    )


def try_out(ledger: Ledger, operations: Iterable[Operation]) -> None:
    """Apply operations as if they were a transaction now, and undo all of it.

    What comes after it in the transaction is numbered on from here, and under no id (spec 02, section 18.1, quirk).
    """
    tried = Transaction(0, 0, uint32(ledger.now + MAX_TIME_UNTIL_EXPIRATION), tuple(operations), (), ())
    told = ledger.told()
    try:
        with ledger.store.begin(replays_ties=True):
            apply_transaction(ledger, tried, UNSIGNED)
    finally:
        ledger.take_back(told)
        ledger.cursor.transaction_id = NO_TRANSACTION
        ledger.cursor.operation_in_transaction = len(tried.operations)


def is_authorized(ledger: Ledger, proposal: Proposal) -> bool:
    """Whether the accounts that the operations need have approved; approvals of others do no harm here."""
    try:
        verify_authority(
            operations_of(proposal), proposal.available_key_approvals, ledger.authorities, approvals_of(proposal)
        )
    except (IrrelevantSignature, IrrelevantApproval):
        return True
    except RuleViolation:
        return False
    return True


def execute(ledger: Ledger, proposal: Proposal) -> None:
    """Carry all of a proposal out and remove it, or raise with nothing done.

    The operations count as virtual. Neither their own checks nor their authorities are asked for again.
    """
    proposal_id = proposal.id
    with ledger.attempt():
        for operation in operations_of(proposal):
            apply_proposed_operation(ledger, operation)
    remove_proposal(ledger, proposal_id)


def remove_proposal(ledger: Ledger, proposal_id: int) -> None:
    """Remove a proposal, and what says who it waits for; it may have removed itself (spec 02, open question 4)."""
    proposal = ledger.store.find(PROPOSALS, proposal_id)
    if proposal is None:
        return
    required = {
        *proposal.required_active_approvals,
        *proposal.required_master_approvals,
        *proposal.required_regular_approvals,
    }
    for name in in_word_order(required):
        approval = ledger.store.lookup(REQUIRED_APPROVAL_BY_ACCOUNT, name, proposal_id)
        if approval is not None:
            ledger.store.remove(approval)
    ledger.store.remove(proposal)
