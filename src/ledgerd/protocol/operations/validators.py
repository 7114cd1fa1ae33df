"""Operations of validators and of those who vote for them (spec 01, section 7.4)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from ledgerd.codec import missing
from ledgerd.protocol.constants import MAX_VALIDATOR_URL_LENGTH, VALIDATOR_MAX_SHARING_RATE
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Fee, Operation
from ledgerd.protocol.operations.roles import ActiveSigner, Meaning, Percent, Touched, Url, VoteOn, words
from ledgerd.protocol.properties import ChainPropertiesInit, VersionedChainProperties
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.texts import byte_length, is_utf8


class ValidatorUpdate(Operation, frozen=True, tag=6):
    """Declares an account as validator, or changes its page and signing key; a null key retires it."""

    EN = words("Validator", "{owner} updated its validator", no_block_signing_key="{owner} retired its validator")
    RU = words(
        "Валидатор",
        "{owner} обновляет своего валидатора",
        no_block_signing_key="{owner} останавливает своего валидатора",
    )
    COMMAND = "declare-validator"
    FEE = Fee("validator_declaration_fee", is_once=True)

    owner: ActiveSigner
    url: Url
    block_signing_key: PublicKey

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.owner)
        require(self.url, "url.size() > 0: URL size must be greater than 0")
        require(
            byte_length(self.url) < MAX_VALIDATOR_URL_LENGTH,
            "url.size() < CHAIN_MAX_VALIDATOR_URL_LENGTH: URL size must be lesser than CHAIN_MAX_VALIDATOR_URL_LENGTH",
        )
        require(is_utf8(self.url), "fc::is_utf8(url): URL is not valid UTF8")


class AccountValidatorVote(Operation, frozen=True, tag=7):
    """Votes for a validator, or takes the vote back."""

    EN = words(
        "Validator vote",
        "{account} voted for the validator {validator}",
        no_approve="{account} took back its vote for the validator {validator}",
    )
    RU = words(
        "Голос за валидатора",
        "{account} голосует за валидатора {validator}",
        no_approve="{account} отзывает голос за валидатора {validator}",
    )
    COMMAND = "vote-for-validator"

    FORMER_NAMES: ClassVar = {"validator": "witness"}

    account: ActiveSigner
    validator: Annotated[Touched, VoteOn("validator")]
    approve: Annotated[bool, missing(True), Meaning.WEIGHT]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account, self.validator)


class AccountValidatorProxy(Operation, frozen=True, tag=8):
    """Lets another account vote with this one's shares; the empty name takes that back."""

    EN = words(
        "Voting proxy",
        "{account} lets {proxy} vote for validators with its shares",
        no_proxy="{account} votes for validators by itself again",
    )
    RU = words(
        "Прокси голосования",
        "{account} доверяет {proxy} голосовать за валидаторов своей долей",
        no_proxy="{account} снова голосует за валидаторов самостоятельно",
    )
    COMMAND = "set-proxy"

    account: ActiveSigner
    proxy: Annotated[Touched, VoteOn("proxy"), Meaning.WEIGHT]

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.account)
        if self.proxy:
            require_valid_name(self.proxy)
        require(self.proxy != self.account, "proxy != account: Cannot proxy to self")


class ChainPropertiesUpdate(Operation, frozen=True, tag=25):
    """Votes on the chain properties of the first version."""

    EN = words("Vote on properties", "{owner} voted on the chain's properties")
    RU = words("Голос за параметры", "{owner} голосует за параметры сети")

    owner: ActiveSigner
    props: ChainPropertiesInit

    def check(self, network: ChainParameters) -> None:
        require_valid_name(self.owner)
        self.props.check(network)


class VersionedChainPropertiesUpdate(Operation, frozen=True, tag=46):
    """Votes on the chain properties of any version."""

    EN = words("Vote on properties", "{owner} voted on the chain's properties")
    RU = words("Голос за параметры", "{owner} голосует за параметры сети")

    owner: ActiveSigner
    props: VersionedChainProperties

    def check(self, network: ChainParameters) -> None:
        """Name and properties; which versions the chain accepts yet is not asked here."""
        require_valid_name(self.owner)
        self.props.check(network)


class SetRewardSharing(Operation, frozen=True, tag=64):
    """Sets the part of its rewards that a validator shares with those who vote for it."""

    EN = words("Reward sharing", "{owner} shares {sharing_rate} of its validator rewards with its voters")
    RU = words("Доля избирателям", "{owner} делится {sharing_rate} наград валидатора со своими избирателями")

    owner: ActiveSigner
    sharing_rate: Percent

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        require_valid_name(self.owner)
        require(
            self.sharing_rate <= VALIDATOR_MAX_SHARING_RATE,
            "sharing_rate <= CHAIN_VALIDATOR_MAX_SHARING_RATE: sharing_rate ${r} exceeds maximum ${max}",
            r=self.sharing_rate,
            max=VALIDATOR_MAX_SHARING_RATE,
        )
