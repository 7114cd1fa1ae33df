"""Operations of disputes about an oracle's decision, and of bans (spec 07, section 4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec import missing
from ledgerd.codec.types.numbers import Int16
from ledgerd.protocol.constants import MAX_PM_DISPUTE_REASON_LENGTH
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Extensions, Operation
from ledgerd.protocol.operations.markets.rules import require_object_id, require_text, require_token
from ledgerd.protocol.operations.roles import (
    ActiveSigner,
    MarketId,
    Meaning,
    RegularSigner,
    Remark,
    Touched,
    VoteOn,
    words,
)
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.times import Time


class PmDisputeCreate(Operation, frozen=True, tag=78):
    """Disputes an oracle's decision and names the right outcome; `-1` means that the market cannot be decided."""

    EN = words(
        "Dispute",
        "{disputer} disputed market {market_id}: it should be outcome {proposed_outcome}",
        no_proposed_outcome="{disputer} disputed market {market_id}: it cannot be decided",
    )
    RU = words(
        "Спор",
        "{disputer} оспаривает рынок {market_id}: верен исход {proposed_outcome}",
        no_proposed_outcome="{disputer} оспаривает рынок {market_id}: исход нельзя определить",
    )

    disputer: ActiveSigner
    market_id: MarketId
    proposed_outcome: Annotated[Int16, missing(-1)]
    reason: Remark
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.disputer)
        require_object_id(self.market_id, "market_id")
        require(self.proposed_outcome >= -1, "proposed_outcome >= -1: proposed_outcome must be >= -1")
        require_text(self.reason, "reason", MAX_PM_DISPUTE_REASON_LENGTH)


class PmDisputeVote(Operation, frozen=True, tag=79):
    """Votes on a dispute: how much for an outcome, below zero against it."""

    EN = words(
        "Dispute vote", "{voter} voted {vote_percent} for outcome {vote_outcome} in the dispute of market {market_id}"
    )
    RU = words("Голос в споре", "{voter} голосует {vote_percent} за исход {vote_outcome} в споре по рынку {market_id}")

    voter: RegularSigner
    market_id: Annotated[MarketId, VoteOn("dispute")]
    vote_outcome: Annotated[Int16, missing(-1)]
    vote_percent: Annotated[Int16, Meaning.HUNDREDTHS, Meaning.WEIGHT]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.voter)
        require_object_id(self.market_id, "market_id")
        require(self.vote_outcome >= -1, "vote_outcome >= -1: vote_outcome must be >= -1")
        require(
            -HUNDRED_PERCENT <= self.vote_percent <= HUNDRED_PERCENT,
            "vote_percent >= -10000 && vote_percent <= 10000: vote_percent must be in [-10000, 10000]",
        )


class PmDisputeResolve(Operation, frozen=True, tag=80):
    """The account that a market names for it decides a dispute, with a penalty and with bans."""

    EN = words(
        "Dispute decision",
        "{resolver} decided the dispute of market {market_id}: outcome {correct_outcome}",
        no_correct_outcome="{resolver} decided the dispute of market {market_id}: no contest",
    )
    RU = words(
        "Решение спора",
        "{resolver} решает спор по рынку {market_id}: исход {correct_outcome}",
        no_correct_outcome="{resolver} решает спор по рынку {market_id}: рынок не состоялся",
    )

    resolver: ActiveSigner
    market_id: MarketId
    correct_outcome: Annotated[Int16, missing(-1)]
    penalty_amount: Asset
    ban_oracle: bool
    ban_oracle_until: Annotated[Time, Meaning.OPTIONAL]
    ban_creator: bool
    ban_creator_until: Annotated[Time, Meaning.OPTIONAL]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """The times of bans are not checked."""
        require_valid_name(self.resolver)
        require_object_id(self.market_id, "market_id")
        require(self.correct_outcome >= -1, "correct_outcome >= -1: correct_outcome must be >= -1")
        require_token(self.penalty_amount, "penalty_amount")
        require(self.penalty_amount.amount >= 0, "penalty_amount.amount >= 0: penalty_amount cannot be negative")


class PmDisputeOracleRespond(Operation, frozen=True, tag=98):
    """The oracle answers a dispute."""

    EN = words("Oracle's answer", "The oracle {oracle} answered the dispute of market {market_id}")
    RU = words("Ответ оракула", "Оракул {oracle} отвечает в споре по рынку {market_id}")

    oracle: ActiveSigner
    market_id: MarketId
    response: Remark
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.oracle)
        require_object_id(self.market_id, "market_id")
        require(self.response, "response.size() > 0: response cannot be empty")
        require_text(self.response, "response", MAX_PM_DISPUTE_REASON_LENGTH)


class PmUnban(Operation, frozen=True, tag=99):
    """Lifts a ban that this account has placed on an oracle, on a creator, or on both."""

    EN = words("Ban lifted", "{resolver} lifted a market ban of {target}")
    RU = words("Снятие запрета", "{resolver} снимает запрет на рынки с {target}")

    resolver: ActiveSigner
    target: Touched
    unban_oracle: bool
    unban_creator: bool
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.resolver, self.target)
        require(
            self.unban_oracle or self.unban_creator,
            "unban_oracle || unban_creator: nothing to unban: set unban_oracle and/or unban_creator",
        )
