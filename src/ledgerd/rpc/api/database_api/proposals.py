"""Proposals and the recovery of accounts: what waits for others (spec 05, sections 9.13, 9.14 and 9.25)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.proposals import SortedKeys, SortedNames
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.shared.kinds import record_of, require_limit
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.accounts import proposals, recovery
from ledgerd.state.views.view import View

MOST_PROPOSALS = 100
"""Proposals of one answer."""

Operations = tuple[Operation, ...]


class ProposalRecord(msgspec.Struct, frozen=True):
    """A proposal: its operations, the required approvals and the given ones."""

    author: AccountName
    title: str
    memo: str
    expiration_time: Time
    review_period_time: Time | None
    proposed_operations: Operations
    required_active_approvals: SortedNames
    available_active_approvals: SortedNames
    required_master_approvals: SortedNames
    available_master_approvals: SortedNames
    required_regular_approvals: SortedNames
    available_regular_approvals: SortedNames
    available_key_approvals: SortedKeys


@DATABASE_API.method(args=exactly(3), examples=[["alice", 0, 10]])
def get_proposed_transactions(
    view: ApiView, account: AccountName, start: UInt32, limit: UInt32
) -> tuple[ProposalRecord, ...]:
    """Proposals of an account by title, then others that need its approval; the first has number 1."""
    require_limit(limit, MOST_PROPOSALS)
    begun = islice(_concerning(view.state, account), max(start - 1, 0), None)
    return tuple(map(_record, islice(begun, limit)))


def _concerning(state: View, account: AccountName) -> Iterator[proposals.Proposal]:
    seen = set()
    for proposal in state.under(proposals.PROPOSAL_BY_AUTHOR, account):
        seen.add(proposal.id)
        yield proposal
    for approval in state.under(proposals.REQUIRED_APPROVAL_BY_ACCOUNT, account):
        if approval.proposal not in seen:
            yield state.get(proposals.PROPOSALS, approval.proposal)


def _record(proposal: proposals.Proposal) -> ProposalRecord:
    operations = codec_of(Operations).decode_exactly(proposal.proposed_operations)
    return record_of(ProposalRecord, proposal, proposed_operations=operations)


@DATABASE_API.method(args=exactly(1), examples=[["alice"]])
def get_master_history(view: ApiView, account: AccountName) -> tuple[recovery.MasterAuthorityHistory, ...]:
    """The master authorities that an account had before, the oldest first."""
    return tuple(view.state.under(recovery.MASTER_HISTORY_BY_ACCOUNT, account))


@DATABASE_API.method(args=exactly(1), examples=[["alice"]])
def get_recovery_request(view: ApiView, account: AccountName) -> recovery.AccountRecoveryRequest | None:
    """The open recovery request of an account, with the offered master authority."""
    return view.state.lookup(recovery.RECOVERY_REQUEST_BY_ACCOUNT, account)
