"""What the state holds: the type numbers, defaults and bytes of every object (spec 02 and 03, section 3)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.properties import default_properties
from ledgerd.snapshot.file.sections import SECTIONS
from ledgerd.state import Entity, Table
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.accounts.accounts import NO_AUTHORITY, Account
from ledgerd.state.objects.validators import SchedulePlace, Validator, ValidatorSchedule
from tests.recorded import recorded_sections

NUMBERS = {
    0: "DynamicGlobalProperty",
    1: "Account",
    2: "AccountAuthority",
    3: "Validator",
    4: "KnownTransaction",
    5: "BlockSummary",
    6: "ValidatorSchedule",
    7: "Content",
    8: "ContentType",
    9: "ContentVote",
    10: "ValidatorVote",
    11: "HardforkProperty",
    12: "WithdrawVestingRoute",
    13: "MasterAuthorityHistory",
    14: "AccountRecoveryRequest",
    15: "ChangeRecoveryAccountRequest",
    16: "Escrow",
    18: "VestingDelegation",
    19: "FixVestingDelegation",
    20: "VestingDelegationExpiration",
    21: "AccountMetadata",
    22: "Proposal",
    23: "RequiredApproval",
    24: "CommitteeRequest",
    25: "CommitteeVote",
    26: "Invite",
    27: "AwardSharesExpire",
    28: "PaidSubscription",
    29: "PaidSubscribe",
    30: "ValidatorPenaltyExpire",
    31: "ValidatorConfirmation",
    32: "PmOracle",
    33: "PmMarket",
    34: "PmOutcome",
    35: "PmBet",
    36: "PmLiquidity",
    37: "PmCommit",
    38: "PmDispute",
    39: "PmDisputeVote",
    40: "PmLazyPool",
    41: "PmLazyDeposit",
    42: "PmLazyAllocation",
    43: "PmLeveragePosition",
    44: "PmCreatorBan",
    45: "PmLazyWithdrawRequest",
    46: "PmDeferredClaim",
    47: "PmSettlement",
    48: "AgentPermission",
    49: "KeyHistory",
}

OTHER_DEFAULTS: dict[str, dict[str, Any]] = {
    "DynamicGlobalProperty": {
        "current_reserve_ratio": 1,
        "vote_regeneration_per_day": 1,
        "bandwidth_reserve_candidates": 1,
    },
    "Account": {"energy": 10_000, "next_vesting_withdrawal": 0xFFFFFFFF, "valid": True},
    "Validator": {"schedule": SchedulePlace.NONE, "virtual_scheduled_time": 2**128 - 1},
    "ValidatorSchedule": {"next_shuffle_block_num": 1, "num_scheduled_validators": 1},
    "Escrow": {"escrow_id": 20},
    "PmMarket": {"outcome_count": 2, "resolved_outcome": -1, "allow_instant_bet": True, "endogeneity_tier": 2},
    "PmBet": {"side": -1, "outcome_index": -1},
    "PmDispute": {"proposed_outcome": -1},
    "PmDisputeVote": {"vote_outcome": -1},
    "PmSettlement": {"phase": 1},
}
"""Every default that is not zero or empty."""

NEEDS_PROPERTIES: dict[type[Entity], str] = {Validator: "props", ValidatorSchedule: "median_props"}


def made(record: type[Entity]) -> Entity:
    """A default object; the two that hold chain properties are given the main network's."""
    given: dict[str, Any] = {}
    if record in NEEDS_PROPERTIES:
        given[NEEDS_PROPERTIES[record]] = default_properties(MAINNET)
    return record(**given)


def is_nothing(value: Any) -> bool:
    """Whether a value is what the reference's memory is filled with."""
    if isinstance(value, tuple):
        return not any(value)
    return value == NO_AUTHORITY or not value or not any(value if isinstance(value, bytes) else b"\1")


def test_every_type_of_the_reference_has_its_number_and_block_statistics_have_none() -> None:
    assert {table.number: table.title for table in TABLES} == NUMBERS
    assert [table.number for table in TABLES] == sorted(NUMBERS)


@pytest.mark.parametrize("table", TABLES, ids=repr)
def test_defaults_are_zero_unless_the_reference_says_otherwise(table: Table[Any]) -> None:
    entity = made(table.record)
    others = OTHER_DEFAULTS.get(table.title, {})

    for name in table.record.__struct_fields__:
        value = getattr(entity, name)
        if name in others:
            assert value == others[name]
        elif name != NEEDS_PROPERTIES.get(table.record):
            assert is_nothing(value), name


@pytest.mark.parametrize("table", TABLES, ids=repr)
def test_a_default_object_is_read_back_from_its_bytes(table: Table[Any]) -> None:
    entity = made(table.record)

    assert table.codec.decode(table.codec.encode(entity)) == entity


@pytest.mark.parametrize("record", NEEDS_PROPERTIES, ids=lambda record: record.__name__)
def test_chain_properties_must_be_given_as_their_defaults_depend_on_the_network(record: type[Entity]) -> None:
    with pytest.raises(TypeError, match="depends on the network"):
        record()


@pytest.mark.parametrize("table", TABLES, ids=repr)
def test_an_index_that_ends_with_the_own_id_has_it_in_its_keys(table: Table[Any]) -> None:
    entity = made(table.record)
    entity.id = 77

    for index in table.indexes:
        key = index.key(entity)
        assert len(key) == len(index.order)
        if index.order[-1].is_own_id:
            assert key[-1] == 77


@pytest.mark.parametrize(
    "name", ["open-pm/state-2027", "open-pm2/state-463", "open-big/state-1350", "open-up/state-3152"]
)
def test_every_recorded_object_is_read_and_printed_again(name: str) -> None:
    """In the order of its keys. What is not printed, and the summaries of blocks, are left out."""
    state = recorded_sections(name)
    for section in SECTIONS:
        if section.name != "block_summary":
            printed = [json.loads(section.text(section.parse(row))) for row in state[section.name]]
            assert list(map(json.dumps, printed)) == list(map(json.dumps, state[section.name])), section.name


def test_what_the_reference_does_not_reflect_stands_last() -> None:
    assert Account.__struct_fields__[-3:] == Account.UNREFLECTED
