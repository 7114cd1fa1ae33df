"""Operations of the committee: requests to its fund and votes on them (spec 01, section 7.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.numbers import Int16, UInt32
from ledgerd.protocol.assets import TOKEN_SYMBOL, Asset
from ledgerd.protocol.constants import (
    COMMITTEE_MAX_DURATION,
    COMMITTEE_MAX_REQUIRED_AMOUNT,
    MAX_URL_LENGTH,
)
from ledgerd.protocol.errors import require
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import Authorities, Operation, regular
from ledgerd.protocol.texts import byte_length

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters


class CommitteeWorkerCreateRequest(Operation, frozen=True, tag=35):
    """Asks the committee fund to pay a worker between two amounts, as far as voters agree."""

    creator: AccountName
    url: str
    worker: AccountName
    required_amount_min: Asset
    required_amount_max: Asset
    duration: UInt32

    def check(self, network: ChainParameters) -> None:
        """Page, amounts, duration. Neither names nor the encoding of the page are checked."""
        least, most = self.required_amount_min, self.required_amount_max
        require(self.url, "url.size() > 0: URL size must be greater than 0")
        require(
            byte_length(self.url) < MAX_URL_LENGTH,
            "url.size() < CHAIN_MAX_URL_LENGTH: URL size must be lesser than 256",
        )
        require(least.amount >= 0, "required_amount_min.amount >= 0: ")
        require(least.symbol == TOKEN_SYMBOL, "required_amount_min.symbol == TOKEN_SYMBOL: ")
        require(most.amount > least.amount, "required_amount_max.amount > required_amount_min.amount: ")
        require(most.symbol == TOKEN_SYMBOL, "required_amount_max.symbol == TOKEN_SYMBOL: ")
        require(self.duration >= network.committee_min_duration, "duration >= COMMITTEE_MIN_DURATION: ")
        require(self.duration <= COMMITTEE_MAX_DURATION, "duration <= COMMITTEE_MAX_DURATION: ")
        require(
            most.amount <= COMMITTEE_MAX_REQUIRED_AMOUNT,
            "required_amount_max.amount <= COMMITTEE_MAX_REQUIRED_AMOUNT: ",
        )

    def authorities(self) -> Authorities:
        return regular(self.creator)


class CommitteeWorkerCancelRequest(Operation, frozen=True, tag=36):
    """Takes a request back."""

    creator: AccountName
    request_id: UInt32

    def check(self, network: ChainParameters) -> None:
        """Nothing is checked."""

    def authorities(self) -> Authorities:
        return regular(self.creator)


class CommitteeVoteRequest(Operation, frozen=True, tag=37):
    """Votes on a request: how much of the largest amount it should get, below zero against it."""

    voter: AccountName
    request_id: UInt32
    vote_percent: Int16

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require(self.vote_percent >= -HUNDRED_PERCENT, "vote_percent >= -CHAIN_100_PERCENT: ")
        require(self.vote_percent <= HUNDRED_PERCENT, "vote_percent <= CHAIN_100_PERCENT: ")

    def authorities(self) -> Authorities:
        return regular(self.voter)


OPERATIONS: tuple[type[Operation], ...] = (
    CommitteeWorkerCreateRequest,
    CommitteeWorkerCancelRequest,
    CommitteeVoteRequest,
)
