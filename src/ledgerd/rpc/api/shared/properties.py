"""Chain properties in answers: without those of later hardforks (spec 05, section 8.5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ledgerd.codec.types.numbers import Int16, UInt16, UInt32
from ledgerd.protocol.properties import (
    ChainPropertiesHf4,
    ChainPropertiesHf6,
    ChainPropertiesHf9,
    ChainPropertiesHf13,
    ChainPropertiesInit,
)
from ledgerd.protocol.types.assets import Asset
from ledgerd.state.objects.globals import HARDFORK_PROPERTIES
from ledgerd.state.views.view import View

VERSIONS: Sequence[tuple[int, type[ChainPropertiesInit]]] = (
    (13, ChainPropertiesHf13),
    (9, ChainPropertiesHf9),
    (6, ChainPropertiesHf6),
    (4, ChainPropertiesHf4),
    (0, ChainPropertiesInit),
)


class ShownProperties(msgspec.Struct, frozen=True):
    """The properties that validators vote on; those of a later hardfork are left out until it is applied."""

    account_creation_fee: Asset
    maximum_block_size: UInt32
    create_account_delegation_ratio: UInt32
    create_account_delegation_time: UInt32
    min_delegation: Asset
    min_curation_percent: Int16
    max_curation_percent: Int16
    bandwidth_reserve_percent: Int16
    bandwidth_reserve_below: Asset
    flag_energy_additional_cost: Int16
    vote_accounting_min_rshares: UInt32
    committee_request_approve_min_percent: Int16
    inflation_validator_percent: Int16 | None = None
    inflation_ratio_committee_vs_reward_fund: Int16 | None = None
    inflation_recalc_period: UInt32 | None = None
    data_operations_cost_additional_bandwidth: UInt32 | None = None
    validator_miss_penalty_percent: Int16 | None = None
    validator_miss_penalty_duration: UInt32 | None = None
    create_invite_min_balance: Asset | None = None
    committee_create_request_fee: Asset | None = None
    create_paid_subscription_fee: Asset | None = None
    account_on_sale_fee: Asset | None = None
    subaccount_on_sale_fee: Asset | None = None
    validator_declaration_fee: Asset | None = None
    withdraw_intervals: UInt16 | None = None
    distribution_epoch_length: UInt32 | None = None


def hardfork_of_properties(state: View) -> int:
    hardforks = state.get(HARDFORK_PROPERTIES, 0)
    return next(hardfork for hardfork, _ in VERSIONS if hardforks.has(hardfork))


@lru_cache(maxsize=1024)
def shown(properties: ChainPropertiesInit, hardfork: int) -> ShownProperties:
    version = dict(VERSIONS)[hardfork]
    return ShownProperties(*(getattr(properties, field) for field in version.__struct_fields__))
