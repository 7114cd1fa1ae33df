"""Operations of bets, also of hidden ones: the hash of a bet, and later its contents (spec 07, section 4)."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from ledgerd.codec import missing
from ledgerd.codec.types.numbers import Int8, Int16, ShareAmount, UInt8
from ledgerd.protocol.constants import MAX_PM_DISPUTE_REASON_LENGTH, MAX_PM_PROFILE_URL_LENGTH
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Extensions, Operation
from ledgerd.protocol.operations.markets import rules as market_rules
from ledgerd.protocol.operations.roles import (
    ActiveSigner,
    BetId,
    CommitId,
    MarketId,
    Meaning,
    Memo,
    Percent,
    Recipient,
    Role,
    words,
)
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.identifiers import NO_COMMITMENT, Commitment

INSTANT = 0
BATCH = 1
"""A bet is carried out at once, or with all others of its epoch."""


class PmPlaceBet(Operation, frozen=True, tag=70):
    """Bets on an outcome, at once or in the batch of this epoch."""

    EN = words("Bet", "{account} bet {amount} on outcome {choice} of market {market_id}")
    RU = words("Ставка", "{account} ставит {amount} на исход {choice} рынка {market_id}")

    account: Annotated[ActiveSigner, Role.PAYER]
    market_id: MarketId
    side: Annotated[Int8, missing(-1)]
    outcome_index: Annotated[Int16, missing(-1)]
    amount: Asset
    min_tokens: Annotated[ShareAmount, Meaning.OPTIONAL]
    mode: Annotated[UInt8, Meaning.OPTIONAL]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        market_rules.require_object_id(self.market_id, "market_id")
        market_rules.require_positive_token(self.amount, "amount", "bet amount")
        require(self.min_tokens >= 0, "min_tokens >= 0: min_tokens cannot be negative")
        require(self.mode in {INSTANT, BATCH}, "mode == 0 || mode == 1: mode must be 0 (instant) or 1 (batch)")
        market_rules.require_one_outcome(self.side, self.outcome_index)

    @property
    def choice(self) -> Int16:
        return self.side if self.side >= 0 else self.outcome_index


class PmCancelBet(Operation, frozen=True, tag=73):
    """Takes a bet back for what the market gives for it now, but not for less than asked."""

    EN = words("Bet cancelled", "{account} cancelled bet {bet_id}")
    RU = words("Отмена ставки", "{account} отменяет ставку {bet_id}")

    account: ActiveSigner
    bet_id: BetId
    min_return: Annotated[ShareAmount, Meaning.OPTIONAL]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        market_rules.require_object_id(self.bet_id, "bet_id")
        require(self.min_return >= 0, "min_return >= 0: min_return cannot be negative")


class PmTransferPosition(Operation, frozen=True, tag=81):
    """Transfers a bet, or a part of it, to another account; no amount means all of it."""

    EN = words("Bet transferred", "{from} transferred bet {bet_id} to {to}")
    RU = words("Передача ставки", "{from} передаёт ставку {bet_id} аккаунту {to}")

    sender: Annotated[ActiveSigner, Role.SENDER] = field(name="from")
    bet_id: BetId
    recipient: Recipient = field(name="to")
    amount: ShareAmount
    memo: Memo
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.sender, self.recipient)
        require(self.sender != self.recipient, "from != to: cannot transfer a position to yourself")
        market_rules.require_object_id(self.bet_id, "bet_id")
        require(self.amount >= 0, "amount >= 0: amount cannot be negative (0 = full position)")
        market_rules.require_text(self.memo, "memo", MAX_PM_DISPUTE_REASON_LENGTH)


class PmCommitBet(Operation, frozen=True, tag=71):
    """Puts tokens aside for a bet of which only the hash is public."""

    EN = words("Hidden bet", "{account} placed a hidden bet of up to {escrow_amount} on market {market_id}")
    RU = words("Скрытая ставка", "{account} делает скрытую ставку до {escrow_amount} на рынке {market_id}")

    account: Annotated[ActiveSigner, Role.PAYER]
    market_id: MarketId
    commitment: Commitment
    escrow_amount: Asset
    no_reveal_fee_percent: Percent
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        market_rules.require_object_id(self.market_id, "market_id")
        require(self.commitment != NO_COMMITMENT, "commitment != fc::sha256(): commitment cannot be empty")
        market_rules.require_positive_token(self.escrow_amount, "escrow_amount", "escrow_amount")
        market_rules.require_share(self.no_reveal_fee_percent, "no_reveal_fee_percent", "no_reveal_fee_percent")


class PmRevealBet(Operation, frozen=True, tag=72):
    """Reveals a hidden bet: the chain compares its hash, and the bet joins the batch."""

    EN = words("Bet revealed", "{account} revealed hidden bet {commit_id}: {amount} on outcome {choice}")
    RU = words("Раскрытие ставки", "{account} раскрывает скрытую ставку {commit_id}: {amount} на исход {choice}")

    account: ActiveSigner
    commit_id: CommitId
    side: Annotated[Int8, missing(-1)]
    outcome_index: Annotated[Int16, missing(-1)]
    amount: Asset
    salt: str
    min_tokens: Annotated[ShareAmount, Meaning.OPTIONAL]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        market_rules.require_object_id(self.commit_id, "commit_id")
        market_rules.require_positive_token(self.amount, "amount", "reveal amount")
        require(self.min_tokens >= 0, "min_tokens >= 0: min_tokens cannot be negative")
        market_rules.require_one_outcome(self.side, self.outcome_index)
        market_rules.require_text(self.salt, "salt", MAX_PM_PROFILE_URL_LENGTH)

    @property
    def choice(self) -> Int16:
        return self.side if self.side >= 0 else self.outcome_index
