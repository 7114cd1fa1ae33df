"""Operations of the lazy pool: tokens that the chain distributes over markets as liquidity (spec 07, section 4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec.numbers import ShareAmount
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.authority import require_valid_name
from ledgerd.protocol.errors import require
from ledgerd.protocol.extensions import Extensions
from ledgerd.protocol.market_rules import require_positive_token
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import ActiveSigner, Role
from ledgerd.protocol.operations.words import says
from ledgerd.protocol.parameters import ChainParameters


class PmLazyDeposit(Operation, frozen=True, tag=82):
    """Puts tokens into the pool, for shares of it."""

    EN = says("Pool deposit", "{account} put {amount} into the lazy pool")
    RU = says("Взнос в пул", "{account} вносит {amount} в ленивый пул")

    account: Annotated[ActiveSigner, Role.PAYER]
    amount: Asset
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require_positive_token(self.amount, "amount", "deposit amount")


class PmLazyWithdraw(Operation, frozen=True, tag=83):
    """Takes tokens out of the pool for shares of it; no shares means all. In an emergency at once, for a penalty."""

    EN = says(
        "Pool withdrawal",
        "{account} takes tokens out of the lazy pool for {shares} of its shares",
        no_shares="{account} takes all its tokens out of the lazy pool",
    )
    RU = says(
        "Вывод из пула",
        "{account} забирает токены из ленивого пула за {shares} его долей",
        no_shares="{account} забирает все свои токены из ленивого пула",
    )

    account: ActiveSigner
    shares: ShareAmount
    emergency: bool
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require(self.shares >= 0, "shares >= 0: shares cannot be negative (0 = all)")
