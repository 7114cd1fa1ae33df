"""Operations of hidden bets: the hash of a bet, and later its contents (spec 07, section 4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import missing
from ledgerd.codec.numbers import Int8, Int16, ShareAmount
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.authority import require_valid_name
from ledgerd.protocol.constants import MAX_PM_PROFILE_URL_LENGTH
from ledgerd.protocol.errors import require
from ledgerd.protocol.extensions import Extensions
from ledgerd.protocol.identifiers import NO_COMMITMENT, Commitment
from ledgerd.protocol.market_rules import (
    require_object_id,
    require_one_outcome,
    require_positive_token,
    require_share,
    require_text,
)
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import ActiveSigner, CommitId, MarketId, Meaning, Percent, Role
from ledgerd.protocol.operations.words import says
from ledgerd.protocol.parameters import ChainParameters


class PmCommitBet(Operation, frozen=True, tag=71):
    """Puts tokens aside for a bet of which only the hash is public."""

    EN = says("Hidden bet", "{account} placed a hidden bet of up to {escrow_amount} on market {market_id}")
    RU = says("Скрытая ставка", "{account} делает скрытую ставку до {escrow_amount} на рынке {market_id}")

    account: Annotated[ActiveSigner, Role.PAYER]
    market_id: MarketId
    commitment: Commitment
    escrow_amount: Asset
    no_reveal_fee_percent: Percent
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require_object_id(self.market_id, "market_id")
        require(self.commitment != NO_COMMITMENT, "commitment != fc::sha256(): commitment cannot be empty")
        require_positive_token(self.escrow_amount, "escrow_amount", "escrow_amount")
        require_share(self.no_reveal_fee_percent, "no_reveal_fee_percent", "no_reveal_fee_percent")


class PmRevealBet(Operation, frozen=True, tag=72):
    """Reveals a hidden bet: the chain compares its hash, and the bet joins the batch."""

    EN = says("Bet revealed", "{account} revealed hidden bet {commit_id}: {amount} on outcome {choice}")
    RU = says("Раскрытие ставки", "{account} раскрывает скрытую ставку {commit_id}: {amount} на исход {choice}")

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
        require_object_id(self.commit_id, "commit_id")
        require_positive_token(self.amount, "amount", "reveal amount")
        require(self.min_tokens >= 0, "min_tokens >= 0: min_tokens cannot be negative")
        require_one_outcome(self.side, self.outcome_index)
        require_text(self.salt, "salt", MAX_PM_PROFILE_URL_LENGTH)

    @property
    def choice(self) -> Int16:
        return self.side if self.side >= 0 else self.outcome_index
