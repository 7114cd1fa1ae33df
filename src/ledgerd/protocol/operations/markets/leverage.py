"""Operations of leverage: bets with tokens that the lazy pool lends (spec 07, section 4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec.types.numbers import Int16, ShareAmount, UInt16
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Extensions, Operation
from ledgerd.protocol.operations.roles import ActiveSigner, MarketId, Meaning, PositionId, Role, words
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import require_valid_name

WHOLE_PERCENT = 100
"""Leverage counts in whole percents."""


class PmLeverageOpen(Operation, frozen=True, tag=91):
    """Bets with own tokens and borrowed ones."""

    EN = words(
        "Leveraged bet",
        "{account} bet {collateral} and borrowed {loan} on outcome {outcome_index} of market {market_id}",
    )
    RU = words(
        "Ставка с плечом", "{account} ставит {collateral} и занимает {loan} на исход {outcome_index} рынка {market_id}"
    )

    account: Annotated[ActiveSigner, Role.PAYER]
    market_id: MarketId
    outcome_index: Int16
    collateral: Asset
    loan: Asset
    min_tokens: Annotated[ShareAmount, Meaning.OPTIONAL]
    max_slippage_percent: Annotated[UInt16, Meaning.WHOLE_PERCENT]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """The market is not checked."""
        require_valid_name(self.account)
        require(
            self.outcome_index in {0, 1},
            "outcome_index == 0 || outcome_index == 1: leverage is CPMM-binary only (outcome 0/1)",
        )
        require(self.collateral.is_token, "collateral.symbol == TOKEN_SYMBOL: collateral must be VIZ")
        require(self.loan.is_token, "loan.symbol == TOKEN_SYMBOL: loan must be VIZ")
        require(self.collateral.amount > 0, "collateral.amount > 0: collateral must be positive")
        require(self.loan.amount > 0, "loan.amount > 0: loan must be positive")
        require(self.min_tokens >= 0, "min_tokens >= 0: min_tokens cannot be negative")
        require(
            self.max_slippage_percent <= WHOLE_PERCENT,
            "max_slippage_percent <= 100: max_slippage_percent out of range",
        )


class PmLeverageClose(Operation, frozen=True, tag=92):
    """Sells the position, pays the loan back, and keeps the rest, but not less than asked."""

    EN = words("Leverage closed", "{account} closed leveraged position {position_id}")
    RU = words("Закрытие плеча", "{account} закрывает позицию с плечом {position_id}")

    account: ActiveSigner
    position_id: PositionId
    min_return: Annotated[ShareAmount, Meaning.OPTIONAL]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """The position is not checked."""
        require_valid_name(self.account)
        require(self.min_return >= 0, "min_return >= 0: min_return cannot be negative")


class PmLeverageConvert(Operation, frozen=True, tag=93):
    """Turns the position into a bet without a loan, which the profit pays back."""

    EN = words("Leverage converted", "{account} turned leveraged position {position_id} into a plain bet")
    RU = words("Плечо стало ставкой", "{account} превращает позицию с плечом {position_id} в обычную ставку")

    account: ActiveSigner
    position_id: PositionId
    conversion_profit_cost: Annotated[UInt16, Meaning.WHOLE_PERCENT]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """The position is not checked."""
        require_valid_name(self.account)
        require(
            self.conversion_profit_cost <= WHOLE_PERCENT,
            "conversion_profit_cost <= 100: conversion_profit_cost out of range",
        )
