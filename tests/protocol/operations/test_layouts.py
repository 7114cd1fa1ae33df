"""The newest operations have the names and fields that published clients have."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgerd.codec import record_kind
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of, tag_of

LAYOUTS = json.loads((Path(__file__).parents[2] / "vectors" / "hf14" / "op-layouts.json").read_text(encoding="utf-8"))

KINDS = {
    "account name": "string",
    "share": "int64",
    "time": "time_point_sec",
    "commitment": "bytes(32)",
    "public key": "public_key",
    "vector of string": "array(string)",
    "set of string": "set(string)",
    "set of variant": "set(future_extensions)",
}
"""What clients call our kinds."""


def as_clients_have_it(title: str) -> str:
    if title.startswith("optional "):
        return f"optional({as_clients_have_it(title.removeprefix('optional '))})"
    return KINDS.get(title, title)


@pytest.mark.parametrize("operation", OPERATIONS[64:], ids=name_of)
def test_fields_stand_in_the_order_of_the_clients(operation: type[Operation]) -> None:
    layout = LAYOUTS[str(tag_of(operation))]
    fields = [[field.name, as_clients_have_it(field.kind.title)] for field in record_kind(operation).fields]

    assert {"name": name_of(operation), "fields": fields} == layout
