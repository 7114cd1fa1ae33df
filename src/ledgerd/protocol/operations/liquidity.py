"""Operations of liquidity: tokens that back the prices of a market (spec 07, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ledgerd.protocol.assets import Asset
from ledgerd.protocol.authority import require_valid_name
from ledgerd.protocol.errors import require
from ledgerd.protocol.extensions import Extensions
from ledgerd.protocol.market_rules import require_object_id, require_positive_token, require_token
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import ActiveSigner, LiquidityId, MarketId, Role

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters


class PmAddLiquidity(Operation, frozen=True, tag=74):
    """Puts tokens into a market, for a part of its fees."""

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

    provider: ActiveSigner
    liquidity_id: LiquidityId
    amount: Asset
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.provider)
        require_object_id(self.liquidity_id, "liquidity_id")
        require_token(self.amount, "amount")
        require(self.amount.amount >= 0, "amount.amount >= 0: amount cannot be negative (0 = full position)")
