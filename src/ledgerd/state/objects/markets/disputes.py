"""Disputes about what an oracle said, the votes on them, and bans of creators (spec 07, 10.7, 10.8 and 10.13)."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.codec.partial import fields_reader
from ledgerd.codec.types.numbers import Int16, ShareAmount, UInt8, UInt32
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import NAME_TEXT, OBJECT_ID, OWN_ID, TIME, UINT8
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique

OPEN = 0
ORACLE_WRONG = 1
ORACLE_RIGHT = 2
CLOSED_BY_TIME = 3
"""How a dispute ends."""


class PmDispute(Entity):
    """Somebody's claim that a market ended otherwise."""

    market: ObjectId = 0
    disputer: AccountName = NO_NAME
    dispute_fee: ShareAmount = 0
    reason: str = ""
    filed_time: Time = 0
    oracle_response_deadline: Time = 0
    dispute_mode: UInt8 = 0
    voting_end_time: Time = 0
    auto_close_time: Time = 0
    proposed_outcome: Int16 = -1
    status: UInt8 = OPEN
    oracle_response: str = ""
    oracle_response_time: Time = 0
    ballots: UInt32 = 0


dispute_numbers: Callable[[bytes], tuple[int, int]] = fields_reader(PmDispute, ("id", "market"))
"""The id of a dispute and the market, from the bytes of the dispute: it may be one of many that are looked at."""


class PmDisputeVote(Entity):
    """An account's vote on the dispute of a market."""

    market: ObjectId = 0
    voter: AccountName = NO_NAME
    vote_outcome: Int16 = -1
    vote_percent: Int16 = 0
    time: Time = 0


class PmCreatorBan(Entity):
    """An account that may open no markets for a time; one of an oracle stands in the oracle itself."""

    creator: AccountName = NO_NAME
    banned_until: Time = 0
    ban_count: UInt32 = 0
    banned_by: AccountName = NO_NAME


PM_DISPUTES = Table(PmDispute, number=38)
DISPUTE_BY_MARKET = unique(PM_DISPUTES, "by_market", lambda dispute: (dispute.market,), (OBJECT_ID,))
DISPUTE_BY_VOTING_END = unique(
    PM_DISPUTES,
    "by_voting_end",
    lambda dispute: (dispute.status, dispute.voting_end_time, dispute.id),
    (UINT8, TIME, OWN_ID),
)
DISPUTE_BY_AUTO_CLOSE = unique(
    PM_DISPUTES,
    "by_auto_close",
    lambda dispute: (dispute.status, dispute.auto_close_time, dispute.id),
    (UINT8, TIME, OWN_ID),
)

PM_DISPUTE_VOTES = Table(PmDisputeVote, number=39)
DISPUTE_VOTE_BY_MARKET = unique(
    PM_DISPUTE_VOTES, "by_market_voter", lambda vote: (vote.market, vote.voter), (OBJECT_ID, NAME_TEXT)
)

PM_CREATOR_BANS = Table(PmCreatorBan, number=44)
CREATOR_BAN_BY_ACCOUNT = unique(PM_CREATOR_BANS, "by_ban_account", lambda ban: (ban.creator,), (NAME_TEXT,))
CREATOR_BAN_BY_EXPIRY = unique(PM_CREATOR_BANS, "by_ban_expiry", lambda ban: (ban.banned_until, ban.id), (TIME, OWN_ID))
