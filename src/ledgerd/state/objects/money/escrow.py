"""Escrows: tokens that wait for two others to agree (spec 02, section 3.9)."""

from __future__ import annotations

from msgspec import field

from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.types.assets import Tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.tables.keys import BOOL, NAME_WORD, OWN_ID, TIME, UINT32
from ledgerd.state.tables.tables import Entity, Table, unique


class Escrow(Entity):
    """Tokens on their way from one account to another, with an agent between them."""

    escrow_id: UInt32 = 20
    sender: AccountName = field(default=NO_NAME, name="from")
    recipient: AccountName = field(default=NO_NAME, name="to")
    agent: AccountName = NO_NAME
    ratification_deadline: Time = 0
    escrow_expiration: Time = 0
    token_balance: Tokens = 0
    pending_fee: Tokens = 0
    to_approved: bool = False
    agent_approved: bool = False
    disputed: bool = False

    @property
    def is_approved(self) -> bool:
        return self.to_approved and self.agent_approved


ESCROWS = Table(Escrow, number=16)
ESCROW_BY_SENDER = unique(ESCROWS, "by_from_id", lambda escrow: (escrow.sender, escrow.escrow_id), (NAME_WORD, UINT32))
ESCROW_BY_RECIPIENT = unique(ESCROWS, "by_to", lambda escrow: (escrow.recipient, escrow.id), (NAME_WORD, OWN_ID))
ESCROW_BY_AGENT = unique(ESCROWS, "by_agent", lambda escrow: (escrow.agent, escrow.id), (NAME_WORD, OWN_ID))
ESCROW_BY_DEADLINE = unique(
    ESCROWS,
    "by_ratification_deadline",
    lambda escrow: (escrow.is_approved, escrow.ratification_deadline, escrow.id),
    (BOOL, TIME, OWN_ID),
)
