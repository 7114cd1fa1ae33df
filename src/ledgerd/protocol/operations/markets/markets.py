"""Operations that create prediction markets, and with which oracles resolve them (spec 07, section 4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.codec import missing
from ledgerd.codec.types.numbers import Int16, ShareAmount, UInt8, UInt32
from ledgerd.protocol import constants
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Extensions, Operation
from ledgerd.protocol.operations.markets.rules import (
    require_fixed_fee,
    require_object_id,
    require_positive_token,
    require_text,
)
from ledgerd.protocol.operations.roles import (
    ActiveSigner,
    MarketId,
    Meaning,
    Percent,
    Remark,
    Role,
    Touched,
    Url,
    words,
)
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time

BINARY = 0
MULTI = 1
"""The types of markets: two outcomes and a constant product, or more of them and a cost function."""

BY_COMMITTEE = 0
BY_ACCOUNT = 1
"""A dispute is settled by all who hold shares, or by one account that the market names."""


class PmCreateMarket(Operation, frozen=True, tag=68):
    """Creates a market: its outcomes, oracle, first liquidity, and rules, which cannot be changed later."""

    EN = words("New market", "{creator} opened a market with the outcomes {outcomes}, oracle {oracle}")
    RU = words("Новый рынок", "{creator} открывает рынок с исходами {outcomes}, оракул — {oracle}")

    creator: ActiveSigner
    oracle: Touched
    market_type: UInt8
    outcomes: tuple[str, ...]
    url: Url
    oracle_fee_percent: Percent
    oracle_fixed_fee: Asset
    creator_fee_percent: Annotated[Percent, Meaning.OPTIONAL]
    liquidity_fee_percent: Percent
    liquidity: Asset
    lmsr_b: Annotated[ShareAmount, Meaning.OPTIONAL]
    betting_expiration: Time
    result_expiration: Time
    time_penalty_type: Annotated[UInt8, Meaning.OPTIONAL]
    time_penalty_value: Annotated[UInt32, Meaning.OPTIONAL]
    penalty_curve_type: Annotated[UInt8, Meaning.OPTIONAL]
    allow_early_resolution: bool
    allow_cancellation: bool
    allow_batch: bool
    allow_instant_bet: Annotated[bool, missing(True)]
    endogeneity_tier: Annotated[UInt8, missing(2)]
    dispute_mode: Annotated[UInt8, Meaning.OPTIONAL]
    dispute_resolver: Annotated[AccountName, Role.TOUCHED_IF_NAMED, Meaning.OPTIONAL]
    dispute_penalty_percent: Annotated[Int16, Meaning.HUNDREDTHS, Meaning.OPTIONAL]
    metadata: Annotated[str, Meaning.OPTIONAL]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Names, outcomes, amounts, times, fees, who settles disputes (spec 07, section 4.1).

        Neither the metadata nor the time penalty is checked, and the creator may be the oracle.
        """
        require_valid_name(self.creator, self.oracle)
        self._check_outcomes()
        require_text(self.url, "url", constants.MAX_PM_MARKET_TITLE_LENGTH)
        require_positive_token(self.liquidity, "liquidity", "liquidity")
        require(
            self.result_expiration > self.betting_expiration,
            "result_expiration > betting_expiration: result_expiration must be after betting_expiration",
        )
        self._check_fees()
        require(
            1 <= self.endogeneity_tier <= 3,
            "endogeneity_tier >= 1 && endogeneity_tier <= 3: endogeneity_tier must be 1..3",
        )
        require(
            -HUNDRED_PERCENT <= self.dispute_penalty_percent <= HUNDRED_PERCENT,
            "dispute_penalty_percent >= -10000 && dispute_penalty_percent <= 10000: "
            "dispute_penalty_percent must be in [-10000, 10000]",
        )
        require(
            self.dispute_mode in {BY_COMMITTEE, BY_ACCOUNT},
            "dispute_mode == 0 || dispute_mode == 1: dispute_mode must be 0 (committee) or 1 (account)",
        )
        require(
            self.allow_instant_bet or self.allow_batch,
            "allow_instant_bet || allow_batch: market would be unbettable: need allow_instant_bet or allow_batch",
        )
        self._check_resolver()

    def _check_outcomes(self) -> None:
        require(
            self.market_type in {BINARY, MULTI},
            "market_type == 0 || market_type == 1: market_type must be 0 (binary) or 1 (multi)",
        )
        count = len(self.outcomes)
        if self.market_type == BINARY:
            require(count == 2, "outcomes.size() == 2: binary market must have exactly 2 outcomes")
            require(self.lmsr_b == 0, "lmsr_b == 0: lmsr_b must be 0 for binary markets")
        else:
            require(
                3 <= count <= constants.MAX_PM_OUTCOMES_PER_MARKET,
                "outcomes.size() >= 3 && outcomes.size() <= MAX_PM_OUTCOMES_PER_MARKET: "
                "multi market must have 3..${m} outcomes",
                m=constants.MAX_PM_OUTCOMES_PER_MARKET,
            )
            require(self.lmsr_b > 0, "lmsr_b > 0: lmsr_b must be positive for multi markets")
            require(
                self.allow_instant_bet,
                "allow_instant_bet: multi markets must keep allow_instant_bet=true (no LMSR batch yet)",
            )
        for label in self.outcomes:
            require(label, "label.size() > 0: outcome label cannot be empty")
            require_text(label, "outcome label", constants.MAX_PM_OUTCOME_LABEL_LENGTH)

    def _check_fees(self) -> None:
        fees = (self.oracle_fee_percent, self.creator_fee_percent, self.liquidity_fee_percent)
        require(
            max(fees) <= HUNDRED_PERCENT,
            "oracle_fee_percent <= 10000 && creator_fee_percent <= 10000 && liquidity_fee_percent <= 10000: "
            "individual fee_percent out of range (bp, max 10000)",
        )
        require(
            sum(fees) <= HUNDRED_PERCENT,
            "uint32_t(oracle_fee_percent) + creator_fee_percent + liquidity_fee_percent <= 10000: "
            "sum of fees exceeds 100% (10000 bp)",
        )
        require_fixed_fee(self.oracle_fixed_fee, "oracle_fixed_fee")

    def _check_resolver(self) -> None:
        resolver = self.dispute_resolver
        if self.dispute_mode == BY_ACCOUNT:
            require_valid_name(resolver)
            require(resolver != self.oracle, "dispute_resolver != oracle: dispute_resolver must not be the oracle")
            require(resolver != self.creator, "dispute_resolver != creator: dispute_resolver must not be the creator")
        else:
            require(
                not resolver,
                "dispute_resolver == account_name_type(): dispute_resolver must be empty for committee mode",
            )


class PmResolveMarket(Operation, frozen=True, tag=76):
    """The oracle says which outcome came true."""

    EN = words("Market resolved", "The oracle {oracle} resolved market {market_id}: outcome {winning_outcome}")
    RU = words("Итог рынка", "Оракул {oracle} объявляет итог рынка {market_id}: исход {winning_outcome}")

    oracle: ActiveSigner
    market_id: MarketId
    winning_outcome: Annotated[Int16, missing(-1)]
    decision_url: Annotated[Url, Meaning.OPTIONAL]
    decision_reason: Annotated[Remark, Meaning.OPTIONAL]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.oracle)
        require_object_id(self.market_id, "market_id")
        require(self.winning_outcome >= -1, "winning_outcome >= -1: winning_outcome must be >= -1")
        require_text(self.decision_url, "decision_url", constants.MAX_PM_DECISION_URL_LENGTH)
        require_text(self.decision_reason, "decision_reason", constants.MAX_PM_DISPUTE_REASON_LENGTH)


class PmNoContest(Operation, frozen=True, tag=77):
    """The oracle says that the market cannot be decided: all get their stakes back."""

    EN = words("No contest", "The oracle {oracle} declared no contest in market {market_id}")
    RU = words("Рынок не состоялся", "Оракул {oracle} объявляет рынок {market_id} несостоявшимся")

    oracle: ActiveSigner
    market_id: MarketId
    reason: Remark
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.oracle)
        require_object_id(self.market_id, "market_id")
        require_text(self.reason, "reason", constants.MAX_PM_DISPUTE_REASON_LENGTH)
