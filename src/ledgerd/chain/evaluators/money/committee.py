"""The rules of requests to the committee, and of votes on them (spec 02, section 11; spec 10, section 7.1)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import pay_committee
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.money.committee import (
    CommitteeVoteRequest,
    CommitteeWorkerCancelRequest,
    CommitteeWorkerCreateRequest,
)
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.money import committee

NOT_ACTIVE = "false: Committee request is not active."

REWORDED_BY = 14
"""The hardfork with which a condition was written again."""


@evaluates(CommitteeWorkerCreateRequest)
def committee_worker_create_request(ledger: Ledger, operation: CommitteeWorkerCreateRequest) -> None:
    creator = ledger.account(operation.creator)
    ledger.account(operation.worker)
    fee = ledger.median.committee_create_request_fee
    if ledger.hardfork(9):
        require(
            creator.balance >= fee.amount,
            "creator.balance >= median_props.committee_create_request_fee: "
            "Account does not have sufficient funds to create a committee request: required ${a}.",
            a=str(fee),
        )
    require(
        ledger.store.lookup(committee.REQUEST_BY_CREATOR_URL, operation.creator, operation.url) is None,
        "!find: Committee request with same creator and url already exist.",
    )
    _require_pause(ledger, operation.creator)
    globals_ = ledger.globals
    number = uint32(globals_.committee_requests + 1)
    request = committee.CommitteeRequest(
        request_id=number,
        url=operation.url,
        creator=operation.creator,
        worker=operation.worker,
        required_amount_min=operation.required_amount_min.amount,
        required_amount_max=operation.required_amount_max.amount,
        start_time=ledger.now,
        duration=operation.duration,
        end_time=uint32(ledger.now + operation.duration),
    )
    ledger.store.create(committee.COMMITTEE_REQUESTS, request)
    ledger.remember(globals_)
    globals_.committee_requests = number
    if ledger.hardfork(9):
        pay_committee(ledger, creator, fee.amount)


def _require_pause(ledger: Ledger, creator: AccountName) -> None:
    """No two requests of a creator in short order; its last one is the latest, as time does not go back."""
    latest = ledger.store.first(committee.REQUEST_BY_CREATOR, lower=(creator,), upper=(creator,), reverse=True)
    require(
        latest is None or ledger.now - latest.start_time >= ledger.network.committee_request_per_time,
        "!find: Committee request can not be created by same creator before COMMITTEE_REQUEST_PER_TIME ends.",
    )


@evaluates(CommitteeWorkerCancelRequest)
def committee_worker_cancel_request(ledger: Ledger, operation: CommitteeWorkerCancelRequest) -> None:
    ledger.account(operation.creator)
    request = _request(ledger, operation.request_id)
    require(request.creator == operation.creator, "false: Committee request can canceled only by creator.")
    require(request.status == committee.ACTIVE, NOT_ACTIVE)
    with ledger.editing(request):
        request.status = committee.CANCELLED
        request.conclusion_time = ledger.now


@evaluates(CommitteeVoteRequest)
def committee_vote_request(ledger: Ledger, operation: CommitteeVoteRequest) -> None:
    """A vote of nothing counts as one. Votes of before hardfork 14, which bounds them, stay."""
    voter = ledger.account(operation.voter)
    request = _request(ledger, operation.request_id)
    require(request.status == committee.ACTIVE, NOT_ACTIVE)
    if ledger.hardfork(14):
        # The text is the same whatever the least is.
        require(
            voter.effective_shares >= ledger.globals.shares_for(ledger.median.committee_vote_min_vesting.amount),
            "voter.effective_vesting_shares() >= min_shares: "
            "Insufficient vesting for committee vote (min 1000.000 VIZ)",
        )
    vote = ledger.store.lookup(committee.COMMITTEE_VOTE_BY_REQUEST_AND_VOTER, request.request_id, operation.voter)
    if vote is not None:
        require(vote.vote_percent != operation.vote_percent, _same_vote(ledger))
        ledger.remember(vote)
        vote.vote_percent = operation.vote_percent
        vote.last_update = ledger.now
        return
    if ledger.hardfork(14):
        require(
            request.votes_count < ledger.median.committee_votes_per_request,
            "itr->votes_count < median_props.committee_votes_per_request: Committee request vote cap reached",
        )
    new_vote = committee.CommitteeVote(
        request_id=request.request_id,
        voter=operation.voter,
        vote_percent=operation.vote_percent,
        last_update=ledger.now,
    )
    ledger.store.create(committee.COMMITTEE_VOTES, new_vote)
    ledger.remember(request)
    request.votes_count = uint32(request.votes_count + 1)


def _same_vote(ledger: Ledger) -> str:
    """Programs that know hardfork 14 word the condition otherwise, before it too (spec 10, section 7.1)."""
    vote = "vote_itr->" if ledger.network.last_hardfork.number >= REWORDED_BY else "cur_vote."
    return f"{vote}vote_percent != o.vote_percent: Committee vote percent equal last vote."


def _request(ledger: Ledger, number: int) -> committee.CommitteeRequest:
    request = ledger.store.lookup(committee.REQUEST_BY_NUMBER, number)
    if request is None:
        raise RuleViolation("itr != idx.end(): Committee request id not found.")
    return request
