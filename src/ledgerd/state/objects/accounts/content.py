"""Content and the votes on it, of the first era: hardfork 4 removed all of it (spec 02, section 3.21)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec.types.numbers import Int16, Int32, Int64, ShareAmount, Signed, UInt16, UInt32, UInt64, UInt128
from ledgerd.protocol.types.assets import Shares, Tokens
from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import C_TEXT, NAME_WORD, OBJECT_ID, OWN_ID, TIME, UINT64, descending
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique


class Content(Entity):
    """A post or a reply, without its text."""

    parent_author: AccountName = NO_NAME
    parent_permlink: str = ""
    author: AccountName = NO_NAME
    permlink: str = ""
    last_update: Time = 0
    created: Time = 0
    active: Time = 0
    last_payout: Time = 0
    depth: UInt16 = 0
    children: UInt32 = 0
    children_rshares: UInt128 = 0
    net_rshares: ShareAmount = 0
    abs_rshares: ShareAmount = 0
    vote_rshares: ShareAmount = 0
    cashout_time: Time = 0
    total_vote_weight: UInt64 = 0
    curation_percent: Int16 = 0
    consensus_curation_percent: Int16 = 0
    payout_value: Tokens = 0
    shares_payout_value: Shares = 0
    curator_payout_value: Shares = 0
    beneficiary_payout_value: Shares = 0
    author_rewards: ShareAmount = 0
    net_votes: Int32 = 0
    root_content: ObjectId = 0
    beneficiaries: tuple[Beneficiary, ...] = ()


class ContentType(Entity):
    """The text of a content."""

    content: ObjectId = 0
    title: str = ""
    body: str = ""
    json_metadata: str = ""


class ContentVote(Entity):
    """An account's vote on a content."""

    voter: ObjectId = 0
    content: ObjectId = 0
    weight: UInt64 = 0
    rshares: Int64 = 0
    vote_percent: Int16 = 0
    last_update: Time = 0
    num_changes: Annotated[int, Signed(8)] = 0


CONTENTS = Table(Content, number=7)
CONTENT_BY_PERMLINK = unique(
    CONTENTS, "by_permlink", lambda content: (content.author, content.permlink), (NAME_WORD, C_TEXT)
)
CONTENT_BY_CASHOUT = unique(
    CONTENTS, "by_cashout_time", lambda content: (content.cashout_time, content.id), (TIME, OWN_ID)
)

CONTENT_TYPES = Table(ContentType, number=8)
CONTENT_TYPE_BY_CONTENT = unique(CONTENT_TYPES, "by_content", lambda text: (text.content,), (OBJECT_ID,))

CONTENT_VOTES = Table(ContentVote, number=9)
CONTENT_VOTE_BY_VOTER = unique(
    CONTENT_VOTES, "by_content_voter", lambda vote: (vote.content, vote.voter), (OBJECT_ID, OBJECT_ID)
)
CONTENT_VOTE_BY_WEIGHT = unique(
    CONTENT_VOTES,
    "by_content_weight_voter",
    lambda vote: (vote.content, vote.weight, vote.voter, vote.id),
    (OBJECT_ID, descending(UINT64), OBJECT_ID, OWN_ID),
)
