"""Proposals: operations that wait for the approvals of others (spec 02, section 3.20)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import sorted_by
from ledgerd.protocol.authority import key_order
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import NO_NAME, AccountName, word_order
from ledgerd.protocol.times import Time
from ledgerd.state.keys import C_TEXT, NAME_WORD, OBJECT_ID, TIME
from ledgerd.state.tables import Entity, ObjectId, Table, ordered, unique

Names = Annotated[tuple[AccountName, ...], sorted_by(word_order)]
Keys = Annotated[tuple[PublicKey, ...], sorted_by(key_order)]


class Proposal(Entity):
    """Operations, packed, with whose agreement they need and whose they have."""

    author: AccountName = NO_NAME
    title: str = ""
    memo: str = ""
    expiration_time: Time = 0
    review_period_time: Time | None = None
    proposed_operations: bytes = b""
    required_active_approvals: Names = ()
    available_active_approvals: Names = ()
    required_master_approvals: Names = ()
    available_master_approvals: Names = ()
    required_regular_approvals: Names = ()
    available_regular_approvals: Names = ()
    available_key_approvals: Keys = ()


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
