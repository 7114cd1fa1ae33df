"""Which operations can be sent: the table and the protocol agree."""

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
from ledgerd.wallet.operations.catalogue import (
    OTHER_NAMES,
    SENDABLE,
    UNSENDABLE,
    command_of,
    operation_named,
    rule_against,
)

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
