"""Operations of the lazy pool: tokens that the chain distributes over markets as liquidity (spec 07, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ledgerd.codec.numbers import ShareAmount
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.authority import require_valid_name
from ledgerd.protocol.errors import require
from ledgerd.protocol.extensions import Extensions
from ledgerd.protocol.market_rules import require_positive_token
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import ActiveSigner, Role

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters


class PmLazyDeposit(Operation, frozen=True, tag=82):
    """Puts tokens into the pool, for shares of it."""

    account: Annotated[ActiveSigner, Role.PAYER]
    amount: Asset
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require_positive_token(self.amount, "amount", "deposit amount")


class PmLazyWithdraw(Operation, frozen=True, tag=83):
    """Takes tokens out of the pool for shares of it; no shares means all. In an emergency at once, for a penalty."""

    account: ActiveSigner
    shares: ShareAmount
    emergency: bool
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require(self.shares >= 0, "shares >= 0: shares cannot be negative (0 = all)")
