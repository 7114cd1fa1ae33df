"""Operations that give a stolen account back to its owner (spec 01, section 7.3)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.protocol.authority import Authority, require_valid_name
from ledgerd.protocol.errors import require
from ledgerd.protocol.extensions import Extensions
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import Authorities, Operation
from ledgerd.protocol.operations.roles import ActiveSigner, MasterSigner, Role, Touched
from ledgerd.protocol.operations.words import says
from ledgerd.protocol.parameters import ChainParameters


class RequestAccountRecovery(Operation, frozen=True, tag=12):
    """The recovery account proposes a new master authority for an account that was stolen."""

    EN = says("Recovery request", "{recovery_account} requested the recovery of {account_to_recover}")
    RU = says("Запрос восстановления", "{recovery_account} запрашивает восстановление {account_to_recover}")

    recovery_account: Annotated[ActiveSigner, Role.ABSENT]
    account_to_recover: Touched
    new_master_authority: Authority
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.recovery_account)
        require_valid_name(self.account_to_recover)
        self.new_master_authority.check()


class RecoverAccount(Operation, frozen=True, tag=13):
    """The owner takes the account back: by the proposed master authority, and by one of before the theft."""

    EN = says("Account recovered", "{account_to_recover} was recovered by its owner")
    RU = says("Восстановление", "{account_to_recover} возвращён владельцу")

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
        return Authorities(other=(self.new_master_authority, self.recent_master_authority))


class ChangeRecoveryAccount(Operation, frozen=True, tag=14):
    """Names another account that may help with a recovery; it takes effect much later."""

    EN = says("Recovery account", "{account_to_recover} named {new_recovery_account} as its recovery account")
    RU = says("Доверенный аккаунт", "{account_to_recover} назначает {new_recovery_account} аккаунтом восстановления")

    account_to_recover: MasterSigner
    new_recovery_account: AccountName
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account_to_recover)
        require_valid_name(self.new_recovery_account)
