"""What tests say of an operation: that it is sound, that a rule refuses it, that bytes and JSON say the same.

Bytes are written as the wire has them, tag first; JSON as the node prints it, `["transfer", {...}]`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import combinations
from typing import Any, TypeVar

import msgspec
import pytest

from ledgerd.codec import codec_of
from ledgerd.codec.types.varint import pack_varint
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET, ChainParameters
from ledgerd.protocol.operations.base import Operation, name_of, tag_of
from ledgerd.protocol.types.names import AccountName

Changed = TypeVar("Changed", bound=Operation)


def accepts(operation: Operation, network: ChainParameters = MAINNET) -> None:
    """The operation is sound in itself."""
    operation.check(network)


def refuses(operation: Operation, message: str, network: ChainParameters = MAINNET) -> None:
    """The first rule that the operation breaks says exactly this."""
    with pytest.raises(RuleViolation) as refusal:
        operation.check(network)
    assert refusal.value.message == message


def round_trips(operation: Operation, raw: str, printed: list[Any]) -> None:
    """The operation, its bytes in hex and its JSON each give the others, the order of the keys included."""
    kind = type(operation)
    codec = codec_of(kind)
    wire = bytes.fromhex(raw)
    tag = pack_varint(tag_of(kind))
    assert tag + codec.encode(operation) == wire
    assert codec.decode_exactly(wire.removeprefix(tag)) == operation
    name, body = printed
    assert name_of(kind) == name
    assert codec.to_json(operation) == json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    assert codec.from_json(body) == operation


def read(printed: list[Any], kind: type[Changed]) -> Changed:
    """The operation of this kind that the JSON is of."""
    operation = codec_of(Operation).from_json(printed)
    assert isinstance(operation, kind)
    return operation


def changed(operation: Changed, **fields: Any) -> Changed:
    """The operation with other values in these fields."""
    return msgspec.structs.replace(operation, **fields)


def asks_for_names(operation: Operation, *fields: str) -> None:
    """Each of these fields has to hold a valid name."""
    for field in fields:
        refuses(
            changed(operation, **{field: AccountName("a")}),
            "is_valid_account_name(name): Account name a is invalid",
        )


def refuses_for_the_first_of_two_faults(operation: Operation, unsound: Iterable[tuple[Operation, str]]) -> int:
    """Of two faults in different fields, the one that stands first in the list is told; returns how many were tried."""
    faults = [(faults_of(operation, each), message) for each, message in unsound if type(each) is type(operation)]
    pairs = [pair for pair in combinations(faults, 2) if not pair[0][0].keys() & pair[1][0].keys()]
    for (first, message), (second, _) in pairs:
        refuses(changed(operation, **first, **second), message)
    return len(pairs)


def faults_of(operation: Operation, other: Operation) -> dict[str, Any]:
    """The fields in which another operation differs, with its values."""
    fields = operation.__struct_fields__
    return {name: getattr(other, name) for name in fields if getattr(other, name) != getattr(operation, name)}
