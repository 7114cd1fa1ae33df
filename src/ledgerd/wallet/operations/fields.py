"""The fields of an operation as arguments of a command: which are asked for, and which may be left out."""

from __future__ import annotations

from functools import cache

from ledgerd.codec import record_kind
from ledgerd.codec.containers import Optional, SortedSet, Vector
from ledgerd.codec.kinds import Kind
from ledgerd.codec.numbers import Boolean
from ledgerd.codec.records import Field, RecordKind
from ledgerd.protocol.assets import Asset
from ledgerd.protocol.authority import Authority
from ledgerd.protocol.names import NameKind
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of

EXTENSIONS = "extensions"
"""Always empty, so that nobody has to write them."""

SECRET = "invite_secret"  # noqa: S105 - the name of a field
"""A field with a private key: it is never an argument, and is read as passwords are."""

MAY_BE_EMPTY = {
    "memo",
    "json_metadata",
    "metadata",
    "custom_sequence",
    "referrer",
    "decision_url",
    "decision_reason",
    "auto_accept_creator",
    "auto_accept_resolver",
    "dispute_resolver",
    "min_tokens",
    "min_return",
    "salt",
    "lmsr_b",
    "creator_fee_percent",
    "time_penalty_type",
    "time_penalty_value",
    "penalty_curve_type",
    "dispute_mode",
    "dispute_penalty_percent",
    "mode",
    "ban_oracle_until",
    "ban_creator_until",
}
"""Fields that usually stay empty, or zero."""

ONLY_CONTENT = {("account_metadata", "json_metadata"), ("pm_reveal_bet", "salt")}
"""The exceptions: fields of such names that are what an operation is for."""


WITHOUT_END = {("set_agent_permission", "expiration")}
"""Times that may be left out."""


@cache
def fields_of_operation(operation: type[Operation]) -> tuple[Field, ...]:
    """The fields that a person may give, in the order of the wire."""
    return tuple(field for field in record_kind(operation).fields if field.name != EXTENSIONS)


def is_asked(operation: type[Operation], field: Field) -> bool:
    """Whether a command needs the field; the others are options with the protocol's defaults."""
    if (name_of(operation), field.name) in ONLY_CONTENT:
        return True
    if (name_of(operation), field.name) in WITHOUT_END:
        return False
    has_own_default = field.default != field.kind.default
    is_list = isinstance(field.kind, Optional | Boolean | Vector | SortedSet)
    return not (has_own_default or is_list or field.name in MAY_BE_EMPTY)


def is_asset(kind: Kind) -> bool:
    return isinstance(kind, RecordKind) and kind.record is Asset


def is_authority(kind: Kind) -> bool:
    return isinstance(kind, RecordKind) and kind.record is Authority


def is_name(kind: Kind) -> bool:
    """Whether a field is the name of an account, or something written alike."""
    return isinstance(kind, NameKind)


def inner_of(kind: Kind) -> Kind:
    return kind.inner if isinstance(kind, Optional) else kind
