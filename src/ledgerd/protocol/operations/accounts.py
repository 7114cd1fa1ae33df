"""Operations that create accounts and change their keys and metadata (spec 01, section 7.3)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.protocol.assets import Asset
from ledgerd.protocol.authority import Authority, require_valid_name
from ledgerd.protocol.errors import require
from ledgerd.protocol.extensions import Extensions
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName, is_valid_created_name, is_valid_domain
from ledgerd.protocol.operations.base import Authorities, Operation, active, master
from ledgerd.protocol.operations.roles import ActiveSigner, Meaning, Recipient, RegularSigner, Role, Touched
from ledgerd.protocol.operations.words import says
from ledgerd.protocol.parameters import ChainParameters
from ledgerd.protocol.texts import require_json_metadata


class AccountUpdate(Operation, frozen=True, tag=5):
    """Changes the authorities that are given, the memo key and the metadata of an account."""

    EN = says(
        "Keys changed", "{account} changed its keys", changes_no_keys="{account} updated its profile and memo key"
    )
    RU = says(
        "Смена ключей", "{account} меняет свои ключи", changes_no_keys="{account} обновляет профиль и ключ заметок"
    )
    COMMAND = "change-keys"
    CARRIES_DATA = True

    account: Touched
    master: Authority | None
    active: Authority | None
    regular: Authority | None
    memo_key: PublicKey
    json_metadata: Annotated[str, Meaning.OPTIONAL]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Name and metadata; the authorities are not checked."""
        require_valid_name(self.account)
        require_json_metadata(self.json_metadata)

    @property
    def changes_no_keys(self) -> bool:
        """Whether only the profile changes, or the key of memos."""
        return self.master is self.active is self.regular is None

    def authorities(self) -> Authorities:
        """Active, but master for a change of the master authority."""
        return active(self.account) if self.master is None else master(self.account)


class AccountCreate(Operation, frozen=True, tag=20):
    """Creates an account for a fee, for shares that are delegated to it, or for both."""

    EN = says("New account", "{creator} created the account {new_account_name}")
    RU = says("Создание аккаунта", "{creator} создаёт аккаунт {new_account_name}")
    CARRIES_DATA = True

    fee: Asset
    delegation: Asset
    creator: Annotated[ActiveSigner, Role.SENDER]
    new_account_name: Annotated[Recipient, Meaning.NEW_NAME]
    master: Authority
    active: Authority
    regular: Authority
    memo_key: PublicKey
    json_metadata: Annotated[str, Meaning.OPTIONAL]
    referrer: Annotated[AccountName, Meaning.OPTIONAL]
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Names, price, authorities, metadata; the referrer is not checked."""
        require_created_name(self.new_account_name)
        require_valid_name(self.new_account_name)
        require_valid_name(self.creator)
        require_domain(self.new_account_name, self.creator)
        self._check_price()
        self.master.check()
        self.active.check()
        self.regular.check()
        require_json_metadata(self.json_metadata)

    def _check_price(self) -> None:
        require(
            self.fee.is_token,
            "is_asset_type(fee, TOKEN_SYMBOL): Account creation fee must be TOKEN_SYMBOL",
        )
        require(
            self.delegation.is_shares,
            "is_asset_type(delegation, SHARES_SYMBOL): Delegation must be SHARES",
        )
        require(self.fee.amount >= 0, "fee.amount >= 0: Account creation fee cannot be negative")
        require(self.delegation.amount >= 0, "delegation.amount >= 0: Delegation cannot be negative")


class AccountMetadata(Operation, frozen=True, tag=21):
    """Replaces the metadata of an account."""

    EN = says("Profile", "{account} updated its profile")
    RU = says("Профиль", "{account} обновляет свой профиль")
    CARRIES_DATA = True

    account: RegularSigner
    json_metadata: str

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require(self.json_metadata, "json_metadata.size() > 0: json_metadata can't be empty")
        require_json_metadata(self.json_metadata)


def require_created_name(name: str) -> None:
    """Spec 01, section 6."""
    require(is_valid_created_name(name), "is_valid_create_account_name(name): Account name ${n} is invalid", n=name)


def require_domain(name: str, creator: str) -> None:
    """Spec 01, section 6."""
    require(
        is_valid_domain(name, creator),
        "is_valid_domain_name( name, creator ): Domain name ${n} is invalid, creator name ${c}",
        n=name,
        c=creator,
    )
