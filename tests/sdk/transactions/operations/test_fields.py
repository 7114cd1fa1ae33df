"""Which fields a command asks for."""

from __future__ import annotations

import pytest

from ledgerd.codec import record_kind
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.money.transfers import TransferToVesting
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.operations.variant import names_that_can_be_sent
from ledgerd.protocol.types.authority import Authority
from ledgerd.sdk.transactions.operations.fields import (
    EXTENSIONS,
    OTHER_NAMES,
    SENDABLE,
    UNSENDABLE,
    command_of,
    fields_of_operation,
    is_asked,
    is_asset,
    is_authority,
    is_name,
    operation_named,
    rule_against,
)


def asked(name: str) -> list[str]:
    operation = operation_named(name)
    assert operation is not None
    return [field.name for field in fields_of_operation(operation) if is_asked(field)]


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("transfer", ["from", "to", "amount"]),
        ("account-metadata", ["account", "json_metadata"]),
        ("vote-for-validator", ["account", "validator"]),
        ("award", ["initiator", "receiver", "energy"]),
        ("set-agent-permission", ["account", "agent_name", "agent_key"]),
        ("pm-oracle-update", ["owner"]),
        ("pm-reveal-bet", ["account", "commit_id", "amount", "salt"]),
    ],
)
def test_what_has_no_usual_value_is_asked_for(name: str, fields: list[str]) -> None:
    assert asked(name) == fields


@pytest.mark.parametrize("operation", SENDABLE, ids=name_of)
def test_every_operation_asks_for_something_and_never_for_extensions(operation: type[Operation]) -> None:
    names = [field.name for field in fields_of_operation(operation)]

    assert EXTENSIONS not in names
    assert any(is_asked(field) for field in fields_of_operation(operation))


def test_the_kinds_of_fields_are_told_apart() -> None:
    operation = operation_named("account_create")
    assert operation is not None
    kinds = {field.name: field.kind for field in fields_of_operation(operation)}

    assert [name for name, kind in kinds.items() if is_asset(kind)] == ["fee", "delegation"]
    assert [name for name, kind in kinds.items() if is_authority(kind)] == ["master", "active", "regular"]
    assert [name for name, kind in kinds.items() if is_name(kind)] == ["creator", "new_account_name", "referrer"]
    assert kinds["master"].title == Authority.TITLE


CONTENT = {"vote", "content", "delete_content"}


def test_every_operation_can_be_sent_or_stands_in_the_table_with_its_rule() -> None:
    assert {name_of(each) for each in SENDABLE} | set(UNSENDABLE) == {name_of(each) for each in OPERATIONS}
    assert {name_of(each) for each in SENDABLE} == names_that_can_be_sent() - CONTENT
    assert set(UNSENDABLE) == {name_of(each) for each in OPERATIONS if each.VIRTUAL} | CONTENT


@pytest.mark.parametrize("operation", [each for each in OPERATIONS if each.VIRTUAL], ids=name_of)
def test_the_rule_of_a_virtual_operation_is_the_protocols(operation: type[Operation]) -> None:
    with pytest.raises(RuleViolation) as refused:
        record_kind(operation).default().check(MAINNET)

    assert refused.value.message == rule_against(operation)


def test_names_of_commands_are_those_of_operations_with_dashes_and_plain_ones() -> None:
    assert command_of(SetAgentPermission) == "set-agent-permission"
    assert operation_named("vest") is TransferToVesting
    for name in ("validator_update", "validator-update", "declare-validator", "witness_update"):
        assert operation_named(name) is ValidatorUpdate
    assert operation_named("nothing") is None


def test_no_two_commands_have_one_name() -> None:
    assert set(OTHER_NAMES) <= {name_of(each) for each in SENDABLE}
    names = [command_of(each) for each in SENDABLE] + [*OTHER_NAMES.values()]

    assert len(names) == len(set(names))
