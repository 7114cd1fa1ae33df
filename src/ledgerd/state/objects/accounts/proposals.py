"""Proposals: operations that wait for the approvals of others (spec 02, section 3.20)."""

from __future__ import annotations

from ledgerd.protocol.operations.accounts.proposals import SortedKeys, SortedNames
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import C_TEXT, NAME_WORD, OBJECT_ID, TIME
from ledgerd.state.tables.tables import Entity, ObjectId, Table, ordered, unique


class Proposal(Entity):
    """Operations, packed, with whose agreement they need and whose they have."""

    author: AccountName = NO_NAME
    title: str = ""
    memo: str = ""
    expiration_time: Time = 0
    review_period_time: Time | None = None
    proposed_operations: bytes = b""
    required_active_approvals: SortedNames = ()
    available_active_approvals: SortedNames = ()
    required_master_approvals: SortedNames = ()
    available_master_approvals: SortedNames = ()
    required_regular_approvals: SortedNames = ()
    available_regular_approvals: SortedNames = ()
    available_key_approvals: SortedKeys = ()


class RequiredApproval(Entity):
    """An account that a proposal waits for."""

    account: AccountName = NO_NAME
    proposal: ObjectId = 0


PROPOSALS = Table(Proposal, number=22)
PROPOSAL_BY_AUTHOR = unique(
    PROPOSALS, "by_account", lambda proposal: (proposal.author, proposal.title), (NAME_WORD, C_TEXT)
)
PROPOSAL_BY_EXPIRATION = ordered(PROPOSALS, "by_expiration", lambda proposal: (proposal.expiration_time,), (TIME,))

REQUIRED_APPROVALS = Table(RequiredApproval, number=23)
REQUIRED_APPROVAL_BY_ACCOUNT = unique(
    REQUIRED_APPROVALS, "by_account", lambda approval: (approval.account, approval.proposal), (NAME_WORD, OBJECT_ID)
)
