"""From what programs write for the fields of an operation to the protocol's values, exactly or not at all.

The protocol's own JSON reader cuts numbers that do not fit, and takes any symbol: here each is an error of its field.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Self, TypeAlias

import msgspec

from ledgerd.codec.errors import CodecError
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import Optional, Vector
from ledgerd.codec.types.numbers import Boolean, Signed, Unsigned
from ledgerd.codec.types.records import Field, RecordKind
from ledgerd.codec.types.strings import FixedBytes, Text
from ledgerd.codec.types.variants import Variant
from ledgerd.protocol.crypto.keys import KEY_SIZE, PublicKey, public_key_from_text
from ledgerd.protocol.networks.parameters import NETWORKS, ChainParameters
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.roles import Meaning
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import is_valid_name
from ledgerd.protocol.types.times import LATEST, TimeKind
from ledgerd.sdk.amounts import AmountError, Shares, Viz
from ledgerd.sdk.transactions.errors import WrongParameter
from ledgerd.sdk.transactions.operations.fields import fields_of_operation, is_asset, is_authority, is_name

VizAmount: TypeAlias = Viz | str
"""Tokens: an exact amount, or a text such as `1.000 VIZ`."""
SharesAmount: TypeAlias = Shares | str
"""Shares: an exact amount, or a text such as `1.000000 SHARES`."""
SomeKey: TypeAlias = PublicKey | str
"""A public key, or its text."""
SomeAuthority: TypeAlias = Authority | PublicKey | str
"""An authority, or the one key that is enough for it."""
PointInTime: TypeAlias = datetime | int
"""A time with its zone, or the seconds since 1970."""

IN_SHARES = frozenset({"vesting_shares", "delegation"})
"""The fields that hold shares; those of all other amounts hold tokens."""


def operation_of(name: str, values: Iterable[object]) -> Operation:
    """The operation of a name, with its fields in their order, but for extensions, which are always empty."""
    kind = _by_name()[name]
    fields = fields_of_operation(kind)
    made = {
        field.attribute: value_of(f"{name}.{field.attribute}", field, value)
        for field, value in zip(fields, values, strict=True)
    }
    if "extensions" in kind.__struct_fields__:
        made["extensions"] = ()
    return kind(**made)


def network_of(chain_id: bytes) -> ChainParameters | None:
    """The parameters of a network that the program knows, by which operations are checked before a node sees them."""
    return next((each for each in NETWORKS.values() if each.chain_id == chain_id), None)


class OperationMethods:
    """The base of builders, to which operations are added one after the other."""

    def add(self, operation: Operation) -> Self:
        raise NotImplementedError

    def _make(self, name: str, *values: object) -> Self:
        return self.add(operation_of(name, values))


@cache
def _by_name() -> dict[str, type[Operation]]:
    return {name_of(each): each for each in OPERATIONS}


def value_of(place: str, field: Field, value: object) -> object:
    """The value of a field. `WrongParameter` names the place."""
    kind = field.kind
    if isinstance(kind, Optional):
        if value is None:
            return None
        kind = kind.inner
    try:
        if is_asset(kind):
            return _asset(Shares if field.attribute in IN_SHARES else Viz, value)
        if is_name(kind) and Meaning.LABEL not in field.marks:
            return _name(value)
        return _value(kind, value)
    except AmountError as wrong:
        raise WrongParameter(f"{place}: {wrong}") from None
    except WrongParameter as wrong:
        raise WrongParameter(f"{place}: {wrong}") from None


def _asset(wanted: type[Viz | Shares], value: object) -> Asset:
    if isinstance(value, str):
        if not value.rstrip().endswith(wanted.NAME):
            raise WrongParameter(
                f"the amount is in {wanted.NAME}, and its text has to say so: {wanted.from_units(1_500)}"
            )
        return wanted(value).asset
    if isinstance(value, Asset):
        return wanted.from_asset(value).asset
    if not isinstance(value, wanted):
        raise WrongParameter(f"an amount of {wanted.NAME} or its text is wanted, not {type(value).__name__}")
    return value.asset


def _name(value: object) -> str:
    if not isinstance(value, str):
        raise WrongParameter(f"the name of an account is wanted, not {type(value).__name__}")
    if value and not is_valid_name(value):
        raise WrongParameter("this is no name that an account can have")
    return value


def _value(kind: Kind, value: object) -> object:
    if isinstance(kind, TimeKind):
        return _time(value)
    if isinstance(kind, Unsigned | Signed):
        return _number(kind, value)
    if isinstance(kind, Boolean):
        return _of_type(bool, value)
    if isinstance(kind, FixedBytes):
        return _key(value) if kind.title == "public key" else _bytes(kind, value)
    if is_authority(kind):
        return value if isinstance(value, Authority) else authority_of(_key(value))
    if isinstance(kind, Vector):
        return _elements(kind.element, value)
    if isinstance(kind, Text):
        return _text(value)
    return _record(kind, value)


def _of_type(wanted: type[bool | str], value: object) -> object:
    if not isinstance(value, wanted):
        raise WrongParameter(f"{wanted.__name__} is wanted, not {type(value).__name__}")
    return value


def _text(value: object) -> object:
    text = _of_type(str, value)
    try:
        str(text).encode()
    except UnicodeEncodeError:
        raise WrongParameter("the text has characters that UTF-8 cannot write") from None
    return text


def _number(kind: Unsigned | Signed, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongParameter(f"a whole number is wanted, not {type(value).__name__}")
    low, high = (0, kind.mask) if isinstance(kind, Unsigned) else (-kind.half, kind.half - 1)
    if not low <= value <= high:
        raise WrongParameter(f"it is not between {low} and {high}")
    return value


def _time(value: object) -> int:
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise WrongParameter("a time without its zone could be any: give it one, such as UTC")
        value = int(value.astimezone(UTC).timestamp())
    if not isinstance(value, int) or isinstance(value, bool):
        raise WrongParameter(f"a time or the seconds since 1970 are wanted, not {type(value).__name__}")
    if not 0 <= value <= LATEST:
        raise WrongParameter("a time of the chain is between 1970 and 2106")
    return value


def _key(value: object) -> PublicKey:
    if isinstance(value, bytes) and len(value) == KEY_SIZE:
        return PublicKey(value)
    if isinstance(value, str):
        try:
            return public_key_from_text(value)
        except CodecError:
            pass
    raise WrongParameter("a public key is wanted, such as VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T")


def _bytes(kind: FixedBytes, value: object) -> bytes:
    try:
        raw = bytes.fromhex(value) if isinstance(value, str) else value
    except ValueError:
        raw = None
    if not isinstance(raw, bytes) or len(raw) != kind.size:
        raise WrongParameter(f"{kind.size} bytes are wanted, or their hex digits")
    return raw


def _elements(element: Kind, value: object) -> tuple[object, ...]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise WrongParameter(f"several are wanted, as in a list, not {type(value).__name__}")
    return tuple(_name(each) if is_name(element) else _value(element, each) for each in value)


def _record(kind: Kind, value: object) -> object:
    records = [kind] if isinstance(kind, RecordKind) else [*kind.kinds.values()] if isinstance(kind, Variant) else []
    wanted = tuple(each.record for each in records)
    if not isinstance(value, msgspec.Struct) or not isinstance(value, wanted):
        names = " or ".join(each.__name__ for each in wanted)
        raise WrongParameter(f"{names} is wanted, not {type(value).__name__}")
    return value
