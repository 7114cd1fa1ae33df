"""Operations of liquidity: tokens that back the prices of a market (spec 07, section 4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.protocol.assets import Asset
from ledgerd.protocol.authority import require_valid_name
from ledgerd.protocol.errors import require
from ledgerd.protocol.extensions import Extensions
from ledgerd.protocol.market_rules import require_object_id, require_positive_token, require_token
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import ActiveSigner, LiquidityId, MarketId, Role
from ledgerd.protocol.operations.words import says
from ledgerd.protocol.parameters import ChainParameters


class PmAddLiquidity(Operation, frozen=True, tag=74):
    """Puts tokens into a market, for a part of its fees."""

    EN = says("Liquidity added", "{provider} added {amount} of liquidity to market {market_id}")
    RU = says("Взнос ликвидности", "{provider} вносит {amount} ликвидности в рынок {market_id}")

    provider: Annotated[ActiveSigner, Role.PAYER]
    market_id: MarketId
    amount: Asset
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.provider)
        require_object_id(self.market_id, "market_id")
        require_positive_token(self.amount, "amount", "liquidity amount")


class PmWithdrawLiquidity(Operation, frozen=True, tag=75):
    """Takes tokens out of a market; no amount means all that this provider put in."""

    EN = says(
        "Liquidity withdrawn",
        "{provider} takes {amount} of its liquidity {liquidity_id}",
        no_amount="{provider} takes back all of liquidity {liquidity_id}",
    )
    RU = says(
        "Вывод ликвидности",
        "{provider} забирает {amount} ликвидности {liquidity_id}",
        no_amount="{provider} забирает всю ликвидность {liquidity_id}",
    )

    provider: ActiveSigner
    liquidity_id: LiquidityId
    amount: Asset
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.provider)
        require_object_id(self.liquidity_id, "liquidity_id")
        require_token(self.amount, "amount")
        require(self.amount.amount >= 0, "amount.amount >= 0: amount cannot be negative (0 = full position)")
