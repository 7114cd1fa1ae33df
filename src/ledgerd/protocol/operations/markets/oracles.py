"""Operations of oracles: accounts that decide on the outcome of prediction markets, with an insurance (spec 07, 4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec import missing
from ledgerd.protocol.constants import MAX_PM_PROFILE_URL_LENGTH
from ledgerd.protocol.errors import require
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.operations.base import Extensions, Fee, Operation
from ledgerd.protocol.operations.markets import rules as market_rules
from ledgerd.protocol.operations.roles import ActiveSigner, MarketId, Meaning, Percent, Role, Url, words
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import require_valid_name
from ledgerd.protocol.types.names import AccountName


class PmOracleRegister(Operation, frozen=True, tag=66):
    """Makes an account an oracle: its fees, its insurance, and the markets that it takes on without being asked."""

    EN = words("New oracle", "{owner} became an oracle with an insurance of {insurance}")
    RU = words("Новый оракул", "{owner} становится оракулом со страховкой {insurance}")
    FEE = Fee("pm_oracle_registration_fee")

    owner: ActiveSigner
    insurance: Asset
    fee_percent: Percent
    fixed_fee: Asset
    rules_url: Url
    auto_accept_creator: Annotated[AccountName, Role.TOUCHED_IF_NAMED, Meaning.OPTIONAL]
    auto_accept_resolver: Annotated[AccountName, Role.TOUCHED_IF_NAMED, Meaning.OPTIONAL]
    auto_accept: bool
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """The names of accepted creators are not checked."""
        require_valid_name(self.owner)
        market_rules.require_positive_token(self.insurance, "insurance", "insurance")
        market_rules.require_fixed_fee(self.fixed_fee, "fixed_fee")
        market_rules.require_share(self.fee_percent, "fee_percent", "fee_percent")
        market_rules.require_text(self.rules_url, "rules_url", MAX_PM_PROFILE_URL_LENGTH)


class PmOracleUpdate(Operation, frozen=True, tag=67):
    """Changes the terms of an oracle; fields that are left out stay."""

    EN = words("Oracle's terms", "{owner} changed its terms as an oracle")
    RU = words("Условия оракула", "{owner} меняет свои условия оракула")

    owner: ActiveSigner
    insurance_delta: Asset | None
    fee_percent: Percent | None
    fixed_fee: Asset | None
    rules_url: Url | None
    auto_accept_creator: AccountName | None
    auto_accept_resolver: AccountName | None
    auto_accept: bool | None
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """A change of only the accepted creators is refused (spec 07, section 4)."""
        require_valid_name(self.owner)
        changes = (self.insurance_delta, self.fee_percent, self.fixed_fee, self.rules_url)
        require(
            any(each is not None for each in changes),
            "insurance_delta || fee_percent || fixed_fee || rules_url: pm_oracle_update must change at least one field",
        )
        if self.insurance_delta is not None:
            require(self.insurance_delta.is_token, "pm_is_token(*insurance_delta): insurance_delta must be VIZ")
        if self.fixed_fee is not None:
            require(self.fixed_fee.is_token, "pm_is_token(*fixed_fee): fixed_fee must be VIZ")
            require(self.fixed_fee.amount >= 0, "fixed_fee->amount >= 0: fixed_fee cannot be negative")
        if self.fee_percent is not None:
            market_rules.require_share(self.fee_percent, "*fee_percent", "fee_percent")
        if self.rules_url is not None:
            market_rules.require_text(self.rules_url, "rules_url", MAX_PM_PROFILE_URL_LENGTH)


class PmOracleAcceptMarket(Operation, frozen=True, tag=69):
    """The oracle's answer to a market that names it: it takes it on for these fees, or does not."""

    EN = words(
        "Oracle's reply",
        "The oracle {oracle} took on market {market_id}",
        no_accept="The oracle {oracle} declined market {market_id}",
    )
    RU = words(
        "Оракул о рынке",
        "Оракул {oracle} берётся за рынок {market_id}",
        no_accept="Оракул {oracle} отказывается от рынка {market_id}",
    )

    oracle: ActiveSigner
    market_id: MarketId
    accept: Annotated[bool, missing(True)]
    oracle_fee_percent: Percent
    oracle_fixed_fee: Asset
    extensions: Extensions

    def check(self, network: ChainParameters) -> None:  # noqa: ARG002
        """Name, market, fees; those of a refusal too."""
        require_valid_name(self.oracle)
        market_rules.require_object_id(self.market_id, "market_id")
        market_rules.require_share(self.oracle_fee_percent, "oracle_fee_percent", "oracle_fee_percent")
        market_rules.require_fixed_fee(self.oracle_fixed_fee, "oracle_fixed_fee")
