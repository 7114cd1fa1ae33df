"""Operations as methods: one for each that can be sent, which makes what the chains have recorded."""

from __future__ import annotations

from functools import cache
from typing import Self

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.assets import Asset
from ledgerd.sdk.amounts import amount_of
from ledgerd.sdk.transactions.builder import TransactionBuilder
from ledgerd.sdk.transactions.operations.accounts import AccountOperations
from ledgerd.sdk.transactions.operations.fields import SENDABLE, fields_of_operation
from ledgerd.sdk.transactions.operations.markets import MarketOperations
from ledgerd.sdk.transactions.operations.money import MoneyOperations
from ledgerd.sdk.transactions.operations.parameters import IN_SHARES
from scripts.generate_sdk_operations import documents
from tests.recorded import ALL_CHAINS, recorded_blocks


class Everything(AccountOperations, MoneyOperations, MarketOperations):
    """All methods, and what they have added, in order."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []

    def add(self, operation: Operation) -> Self:
        self.operations.append(operation)
        return self


@cache
def recorded() -> dict[str, list[Operation]]:
    """Operations that came into blocks, by name; some of each."""
    found: dict[str, list[Operation]] = {name_of(each): [] for each in SENDABLE}
    for chain in ALL_CHAINS:
        for raw in recorded_blocks(chain):
            for transaction in codec_of(Block).decode_exactly(raw).transactions:
                for each in transaction.operations:
                    some = found.get(name_of(type(each)))
                    if some is not None and len(some) < 20:
                        some.append(each)
    return found


def test_the_methods_are_those_of_the_declarations() -> None:
    """Run `make docs` if this fails."""
    for path, text in documents().items():
        assert path.read_text(encoding="utf-8") == text, path.name


def test_every_operation_that_can_be_sent_has_a_method() -> None:
    assert [name for name in recorded() if not callable(getattr(TransactionBuilder, name, None))] == []


@pytest.mark.parametrize("name", [name_of(each) for each in SENDABLE])
def test_a_method_makes_the_operations_that_chains_have_recorded(name: str) -> None:
    for operation in recorded()[name]:
        fields = [field.attribute for field in fields_of_operation(type(operation))]
        values = {field: getattr(operation, field) for field in fields}
        made = Everything()
        getattr(made, name)(
            **{field: amount_of(value) if isinstance(value, Asset) else value for field, value in values.items()}
        )
        assert made.operations == [operation]


def test_every_operation_is_recorded_and_each_amount_has_the_symbol_that_its_parameter_has() -> None:
    assert [name for name, operations in recorded().items() if not operations] == []
    for operations in recorded().values():
        for operation in operations:
            for field in fields_of_operation(type(operation)):
                value = getattr(operation, field.attribute)
                if isinstance(value, Asset):
                    assert value.is_shares == (field.attribute in IN_SHARES), (operation, field.attribute)
