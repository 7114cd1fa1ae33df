"""Operations of the committee: requests to its fund and votes on them (spec 01, section 7.7)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec.types.numbers import Int16, UInt32
from ledgerd.protocol import constants
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Fee, Operation
from ledgerd.protocol.operations.roles import Meaning, RegularSigner, RequestId, Url, VoteOn, words
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.texts import byte_length


class CommitteeWorkerCreateRequest(Operation, frozen=True, tag=35):
    """Asks the committee fund to pay a worker between two amounts, as far as voters agree."""

    EN = words(
        "Committee request",
        "{creator} asked the committee for {required_amount_min} to {required_amount_max} for {worker}",
    )
    RU = words(
        "Заявка в комитет", "{creator} просит у комитета от {required_amount_min} до {required_amount_max} для {worker}"
    )
    COMMAND = "request-funds"
    FEE = Fee("committee_create_request_fee")

    creator: RegularSigner
    url: Url
    worker: AccountName
    required_amount_min: Asset
    required_amount_max: Asset
    duration: UInt32

    def check(self, network: ChainParameters) -> None:
        """Page, amounts, duration. Neither names nor the encoding of the page are checked."""
        least, most = self.required_amount_min, self.required_amount_max
        require(self.url, "url.size() > 0: URL size must be greater than 0")
        require(
            byte_length(self.url) < constants.MAX_URL_LENGTH,
            "url.size() < CHAIN_MAX_URL_LENGTH: URL size must be lesser than 256",
        )
        require(least.amount >= 0, "required_amount_min.amount >= 0: ")
        require(least.symbol == TOKEN_SYMBOL, "required_amount_min.symbol == TOKEN_SYMBOL: ")
        require(most.amount > least.amount, "required_amount_max.amount > required_amount_min.amount: ")
        require(most.symbol == TOKEN_SYMBOL, "required_amount_max.symbol == TOKEN_SYMBOL: ")
        require(self.duration >= network.committee_min_duration, "duration >= COMMITTEE_MIN_DURATION: ")
        require(self.duration <= constants.COMMITTEE_MAX_DURATION, "duration <= COMMITTEE_MAX_DURATION: ")
        require(
            most.amount <= constants.COMMITTEE_MAX_REQUIRED_AMOUNT,
            "required_amount_max.amount <= COMMITTEE_MAX_REQUIRED_AMOUNT: ",
        )


class CommitteeWorkerCancelRequest(Operation, frozen=True, tag=36):
    """Takes a request back."""

    EN = words("Request cancelled", "{creator} cancelled committee request {request_id}")
    RU = words("Отмена заявки", "{creator} отменяет заявку комитета {request_id}")
    COMMAND = "cancel-request"

    creator: RegularSigner
    request_id: RequestId

    def check(self, network: ChainParameters) -> None:
        """Nothing is checked."""


class CommitteeVoteRequest(Operation, frozen=True, tag=37):
    """Votes on a request: how much of the largest amount it should get, below zero against it."""

    EN = words("Committee vote", "{voter} voted {vote_percent} on committee request {request_id}")
    RU = words("Голос в комитете", "{voter} голосует {vote_percent} по заявке комитета {request_id}")
    COMMAND = "vote-for-request"

    voter: RegularSigner
    request_id: Annotated[RequestId, VoteOn("committee")]
    vote_percent: Annotated[Int16, Meaning.HUNDREDTHS, Meaning.WEIGHT]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require(self.vote_percent >= -HUNDRED_PERCENT, "vote_percent >= -CHAIN_100_PERCENT: ")
        require(self.vote_percent <= HUNDRED_PERCENT, "vote_percent <= CHAIN_100_PERCENT: ")
