"""Whether approvals that are added to a proposal are of any use to it (spec 02, section 15.3)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.transactions.proposal_execution import approvals_of, operations_of
from ledgerd.protocol.authority_check import (
    Approvals,
    IrrelevantApproval,
    IrrelevantSignature,
    MissingActive,
    MissingAuthority,
    MissingMaster,
    MissingRegular,
    begin_signing,
    require_satisfied,
    required_authorities,
)
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.proposals import ProposalUpdate
from ledgerd.state.objects.proposals import Proposal

MAX_ROUNDS = 3
"""After so many rounds without a decision, everything counts as relevant."""


def require_relevant(ledger: Ledger, proposal: Proposal, operation: ProposalUpdate) -> None:
    """Refuse approvals of the operation that no proposed operation asks for.

    The check of authorities stops at the first thing amiss. So what is missing is assumed to be given, once of each
    kind, until the check gets as far as to what is idle; keys that were of use on the way are not.
    """
    operations, keys = operations_of(proposal), proposal.available_key_approvals
    required, accounts = required_authorities(operations), ledger.authorities
    assumed: dict[type[MissingAuthority], tuple[AccountName, ...]] = {}
    useful: set[PublicKey] = set()
    for _ in range(MAX_ROUNDS):
        approvals = _with_assumed(approvals_of(proposal), assumed)
        signing = begin_signing(required, keys, accounts, approvals)
        try:
            require_satisfied(required, accounts, signing, approvals)
        except MissingAuthority as missing:
            if assumed.get(type(missing)):
                raise
            assumed[type(missing)] = missing.accounts
            useful |= signing.used_keys
        except IrrelevantSignature:
            idle = set(keys) - signing.used_keys
            if not useful.issuperset(idle.intersection(operation.key_approvals_to_add)):
                raise
            return
        except IrrelevantApproval:
            if not signing.idle_approvals.isdisjoint(_added(operation)):
                raise
            return
        else:
            return


def _with_assumed(approvals: Approvals, assumed: dict[type[MissingAuthority], tuple[AccountName, ...]]) -> Approvals:
    return Approvals(
        active=approvals.active + assumed.get(MissingActive, ()),
        master=approvals.master + assumed.get(MissingMaster, ()),
        regular=approvals.regular + assumed.get(MissingRegular, ()),
    )


def _added(operation: ProposalUpdate) -> set[AccountName]:
    return {
        *operation.active_approvals_to_add,
        *operation.master_approvals_to_add,
        *operation.regular_approvals_to_add,
    }
