"""The committee's requests for work, and the votes on them (spec 02, sections 3.16 and 3.17)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import Int16, UInt16, UInt32
from ledgerd.protocol.types.assets import Tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import BOOL, C_TEXT, NAME_WORD, OWN_ID, TIME, UINT16, UINT32
from ledgerd.state.tables.tables import Entity, Table, ordered, unique

ACTIVE = 0
CANCELLED = 1
LOW_TURNOUT = 2
REJECTED = 3
BEING_PAID = 4
PAID = 5
"""What becomes of a request: it is voted on, or was cancelled or rejected, or is paid in parts until it is paid."""


class CommitteeRequest(Entity):
    """A worker's work, to be paid by the committee fund."""

    request_id: UInt32 = 0
    url: str = ""
    creator: AccountName = NO_NAME
    worker: AccountName = NO_NAME
    required_amount_min: Tokens = 0
    required_amount_max: Tokens = 0
    start_time: Time = 0
    duration: UInt32 = 0
    end_time: Time = 0
    status: UInt16 = ACTIVE
    votes_count: UInt32 = 0
    conclusion_time: Time = 0
    conclusion_payout_amount: Tokens = 0
    payout_amount: Tokens = 0
    remain_payout_amount: Tokens = 0
    last_payout_time: Time = 0
    payout_time: Time = 0

    @property
    def is_closed_unpaid(self) -> bool:
        """Whether it came to nothing, so that it is forgotten after a while (spec 03, section 15.16)."""
        return self.status not in {ACTIVE, BEING_PAID, PAID}


class CommitteeVote(Entity):
    """How much of a request an account would pay."""

    request_id: UInt32 = 0
    voter: AccountName = NO_NAME
    vote_percent: Int16 = 0
    last_update: Time = 0


COMMITTEE_REQUESTS = Table(CommitteeRequest, number=24)
REQUEST_BY_NUMBER = ordered(COMMITTEE_REQUESTS, "by_request_id", lambda request: (request.request_id,), (UINT32,))
REQUEST_BY_STATUS = ordered(COMMITTEE_REQUESTS, "by_status", lambda request: (request.status,), (UINT16,))
REQUEST_BY_CREATOR = ordered(COMMITTEE_REQUESTS, "by_creator", lambda request: (request.creator,), (NAME_WORD,))
REQUEST_BY_WORKER = ordered(COMMITTEE_REQUESTS, "by_worker", lambda request: (request.worker,), (NAME_WORD,))
REQUEST_BY_CREATOR_URL = unique(
    COMMITTEE_REQUESTS, "by_creator_url", lambda request: (request.creator, request.url), (NAME_WORD, C_TEXT)
)
REQUEST_BY_END = unique(
    COMMITTEE_REQUESTS,
    "by_end",
    lambda request: (request.status, request.end_time, request.id),
    (UINT16, TIME, OWN_ID),
)
"""Ours: the active requests whose vote is over. Of several, the order is that of `REQUEST_BY_STATUS`."""
REQUEST_BY_CONCLUSION = unique(
    COMMITTEE_REQUESTS,
    "by_conclusion",
    lambda request: (request.is_closed_unpaid, request.conclusion_time, request.id),
    (BOOL, TIME, OWN_ID),
)
"""Ours: the requests that came to nothing, those of long ago first."""

COMMITTEE_VOTES = Table(CommitteeVote, number=25)
COMMITTEE_VOTE_BY_VOTER = ordered(COMMITTEE_VOTES, "by_voter", lambda vote: (vote.voter,), (NAME_WORD,))
COMMITTEE_VOTE_BY_REQUEST = ordered(COMMITTEE_VOTES, "by_request_id", lambda vote: (vote.request_id,), (UINT32,))
COMMITTEE_VOTE_BY_REQUEST_AND_VOTER = unique(
    COMMITTEE_VOTES,
    "by_request_and_voter",
    lambda vote: (vote.request_id, vote.voter, vote.id),
    (UINT32, NAME_WORD, OWN_ID),
)
"""Ours: an account's vote on a request. The reference has the same with the voter first (spec 07, section 11.4)."""
