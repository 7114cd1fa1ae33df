"""Accounts that an operation names, by its fields, those inside of proposals included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from ledgerd.codec import record_kind
from ledgerd.codec.types.containers import Vector
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.account_market import BuyAccount
from ledgerd.protocol.operations.roles import Meaning, fields_marked
from ledgerd.sdk.transactions.operations.fields import inner_of, is_name


def named_accounts(operation: Operation) -> Iterator[tuple[str, str]]:
    for field in record_kind(type(operation)).fields:
        kind, value = inner_of(field.kind), getattr(operation, field.attribute)
        if Meaning.NEW_NAME in field.marks or Meaning.LABEL in field.marks or not value:
            continue
        if isinstance(operation, BuyAccount) and field.attribute == "account":
            continue  # a subaccount is created when it is bought
        if is_name(kind):
            yield field.name, value
        elif isinstance(kind, Vector) and is_name(kind.element):
            yield from ((field.name, each) for each in value)
        elif isinstance(kind, Vector):
            yield from _inside(field.name, value)


def _inside(field: str, values: Iterable[object]) -> Iterator[tuple[str, str]]:
    for value in values:
        if not isinstance(value, msgspec.Struct):
            continue
        for each in record_kind(type(value)).fields:
            inner = getattr(value, each.attribute)
            if isinstance(inner, Operation):
                yield from named_accounts(inner)
            elif is_name(each.kind):
                yield f"{field}.{each.name}", inner


def new_accounts(operation: Operation) -> Iterator[str]:
    """The accounts that an operation creates."""
    return (getattr(operation, field.attribute) for field in fields_marked(type(operation), Meaning.NEW_NAME))
