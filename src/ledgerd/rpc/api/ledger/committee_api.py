"""`committee_api`: the requests to the committee, and the votes on them (spec 05, section 15)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import msgspec
from msgspec.structs import asdict

from ledgerd.codec.types.numbers import Int16, Int32, UInt16, UInt32
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.shared.kinds import existing, record_of
from ledgerd.rpc.call.counts import from_to
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.money import committee

COMMITTEE_API = Api("committee_api", "Requests for work that the committee fund may pay, and the votes on them.")

ALL_VOTES = -1


class CommitteeVoteRecord(msgspec.Struct, frozen=True):
    """A vote on a request."""

    voter: AccountName
    vote_percent: Int16
    last_update: Time


class CommitteeRequestRecord(committee.CommitteeRequest):
    """A request with as many of its votes as requested."""

    votes: tuple[CommitteeVoteRecord, ...] = ()


@COMMITTEE_API.method(args=from_to(1, 2), examples=[[1, -1]])
def get_committee_request(view: ApiView, request_id: UInt32, votes_count: Int32 = 0) -> CommitteeRequestRecord:
    """A request with its first votes: 0 for none, -1 for all."""
    found = view.state.lookup(committee.REQUEST_BY_NUMBER, request_id)
    request = existing(found, "itr != idx.end(): Committee request id not found.")
    votes: tuple[CommitteeVoteRecord, ...] = ()
    if votes_count:
        # The reference compares the count after it has added a vote.
        wanted = None if votes_count == ALL_VOTES else max(votes_count, 1)
        votes = tuple(islice(_votes(view, request_id), wanted))
    return CommitteeRequestRecord(**asdict(request), votes=votes)


@COMMITTEE_API.method(args=from_to(1, 1), examples=[[1]])
def get_committee_request_votes(view: ApiView, request_id: UInt32) -> tuple[CommitteeVoteRecord, ...]:
    """All votes on a request, the oldest first."""
    return tuple(_votes(view, request_id))


@COMMITTEE_API.method(args=from_to(1, 1), examples=[[0]])
def get_committee_requests_list(view: ApiView, status: UInt16) -> tuple[UInt16, ...]:
    """The numbers of the requests with a status, truncated to 16 bits."""
    requests = view.state.under(committee.REQUEST_BY_STATUS, status)
    return tuple(request.request_id & 0xFFFF for request in requests)


def _votes(view: ApiView, request_id: int) -> Iterator[CommitteeVoteRecord]:
    votes = view.state.under(committee.COMMITTEE_VOTE_BY_REQUEST, request_id)
    return (record_of(CommitteeVoteRecord, vote) for vote in votes)
