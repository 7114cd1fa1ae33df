"""Operations of invites: tokens that can be claimed with a secret key (spec 01, section 7.7)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.accounts.accounts import require_domain
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import ActiveSigner, Meaning, Recipient, Role, words
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, Asset
from ledgerd.protocol.types.authority import require_valid_name


class CreateInvite(Operation, frozen=True, tag=43):
    """Creates an invite: tokens that the secret of a key can claim."""

    EN = words("New invite", "{creator} created an invite of {balance}")
    RU = words("Создание инвайта", "{creator} создаёт инвайт на {balance}")

    creator: Annotated[ActiveSigner, Role.PAYER]
    balance: Asset
    invite_key: PublicKey

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.creator)
        require(
            self.balance.symbol == TOKEN_SYMBOL,
            "is_asset_type(balance, TOKEN_SYMBOL): Invite creation balance must be TOKEN_SYMBOL",
        )
        require(
            self.balance.amount > 0,
            "balance > asset(0, TOKEN_SYMBOL): Invite creation balance must be nonzero amount",
        )


class ClaimInviteBalance(Operation, frozen=True, tag=44):
    """Pays the tokens of an invite out."""

    EN = words("Invite paid out", "{initiator} paid out an invite to {receiver}")
    RU = words("Погашение инвайта", "{initiator} погашает инвайт в пользу {receiver}")

    initiator: Annotated[ActiveSigner, Role.SENDER, Role.ABSENT]
    receiver: Recipient
    invite_secret: Annotated[str, Meaning.SECRET]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.initiator, self.receiver)


class InviteRegistration(Operation, frozen=True, tag=45):
    """Creates an account, whose shares are the tokens of an invite."""

    EN = words("Account by invite", "{initiator} created the account {new_account_name} by an invite")
    RU = words("Аккаунт по инвайту", "{initiator} создаёт аккаунт {new_account_name} по инвайту")

    initiator: Annotated[ActiveSigner, Role.SENDER, Role.ABSENT]
    new_account_name: Annotated[Recipient, Meaning.NEW_NAME]
    invite_secret: Annotated[str, Meaning.SECRET]
    new_account_key: PublicKey

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Names, and who may create one with a dot. Two bytes suffice here."""
        require_valid_name(self.initiator, self.new_account_name)
        require_domain(self.new_account_name, self.initiator)


class UseInviteBalance(Operation, frozen=True, tag=58):
    """Turns the tokens of an invite into shares."""

    EN = words("Invite into shares", "{initiator} turned an invite into shares of {receiver}")
    RU = words("Инвайт в долю", "{initiator} превращает инвайт в долю {receiver}")

    initiator: Annotated[ActiveSigner, Role.SENDER, Role.ABSENT]
    receiver: Recipient
    invite_secret: Annotated[str, Meaning.SECRET]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.initiator, self.receiver)
