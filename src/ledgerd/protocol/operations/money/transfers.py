"""Operations that move tokens and vested shares (spec 01, section 7.2)."""

from __future__ import annotations

from typing import Annotated

from msgspec import field

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Authorities, Operation, active, master
from ledgerd.protocol.operations.roles import ActiveSigner, Memo, PaidRecipient, Percent, Recipient, Role, Sender, words
from ledgerd.protocol.types.assets import SHARES_SYMBOL, Asset
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.texts import require_memo


class Transfer(Operation, frozen=True, tag=2):
    """Moves tokens from one account to another."""

    EN = words("Transfer", "{from} sent {amount} to {to}")
    RU = words("Перевод", "{from} переводит {amount} аккаунту {to}")

    sender: Annotated[Sender, Role.PAYER] = field(name="from")
    recipient: Annotated[PaidRecipient, Role.TAKER] = field(name="to")
    amount: Asset
    memo: Memo

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.sender, self.recipient)
        require(
            self.amount.symbol != SHARES_SYMBOL,
            "amount.symbol != SHARES_SYMBOL: transferring of SHARES is not allowed.",
        )
        require(self.amount.amount > 0, "amount.amount > 0: Cannot transfer a negative amount (aka: stealing)")
        require_memo(self.memo)

    def authorities(self) -> Authorities:
        """Active; the symbol SHARES would ask for master, but is refused before."""
        return master(self.sender) if self.amount.is_shares else active(self.sender)


class TransferToVesting(Operation, frozen=True, tag=3):
    """Turns tokens into shares, one's own or another's."""

    EN = words("Staking", "{from} turned {amount} into shares of {to}", is_own="{from} turned {amount} into shares")
    RU = words("В долю", "{from} превращает {amount} в долю {to}", is_own="{from} превращает {amount} в свою долю")
    COMMAND = "vest"

    sender: Annotated[ActiveSigner, Role.SENDER, Role.PAYER] = field(name="from")
    recipient: Annotated[Recipient, Role.TOUCHED_IF_NAMED, Role.TAKER] = field(name="to")
    amount: Asset

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.sender)
        require(self.amount.is_token, "is_asset_type(amount, TOKEN_SYMBOL): Amount must be TOKEN_SYMBOL")
        if self.recipient:
            require_valid_name(self.recipient)
        require(self.amount.amount > 0, "amount > asset(0, TOKEN_SYMBOL): Must transfer a nonzero amount")

    @property
    def is_own(self) -> bool:
        return self.recipient in {"", self.sender}


class WithdrawVesting(Operation, frozen=True, tag=4):
    """Starts to turn shares back into tokens, or stops it with zero."""

    EN = words(
        "Withdrawal",
        "{account} started to withdraw {vesting_shares}",
        no_vesting_shares="{account} stopped withdrawing shares",
    )
    RU = words(
        "Вывод доли", "{account} начинает вывод {vesting_shares}", no_vesting_shares="{account} прекращает вывод доли"
    )
    COMMAND = "withdraw"

    account: ActiveSigner
    vesting_shares: Asset

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require(
            self.vesting_shares.is_shares,
            "is_asset_type(vesting_shares, SHARES_SYMBOL): Amount must be SHARES",
        )
        require(
            self.vesting_shares.amount >= 0,
            "vesting_shares.amount >= 0: Cannot withdraw negative SHARES",
        )


class SetWithdrawVestingRoute(Operation, frozen=True, tag=11):
    """Sends a part of what is withdrawn to another account, as tokens or as shares again."""

    EN = words("Withdrawal route", "{from_account} sends {percent} of its withdrawals to {to_account}")
    RU = words("Маршрут вывода", "{from_account} направляет {percent} вывода аккаунту {to_account}")
    COMMAND = "route-withdrawal"

    from_account: Annotated[ActiveSigner, Role.SENDER]
    to_account: Annotated[Recipient, Role.ABSENT]
    percent: Percent
    auto_vest: bool

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.from_account, self.to_account)
        require(
            self.percent <= HUNDRED_PERCENT,
            "0 <= percent && percent <= CHAIN_100_PERCENT: Percent must be valid percent",
        )


class DelegateVestingShares(Operation, frozen=True, tag=19):
    """Lends shares to another account, or takes them back."""

    EN = words(
        "Delegation",
        "{delegator} delegated {vesting_shares} to {delegatee}",
        no_vesting_shares="{delegator} took back what it had delegated to {delegatee}",
    )
    RU = words(
        "Делегирование",
        "{delegator} делегирует {vesting_shares} аккаунту {delegatee}",
        no_vesting_shares="{delegator} отзывает делегирование у {delegatee}",
    )
    COMMAND = "delegate"

    delegator: Annotated[ActiveSigner, Role.SENDER]
    delegatee: Recipient
    vesting_shares: Asset

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.delegator, self.delegatee)
        require(
            self.delegator != self.delegatee,
            "delegator != delegatee: You cannot delegate SHARES to yourself",
        )
        require(
            self.vesting_shares.is_shares,
            "is_asset_type(vesting_shares, SHARES_SYMBOL): Delegation must be SHARES",
        )
        require(
            self.vesting_shares.amount >= 0,
            "vesting_shares.amount >= 0: Delegation cannot be negative",
        )
