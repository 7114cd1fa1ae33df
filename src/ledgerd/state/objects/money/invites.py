"""Invites: tokens for whoever holds a secret (spec 02, section 3.18)."""

from __future__ import annotations

from ledgerd.codec.types.numbers import UInt16
from ledgerd.protocol.crypto.keys import KEY_SIZE, NULL_KEY, PublicKey
from ledgerd.protocol.types.assets import Tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import BOOL, NAME_WORD, OWN_ID, TIME, UINT16, fixed_bytes
from ledgerd.state.tables.tables import Entity, Table, ordered, unique

UNUSED = 0
CLAIMED = 1
REGISTERED = 2
VESTED = 3
"""What an invite was used for: a balance, a new account, or shares."""


class Invite(Entity):
    """Tokens that a secret gives away, and, once it is known, the secret."""

    creator: AccountName = NO_NAME
    receiver: AccountName = NO_NAME
    invite_key: PublicKey = NULL_KEY
    invite_secret: str = ""
    balance: Tokens = 0
    claimed_balance: Tokens = 0
    create_time: Time = 0
    claim_time: Time = 0
    status: UInt16 = UNUSED


INVITES = Table(Invite, number=26)
INVITE_BY_KEY = ordered(INVITES, "by_invite_key", lambda invite: (invite.invite_key,), (fixed_bytes(KEY_SIZE),))
INVITE_BY_STATUS = ordered(INVITES, "by_status", lambda invite: (invite.status,), (UINT16,))
INVITE_BY_CREATOR = ordered(INVITES, "by_creator", lambda invite: (invite.creator,), (NAME_WORD,))
INVITE_BY_RECEIVER = ordered(INVITES, "by_receiver", lambda invite: (invite.receiver,), (NAME_WORD,))
INVITE_BY_CLAIM_TIME = unique(
    INVITES,
    "by_claim_time",
    lambda invite: (invite.status != UNUSED, invite.claim_time, invite.id),
    (BOOL, TIME, OWN_ID),
)
"""Ours: the used invites, those of long ago first."""
