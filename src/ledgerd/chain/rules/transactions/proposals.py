"""Proposals: whether they are approved, and by whom it is of use; their execution and removal (spec 02, section 15)."""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import apply_proposed_operation
from ledgerd.chain.ledger.events import NO_TRANSACTION
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import UNSIGNED, Skip
from ledgerd.chain.rules.transactions.transactions import apply_transaction
from ledgerd.codec import codec_of
from ledgerd.protocol.authorities import authority_check
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.proposals import ProposalUpdate
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.proposals import PROPOSALS, REQUIRED_APPROVAL_BY_ACCOUNT, Proposal

PROPOSED = codec_of(tuple[Operation, ...])
"""The form in which a proposal keeps its operations."""

UNCHECKED_IN_TRIALS = UNSIGNED | Skip.REFERENCED_BLOCK
"""What is not checked of operations that are only tried out."""


def operations_of(proposal: Proposal) -> tuple[Operation, ...]:
    operations: tuple[Operation, ...] = PROPOSED.decode(proposal.proposed_operations)
    return operations


def approvals_of(proposal: Proposal) -> authority_check.Approvals:
    return authority_check.Approvals(
        active=proposal.available_active_approvals,
        master=proposal.available_master_approvals,
        regular=proposal.available_regular_approvals,
    )


def try_out(ledger: Ledger, operations: Iterable[Operation]) -> None:
    """Apply operations and undo them. What follows is numbered on from here, under no id (spec 02, section 18.1,
    quirk).
    """
    tried = Transaction(0, 0, uint32(ledger.now + MAX_TIME_UNTIL_EXPIRATION), tuple(operations), (), ())
    reported = ledger.reported()
    try:
        with ledger.store.begin(replays_ties=True):
            apply_transaction(ledger, tried, UNCHECKED_IN_TRIALS)
    finally:
        ledger.rewind(reported)
        ledger.cursor.transaction_id = NO_TRANSACTION
        ledger.cursor.operation_in_transaction = len(tried.operations)


def is_authorized(ledger: Ledger, proposal: Proposal) -> bool:
    """Whether the accounts that the operations need have approved; approvals of others do no harm here."""
    try:
        authority_check.verify_authority(
            operations_of(proposal), proposal.available_key_approvals, ledger.authorities, approvals_of(proposal)
        )
    except (authority_check.IrrelevantSignature, authority_check.IrrelevantApproval):
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
    for name in authority_check.in_word_order(required):
        approval = ledger.store.lookup(REQUIRED_APPROVAL_BY_ACCOUNT, name, proposal_id)
        if approval is not None:
            ledger.store.remove(approval)
    ledger.store.remove(proposal)


MAX_ROUNDS = 3
"""After so many rounds without a decision, everything counts as relevant."""


def require_relevant(ledger: Ledger, proposal: Proposal, operation: ProposalUpdate) -> None:
    """Refuse approvals of the operation that no proposed operation asks for.

    The check of authorities stops at the first thing amiss. So what is missing is assumed to be given, once of each
    kind, until the check gets as far as to what is idle; keys that were of use on the way are not.
    """
    operations, keys = operations_of(proposal), proposal.available_key_approvals
    required, accounts = authority_check.required_authorities(operations), ledger.authorities
    assumed: dict[type[authority_check.MissingAuthority], tuple[AccountName, ...]] = {}
    useful: set[PublicKey] = set()
    for _ in range(MAX_ROUNDS):
        approvals = _with_assumed(approvals_of(proposal), assumed)
        signing = authority_check.begin_signing(required, keys, accounts, approvals)
        try:
            authority_check.require_satisfied(required, accounts, signing, approvals)
        except authority_check.MissingAuthority as missing:
            if assumed.get(type(missing)):
                raise
            assumed[type(missing)] = missing.accounts
            useful |= signing.used_keys
        except authority_check.IrrelevantSignature:
            idle = set(keys) - signing.used_keys
            if not useful.issuperset(idle.intersection(operation.key_approvals_to_add)):
                raise
            return
        except authority_check.IrrelevantApproval:
            if not signing.idle_approvals.isdisjoint(_added(operation)):
                raise
            return
        else:
            return


def _with_assumed(
    approvals: authority_check.Approvals, assumed: dict[type[authority_check.MissingAuthority], tuple[AccountName, ...]]
) -> authority_check.Approvals:
    return authority_check.Approvals(
        active=approvals.active + assumed.get(authority_check.MissingActive, ()),
        master=approvals.master + assumed.get(authority_check.MissingMaster, ()),
        regular=approvals.regular + assumed.get(authority_check.MissingRegular, ()),
    )


def _added(operation: ProposalUpdate) -> set[AccountName]:
    return {
        *operation.active_approvals_to_add,
        *operation.master_approvals_to_add,
        *operation.regular_approvals_to_add,
    }
