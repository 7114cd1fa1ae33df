"""Operations of bets: placing one, taking it back, giving it to somebody else (spec 07, section 4).

Bets that are hidden at first are in `commitments`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import field

from ledgerd.codec import missing
from ledgerd.codec.numbers import Int8, Int16, Int64, ShareAmount, UInt8
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.authority import require_valid_name
from ledgerd.protocol.constants import MAX_PM_DISPUTE_REASON_LENGTH
from ledgerd.protocol.errors import require
from ledgerd.protocol.extensions import Extensions
from ledgerd.protocol.market_rules import (
    require_object_id,
    require_one_outcome,
    require_positive_token,
    require_text,
)
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import Authorities, Operation, active

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters

INSTANT = 0
BATCH = 1
"""When a bet is carried out: at once, or with all others of its epoch."""


class PmPlaceBet(Operation, frozen=True, tag=70):
    """Bets on an outcome, at once or in the batch of this epoch."""

    account: AccountName
    market_id: Int64
    side: Annotated[Int8, missing(-1)]
    outcome_index: Annotated[Int16, missing(-1)]
    amount: Asset
    min_tokens: ShareAmount
    mode: UInt8
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require_object_id(self.market_id, "market_id")
        require_positive_token(self.amount, "amount", "bet amount")
        require(self.min_tokens >= 0, "min_tokens >= 0: min_tokens cannot be negative")
        require(self.mode in {INSTANT, BATCH}, "mode == 0 || mode == 1: mode must be 0 (instant) or 1 (batch)")
        require_one_outcome(self.side, self.outcome_index)

    def authorities(self) -> Authorities:
        return active(self.account)


class PmCancelBet(Operation, frozen=True, tag=73):
    """Takes a bet back for what the market gives for it now, but not for less than asked."""

    account: AccountName
    bet_id: Int64
    min_return: ShareAmount
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require_object_id(self.bet_id, "bet_id")
        require(self.min_return >= 0, "min_return >= 0: min_return cannot be negative")

    def authorities(self) -> Authorities:
        return active(self.account)


class PmTransferPosition(Operation, frozen=True, tag=81):
    """Transfers a bet, or a part of it, to another account; no amount means all of it."""

    sender: AccountName = field(name="from")
    bet_id: Int64
    recipient: AccountName = field(name="to")
    amount: ShareAmount
    memo: str
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.sender)
        require_valid_name(self.recipient)
        require(self.sender != self.recipient, "from != to: cannot transfer a position to yourself")
        require_object_id(self.bet_id, "bet_id")
        require(self.amount >= 0, "amount >= 0: amount cannot be negative (0 = full position)")
        require_text(self.memo, "memo", MAX_PM_DISPUTE_REASON_LENGTH)

    def authorities(self) -> Authorities:
        return active(self.sender)


OPERATIONS: tuple[type[Operation], ...] = (
    PmPlaceBet,
    PmCancelBet,
    PmTransferPosition,
)
