"""Requests to the committee: their votes end, and they are paid in parts (spec 03, section 15.30; spec 10, 7.2)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import fits_uint64, int64, truncated, uint128
from ledgerd.chain.ledger.block_context import BlockContext, when_due
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.lazy_pool import PoolVotes, pool_votes, voting_weight
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.operations import virtual
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.state.objects.money import committee


def process_committee_requests(ledger: Ledger, context: BlockContext) -> None:
    # Before anything is due: were the pool worth more shares than there can be, every block would fail.
    pool_votes(ledger)
    decide_due(ledger, context)
    if ledger.head_number % ledger.network.committee_request_processing == 0:
        _pay(ledger)


def _decide_due(ledger: Ledger, _context: BlockContext) -> None:
    store, pool = ledger.store, pool_votes(ledger)
    due = sorted(
        store.scan(committee.REQUEST_BY_END, lower=(committee.ACTIVE,), upper=(committee.ACTIVE, ledger.now)),
        key=lambda request: store.position(committee.REQUEST_BY_STATUS, request),
    )
    for request in due:
        _decide(ledger, request, pool)


decide_due = when_due(_decide_due, committee.REQUEST_BY_END, committee.ACTIVE)


def _decide(ledger: Ledger, request: committee.CommitteeRequest, pool: PoolVotes) -> None:
    turnout, approval = _count_votes(ledger, request, pool)
    if not ledger.hardfork(2) or _least_turnout(ledger, pool) > turnout:
        _close(ledger, request, committee.LOW_TURNOUT)
        return
    payment = _payment(request, turnout, approval)
    if payment is None or request.required_amount_min > payment:
        _close(ledger, request, committee.REJECTED, payment or 0)
        return
    with ledger.editing(request):
        request.conclusion_payout_amount = request.remain_payout_amount = payment
        request.conclusion_time = ledger.now
        request.status = committee.BEING_PAID
    ledger.emit(virtual.CommitteeApproveRequest(request.request_id))


def _count_votes(ledger: Ledger, request: committee.CommitteeRequest, pool: PoolVotes) -> tuple[int, int]:
    """The shares of all who voted, and the parts of them that are for the request; the latter may be negative."""
    turnout = approval = 0
    number = request.request_id
    for vote in ledger.store.under(committee.COMMITTEE_VOTE_BY_REQUEST, number):
        weight = voting_weight(ledger, pool, vote.voter)
        turnout = fits_int64(turnout + weight)
        approval = fits_int64(approval + truncated(int64(weight * vote.vote_percent), HUNDRED_PERCENT))
    return turnout, approval


def _least_turnout(ledger: Ledger, pool: PoolVotes) -> int:
    percent = ledger.median.committee_request_approve_min_percent
    return fits_int64(fits_int64(ledger.globals.total_vesting_shares + pool.weight) * percent) // HUNDRED_PERCENT


def _payment(request: committee.CommitteeRequest, turnout: int, approval: int) -> int | None:
    if approval <= 0:
        return None
    percent = uint128(HUNDRED_PERCENT * approval) // turnout
    return fits_uint64(uint128(request.required_amount_max * percent) // HUNDRED_PERCENT)


def _close(ledger: Ledger, request: committee.CommitteeRequest, status: int, payment: int = 0) -> None:
    with ledger.editing(request):
        request.conclusion_payout_amount = payment
        request.conclusion_time = ledger.now
        request.status = status
    ledger.emit(virtual.CommitteeCancelRequest(request.request_id))


def _pay(ledger: Ledger) -> None:
    """The parts are counted one too many, so the fund is never spent in full (spec 03, section 15.30, quirk)."""
    requests = list(ledger.store.under(committee.REQUEST_BY_STATUS, committee.BEING_PAID))
    largest = truncated(ledger.globals.committee_fund, len(requests) + 1)
    for request in requests:
        _pay_part(ledger, request, min(largest, request.remain_payout_amount))


def _pay_part(ledger: Ledger, request: committee.CommitteeRequest, part: int) -> None:
    globals_ = ledger.globals
    adjust_balance(ledger, ledger.account(request.worker), part)
    ledger.remember(globals_)
    globals_.committee_fund = fits_int64(globals_.committee_fund - part)
    ledger.emit(virtual.CommitteePayRequest(request.worker, request.request_id, tokens(part)))
    with ledger.editing(request):
        request.payout_amount = fits_int64(request.payout_amount + part)
        request.remain_payout_amount = fits_int64(request.remain_payout_amount - part)
        request.last_payout_time = ledger.now
        if request.remain_payout_amount <= 0:
            request.status = committee.PAID
            request.payout_time = ledger.now
            ledger.emit(virtual.CommitteePayoutRequest(request.request_id))
