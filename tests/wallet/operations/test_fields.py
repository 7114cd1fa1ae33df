"""Which fields a command asks for."""

from __future__ import annotations

import pytest

from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.authority import Authority
from ledgerd.wallet.operations.catalogue import SENDABLE, operation_named
from ledgerd.wallet.operations.fields import (
    EXTENSIONS,
    fields_of_operation,
    is_asked,
    is_asset,
    is_authority,
    is_name,
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
