"""Operations that create accounts, change their keys and metadata, and recover stolen ones (spec 01, section 7.3)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Authorities, Extensions, Operation, active, master
from ledgerd.protocol.operations.roles import (
    ActiveSigner,
    MasterSigner,
    Meaning,
    Recipient,
    RegularSigner,
    Role,
    Touched,
    words,
)
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import Authority, require_valid_name
from ledgerd.protocol.types.names import AccountName, is_valid_created_name, is_valid_domain
from ledgerd.protocol.types.texts import require_json_metadata


class AccountUpdate(Operation, frozen=True, tag=5):
    """Changes the authorities that are given, the memo key and the metadata of an account."""

    EN = words(
        "Keys changed", "{account} changed its keys", changes_no_keys="{account} updated its profile and memo key"
    )
    RU = words(
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

    EN = words("New account", "{creator} created the account {new_account_name}")
    RU = words("Создание аккаунта", "{creator} создаёт аккаунт {new_account_name}")
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
        require(
            is_valid_created_name(self.new_account_name),
            "is_valid_create_account_name(name): Account name ${n} is invalid",
            n=self.new_account_name,
        )
        require_valid_name(self.new_account_name, self.creator)
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

    EN = words("Profile", "{account} updated its profile")
    RU = words("Профиль", "{account} обновляет свой профиль")
    CARRIES_DATA = True

    account: RegularSigner
    json_metadata: str

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        require(self.json_metadata, "json_metadata.size() > 0: json_metadata can't be empty")
        require_json_metadata(self.json_metadata)


def require_domain(name: str, creator: str) -> None:
    """Spec 01, section 6."""
    require(
        is_valid_domain(name, creator),
        "is_valid_domain_name( name, creator ): Domain name ${n} is invalid, creator name ${c}",
        n=name,
        c=creator,
    )


class RequestAccountRecovery(Operation, frozen=True, tag=12):
    """The recovery account proposes a new master authority for an account that was stolen."""

    EN = words("Recovery request", "{recovery_account} requested the recovery of {account_to_recover}")
    RU = words("Запрос восстановления", "{recovery_account} запрашивает восстановление {account_to_recover}")

    recovery_account: Annotated[ActiveSigner, Role.ABSENT]
    account_to_recover: Touched
    new_master_authority: Authority
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.recovery_account, self.account_to_recover)
        self.new_master_authority.check()


class RecoverAccount(Operation, frozen=True, tag=13):
    """The owner takes the account back: by the proposed master authority, and by one of before the theft."""

    EN = words("Account recovered", "{account_to_recover} was recovered by its owner")
    RU = words("Восстановление", "{account_to_recover} возвращён владельцу")

    account_to_recover: Annotated[AccountName, Role.ACTOR]
    new_master_authority: Authority
    recent_master_authority: Authority
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account_to_recover)
        require(
            self.new_master_authority != self.recent_master_authority,
            "!(new_master_authority == recent_master_authority): "
            "Cannot set new master authority to the recent master authority",
        )
        require(
            not self.new_master_authority.is_impossible,
            "!new_master_authority.is_impossible(): new master authority cannot be impossible",
        )
        require(
            not self.recent_master_authority.is_impossible,
            "!recent_master_authority.is_impossible(): recent master authority cannot be impossible",
        )
        require(
            self.new_master_authority.weight_threshold,
            "new_master_authority.weight_threshold: new master authority cannot be trivial",
        )
        self.new_master_authority.check()
        self.recent_master_authority.check()

    def authorities(self) -> Authorities:
        """Both named accounts must agree."""
        return Authorities(other=(self.new_master_authority, self.recent_master_authority))


class ChangeRecoveryAccount(Operation, frozen=True, tag=14):
    """Names another account that may help with a recovery; it takes effect much later."""

    EN = words("Recovery account", "{account_to_recover} named {new_recovery_account} as its recovery account")
    RU = words("Доверенный аккаунт", "{account_to_recover} назначает {new_recovery_account} аккаунтом восстановления")

    account_to_recover: MasterSigner
    new_recovery_account: AccountName
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account_to_recover, self.new_recovery_account)
