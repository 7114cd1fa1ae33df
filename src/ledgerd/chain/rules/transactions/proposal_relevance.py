"""Whether approvals that are added to a proposal are of any use to it (spec 02, section 15.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.rules.transactions.proposal_execution import approvals_of, operations_of
from ledgerd.protocol.authority_check import (
    Accounts,
    Approvals,
    IrrelevantApproval,
    IrrelevantSignature,
    MissingActive,
    MissingAuthority,
    MissingMaster,
    MissingRegular,
    Signing,
    required_authorities,
    verify_authority,
)
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import Authorities
from ledgerd.protocol.operations.proposals import ProposalUpdate
from ledgerd.state.objects.proposals import Proposal

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger

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
        try:
            verify_authority(operations, keys, accounts, approvals)
        except MissingAuthority as missing:
            if assumed.get(type(missing)):
                raise
            assumed[type(missing)] = missing.accounts
            useful |= _used_keys(required, keys, accounts, approvals, until=type(missing))
        except IrrelevantSignature:
            idle = set(keys) - _used_keys(required, keys, accounts, approvals)
            if not useful.issuperset(idle.intersection(operation.key_approvals_to_add)):
                raise
            return
        except IrrelevantApproval:
            if not _idle_approvals(required, approvals).isdisjoint(_added(operation)):
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


def _idle_approvals(required: Authorities, approvals: Approvals) -> set[AccountName]:
    """Approvals of accounts that no operation names: those reached inside of others' authorities do not count.

    Approvals of the kind that is not looked at are neither idle nor of use (spec 02, section 15.3, quirk).
    """
    if required.regular:
        return set(approvals.regular).difference(required.regular)
    return {*approvals.active, *approvals.master}.difference(required.active, required.master)


def _used_keys(
    required: Authorities,
    keys: tuple[PublicKey, ...],
    accounts: Accounts,
    approvals: Approvals,
    until: type[MissingAuthority] | None = None,
) -> set[PublicKey]:
    """The keys that the check of authorities had asked for when it was over, or found somebody missing."""
    if required.regular:
        signing = Signing(accounts.regular, keys)
        signing.approved |= dict.fromkeys(approvals.regular, False)
        for name in required.regular:
            _ = (
                signing.name_satisfied(name)
                or signing.satisfied(accounts.active(name))
                or signing.satisfied(accounts.master(name))
            )
        return signing.used_keys()
    signing = Signing(accounts.active, keys)
    signing.approved |= dict.fromkeys((*approvals.active, *approvals.master), False)
    for name in required.active:
        _ = signing.name_satisfied(name) or signing.satisfied(accounts.master(name))
    if until is not MissingActive:
        for name in required.master:
            _ = name in approvals.master or signing.satisfied(accounts.master(name))
    return signing.used_keys()
