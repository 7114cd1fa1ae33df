"""Operations of liquidity: tokens that back the prices of a market, and those of the lazy pool (spec 07, section 4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec.types.numbers import ShareAmount
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Extensions, Operation
from ledgerd.protocol.operations.markets.rules import require_object_id, require_positive_token, require_token
from ledgerd.protocol.operations.roles import ActiveSigner, LiquidityId, MarketId, Role, words
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import require_valid_name


class PmAddLiquidity(Operation, frozen=True, tag=74):
    """Puts tokens into a market, for a part of its fees."""

    EN = words("Liquidity added", "{provider} added {amount} of liquidity to market {market_id}")
    RU = words("Взнос ликвидности", "{provider} вносит {amount} ликвидности в рынок {market_id}")

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

    EN = words(
        "Liquidity withdrawn",
        "{provider} takes {amount} of its liquidity {liquidity_id}",
        no_amount="{provider} takes back all of liquidity {liquidity_id}",
    )
    RU = words(
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


class PmLazyDeposit(Operation, frozen=True, tag=82):
    """Puts tokens into the pool, for shares of it."""

    EN = words("Pool deposit", "{account} put {amount} into the lazy pool")
    RU = words("Взнос в пул", "{account} вносит {amount} в ленивый пул")

    account: Annotated[ActiveSigner, Role.PAYER]
    amount: Asset
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require_positive_token(self.amount, "amount", "deposit amount")


class PmLazyWithdraw(Operation, frozen=True, tag=83):
    """Takes tokens out of the pool for shares of it; no shares means all. In an emergency at once, for a penalty."""

    EN = words(
        "Pool withdrawal",
        "{account} takes tokens out of the lazy pool for {shares} of its shares",
        no_shares="{account} takes all its tokens out of the lazy pool",
    )
    RU = words(
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
