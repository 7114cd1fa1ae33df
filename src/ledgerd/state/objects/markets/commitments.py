"""Hidden bets: tokens set aside under a hash (spec 07, section 10.6)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import ShareAmount, UInt8, UInt16
from ledgerd.protocol.types.identifiers import NO_COMMITMENT, Commitment
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import NAME_TEXT, OBJECT_ID, OWN_ID, TIME, UINT8
from ledgerd.state.tables.tables import Entity, ObjectId, Table, unique

COMMITTED = 0
REVEALED = 1
FORFEITED = 2
"""Whether it is still hidden, was shown in time, or was not."""


class PmCommit(Entity):
    """A bet that its account alone can read."""

    market: ObjectId = 0
    account: AccountName = NO_NAME
    commitment: Commitment = NO_COMMITMENT
    escrow_amount: ShareAmount = 0
    no_reveal_fee_percent: UInt16 = 0
    commit_time: Time = 0
    reveal_deadline: Time = 0
    status: UInt8 = COMMITTED


PM_COMMITS = Table(PmCommit, number=37)
COMMIT_BY_MARKET = unique(PM_COMMITS, "by_market", lambda commit: (commit.market, commit.id), (OBJECT_ID, OWN_ID))
COMMIT_BY_ACCOUNT = unique(
    PM_COMMITS, "by_commit_account", lambda commit: (commit.account, commit.id), (NAME_TEXT, OWN_ID)
)
COMMIT_BY_REVEAL_DEADLINE = unique(
    PM_COMMITS,
    "by_reveal_deadline",
    lambda commit: (commit.status, commit.reveal_deadline, commit.id),
    (UINT8, TIME, OWN_ID),
)
