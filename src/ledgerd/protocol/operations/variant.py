"""Any operation, as a variant by tag on the wire and by name in JSON (spec 01, section 3.5)."""

from __future__ import annotations

from functools import cache

from ledgerd.codec import declare, record_kind
from ledgerd.codec.records import RecordKind
from ledgerd.codec.variants import NamedVariant
from ledgerd.protocol.operations.base import Operation, name_of, tag_of

OLD_NAMES = {
    "witness_update": "validator_update",
    "account_witness_vote": "account_validator_vote",
    "account_witness_proxy": "account_validator_proxy",
    "shutdown_witness": "shutdown_validator",
    "witness_reward": "validator_reward",
}
"""Names of before validators were called so; fields have no such second names."""

OPERATION_MEMORY = 396
"""Bytes that an operation takes in the reference's memory (spec 01, section 2.3)."""


@cache
def operations() -> tuple[type[Operation], ...]:
    """Every operation, in the order of the tags."""
    from ledgerd.protocol.operations import FAMILIES  # noqa: PLC0415 - the families name this variant

    known = sorted((each for family in FAMILIES for each in family), key=tag_of)
    if [tag_of(each) for each in known] != list(range(len(known))):
        raise TypeError("the tags of the operations are not 0, 1, 2, ... without a gap")
    return tuple(known)


def _kinds() -> dict[int, RecordKind]:
    return {tag_of(operation): record_kind(operation) for operation in operations()}


OPERATION_KIND = NamedVariant(
    _kinds,
    OPERATION_MEMORY,
    lambda record: name_of(record) if issubclass(record, Operation) else record.__name__,
    OLD_NAMES,
)

declare(Operation, OPERATION_KIND)
