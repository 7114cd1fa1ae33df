"""Operations of validators and of those who vote for them (spec 01, section 7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

from ledgerd.codec import missing
from ledgerd.codec.numbers import UInt16
from ledgerd.protocol.authority import require_valid_name
from ledgerd.protocol.constants import MAX_VALIDATOR_URL_LENGTH, VALIDATOR_MAX_SHARING_RATE
from ledgerd.protocol.errors import require
from ledgerd.protocol.keys import PublicKey
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations.base import Authorities, Operation, active
from ledgerd.protocol.properties import ChainPropertiesInit
from ledgerd.protocol.property_versions import VersionedChainProperties
from ledgerd.protocol.texts import byte_length, is_utf8

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters


class ValidatorUpdate(Operation, frozen=True, tag=6):
    """Declares an account as validator, or changes its page and signing key; a null key retires it."""

    owner: AccountName
    url: str
    block_signing_key: PublicKey

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Name and page."""
        require_valid_name(self.owner)
        require(self.url, "url.size() > 0: URL size must be greater than 0")
        require(
            byte_length(self.url) < MAX_VALIDATOR_URL_LENGTH,
            "url.size() < CHAIN_MAX_VALIDATOR_URL_LENGTH: URL size must be lesser than CHAIN_MAX_VALIDATOR_URL_LENGTH",
        )
        require(is_utf8(self.url), "fc::is_utf8(url): URL is not valid UTF8")

    def authorities(self) -> Authorities:
        """The validator itself."""
        return active(self.owner)


class AccountValidatorVote(Operation, frozen=True, tag=7):
    """Votes for a validator, or takes the vote back."""

    FORMER_NAMES: ClassVar = {"validator": "witness"}

    account: AccountName
    validator: AccountName
    approve: Annotated[bool, missing(True)]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Names."""
        require_valid_name(self.account)
        require_valid_name(self.validator)

    def authorities(self) -> Authorities:
        """The voter."""
        return active(self.account)


class AccountValidatorProxy(Operation, frozen=True, tag=8):
    """Lets another account vote with this one's shares; the empty name takes that back."""

    account: AccountName
    proxy: AccountName

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Names, which differ."""
        require_valid_name(self.account)
        if self.proxy:
            require_valid_name(self.proxy)
        require(self.proxy != self.account, "proxy != account: Cannot proxy to self")

    def authorities(self) -> Authorities:
        """The voter."""
        return active(self.account)


class ChainPropertiesUpdate(Operation, frozen=True, tag=25):
    """Votes on the chain properties of the first version."""

    owner: AccountName
    props: ChainPropertiesInit

    def check(self, network: ChainParameters) -> None:
        """Name and properties."""
        require_valid_name(self.owner)
        self.props.check(network)

    def authorities(self) -> Authorities:
        """The validator."""
        return active(self.owner)


class VersionedChainPropertiesUpdate(Operation, frozen=True, tag=46):
    """Votes on the chain properties of any version."""

    owner: AccountName
    props: VersionedChainProperties

    def check(self, network: ChainParameters) -> None:
        """Name and properties; which versions the chain accepts yet is not asked here."""
        require_valid_name(self.owner)
        self.props.check(network)

    def authorities(self) -> Authorities:
        """The validator."""
        return active(self.owner)


class SetRewardSharing(Operation, frozen=True, tag=64):
    """Sets the part of its rewards that a validator shares with those who vote for it."""

    owner: AccountName
    sharing_rate: UInt16

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Name and rate."""
        require_valid_name(self.owner)
        require(
            self.sharing_rate <= VALIDATOR_MAX_SHARING_RATE,
            "sharing_rate <= CHAIN_VALIDATOR_MAX_SHARING_RATE: sharing_rate ${r} exceeds maximum ${max}",
            r=self.sharing_rate,
            max=VALIDATOR_MAX_SHARING_RATE,
        )

    def authorities(self) -> Authorities:
        """The validator."""
        return active(self.owner)


OPERATIONS: tuple[type[Operation], ...] = (
    ValidatorUpdate,
    AccountValidatorVote,
    AccountValidatorProxy,
    ChainPropertiesUpdate,
    VersionedChainPropertiesUpdate,
    SetRewardSharing,
)
