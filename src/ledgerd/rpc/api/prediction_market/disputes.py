"""Disputes about what an oracle said, and how the votes on them stand (spec 11, section 6.1)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.json.text import quote, text_bytes
from ledgerd.codec.types.numbers import Int16, Int64, UInt8, UInt32
from ledgerd.pricing.widths import int64, mul_div, quotient128, truncated_quotient
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.prediction_market.declared import PREDICTION_MARKET_API, page, require_page
from ledgerd.rpc.api.prediction_market.shared.cards import MarketCard, card_text
from ledgerd.rpc.api.prediction_market.shared.id_lists import id_list
from ledgerd.rpc.api.prediction_market.shared.risk import medians
from ledgerd.rpc.api.shared.kinds import Printed, existing, record_of
from ledgerd.rpc.call.counts import exactly, from_to
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.accounts.accounts import ACCOUNT_BY_NAME
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty
from ledgerd.state.objects.markets import disputes
from ledgerd.state.objects.markets.lazy_pool import LAZY_DEPOSIT_BY_ACCOUNT, PM_LAZY_POOLS
from ledgerd.state.objects.markets.markets import PM_MARKETS, PmMarket, market_oracle
from ledgerd.state.views.view import View

UPHOLD = -1


class OracleDispute(msgspec.Struct, frozen=True):
    """An open dispute of an oracle, with its market."""

    market: MarketCard
    market_id: Int64
    disputer: AccountName
    proposed_outcome: Int16
    filed_time: Time
    oracle_response_deadline: Time
    oracle_response_time: Time
    voting_end_time: Time
    auto_close_time: Time
    dispute_mode: UInt8
    stage: str


OracleDisputes = Annotated[str, Printed(tuple[OracleDispute, ...])]


class DisputeVote(disputes.PmDisputeVote):
    """An account's vote on a dispute."""


class DisputeVotes(msgspec.Struct, frozen=True):
    """The votes on a dispute, and what would come of it now."""

    votes: tuple[DisputeVote, ...] = ()
    uphold_weight: Int64 = 0
    challenge_weight: Int64 = 0
    total_weight: Int64 = 0
    challenger_leads: bool = False
    proposed_outcome: Int16 = -1
    participation_shares: Int64 = 0
    electorate_shares: Int64 = 0
    quorum_required_shares: Int64 = 0
    quorum_percent_bp: UInt32 = 0
    quorum_reached: bool = False
    oracle_defense_shares: Int64 = 0
    change_shares: Int64 = 0
    outcome_change_shares: tuple[Int64, ...] = ()
    expected_uphold: bool = True
    expected_outcome: Int16 = -1
    expected_consensus_strength_bp: UInt32 = 0


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_dispute(view: ApiView, market: Int64) -> disputes.PmDispute:
    """The dispute of a market."""
    return existing(view.state.lookup(disputes.DISPUTE_BY_MARKET, market), "itr != idx.end(): Dispute not found")


@PREDICTION_MARKET_API.method(args=from_to(3, 3), examples=[["alice", 0, 10]])
def list_oracle_disputes(view: ApiView, oracle: AccountName, from_: UInt32, limit: UInt32) -> OracleDisputes:
    """The open disputes of an oracle's markets, those that end soonest first."""
    require_page(limit, from_)
    wanted = text_bytes(oracle)

    def found() -> Iterator[int]:
        numbers = view.state.peek_all(
            disputes.DISPUTE_BY_AUTO_CLOSE, disputes.dispute_numbers, lower=(disputes.OPEN,), upper=(disputes.OPEN,)
        )
        for dispute, market in numbers:
            if view.state.peek(PM_MARKETS, market, market_oracle) == wanted:
                yield dispute

    ids = page(id_list(view, ("disputes", oracle), found), from_, max(limit, 1))
    texts = []
    for each in ids:
        dispute = view.state.find(disputes.PM_DISPUTES, each)
        card = card_text(view, dispute.market) if dispute is not None else None
        if dispute is not None and card is not None:
            texts.append(_dispute_text(dispute, card))
            view.grow(len(texts[-1]))
    return f"[{','.join(texts)}]"


def _dispute_text(dispute: disputes.PmDispute, card: str) -> str:
    stage = "awaiting_decision" if dispute.oracle_response_time else "awaiting_response"
    times = (
        f'"filed_time":"{time_text(dispute.filed_time)}",'
        f'"oracle_response_deadline":"{time_text(dispute.oracle_response_deadline)}",'
        f'"oracle_response_time":"{time_text(dispute.oracle_response_time)}",'
        f'"voting_end_time":"{time_text(dispute.voting_end_time)}",'
        f'"auto_close_time":"{time_text(dispute.auto_close_time)}"'
    )
    return (
        f'{{"market":{card},"market_id":{dispute.market},"disputer":{quote(dispute.disputer)},'
        f'"proposed_outcome":{dispute.proposed_outcome},{times},"dispute_mode":{dispute.dispute_mode},'
        f'"stage":"{stage}"}}'
    )


@PREDICTION_MARKET_API.method(args=exactly(1, "_S"), examples=[[0]])
def get_dispute_votes(view: ApiView, market: Int64) -> DisputeVotes:
    """The votes on the dispute of a market, and what would come of it if the vote were over now."""
    dispute = view.state.lookup(disputes.DISPUTE_BY_MARKET, market)
    if dispute is None:
        return DisputeVotes()
    return _counted(view, dispute, view.state.get(PM_MARKETS, dispute.market))


class _Weights:
    """The weight of an account's vote: its shares, and those that its part of the lazy pool would buy."""

    def __init__(self, state: View, properties: DynamicGlobalProperty) -> None:
        pool = state.find(PM_LAZY_POOLS, 0)
        self._state = state
        self._properties = properties
        self._shares = 0 if pool is None else pool.total_shares
        self._value = 0
        if pool is not None and pool.total_shares > 0:
            self._value = int64(pool.free_balance + pool.allocated_balance + pool.leverage_fund_used)
        self.of_pool = properties.shares_for(self._value) if self._value > 0 else 0

    def of(self, voter: AccountName) -> int:
        own = self._state.at(ACCOUNT_BY_NAME, voter).effective_shares
        if self._value <= 0:
            return own
        deposit = self._state.lookup(LAZY_DEPOSIT_BY_ACCOUNT, voter)
        if deposit is None or deposit.shares <= 0:
            return own
        value = quotient128(self._value * deposit.shares, self._shares)
        return own + (self._properties.shares_for(value) if value > 0 else 0)


def _counted(view: ApiView, dispute: disputes.PmDispute, market: PmMarket) -> DisputeVotes:
    properties = view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0)
    weights = _Weights(view.state, properties)
    votes = tuple(view.state.under(disputes.DISPUTE_VOTE_BY_MARKET, market.id))
    changes = [0] * market.outcome_count
    percents = {True: 0, False: 0}
    participation = defense = 0
    for vote in votes:
        percents[vote.vote_outcome == UPHOLD] += abs(vote.vote_percent)
        weight = weights.of(vote.voter)
        participation += weight
        part = truncated_quotient(int64(weight * abs(vote.vote_percent)), HUNDRED_PERCENT)
        if vote.vote_percent > 0 and 0 <= vote.vote_outcome < market.outcome_count:
            changes[vote.vote_outcome] += part
        else:
            defense += part
    change, total = sum(changes), percents[True] + percents[False]
    least = medians(view).pm_dispute_approve_min_percent
    electorate = properties.total_vesting_shares + weights.of_pool
    required = mul_div(electorate, least, HUNDRED_PERCENT)
    is_upheld = participation < required or change <= 0 or defense >= change
    outcome, strength = market.resolved_outcome, 0
    if not is_upheld:
        outcome = changes.index(max(changes))
        strength = truncated_quotient(changes[outcome] * HUNDRED_PERCENT, participation) if participation else 0
    return DisputeVotes(
        tuple(record_of(DisputeVote, vote) for vote in votes),
        percents[True],
        percents[False],
        total,
        total > 0 and percents[False] * HUNDRED_PERCENT // total >= least,
        dispute.proposed_outcome,
        participation,
        electorate,
        required,
        truncated_quotient(participation * HUNDRED_PERCENT, electorate) if electorate > 0 else 0,
        participation >= required,
        defense,
        change,
        tuple(changes),
        is_upheld,
        outcome,
        strength,
    )
