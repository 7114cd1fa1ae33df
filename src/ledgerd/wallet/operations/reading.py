"""From the words of a command, or JSON, to an operation: read as the protocol reads JSON, so that its texts are given.

Three things the protocol lets pass are refused, since no person means them: numbers that do not fit and would be cut,
fields that do not exist, and amounts with the wrong number of decimals.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec
import orjson

from ledgerd.codec import codec_of, record_kind
from ledgerd.codec.errors import CodecError
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import SortedMap, Vector
from ledgerd.codec.types.numbers import Boolean, Signed, Unsigned
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.strings import FixedBytes, Text
from ledgerd.codec.types.variants import Variant
from ledgerd.protocol.crypto.keys import ADDRESS_PREFIX, public_key_from_text
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.assets import SHARES_SYMBOL, TOKEN_SYMBOL, Asset, symbol_name
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.time_text import parse_time_text, time_text
from ledgerd.protocol.types.times import TimeKind
from ledgerd.sdk.transactions.operations.fields import (
    UNSENDABLE,
    fields_of_operation,
    inner_of,
    is_asked,
    is_asset,
    is_authority,
)
from ledgerd.sdk.transactions.operations.parameters import network_of
from ledgerd.wallet.errors import RuleBroken, WalletError, WrongAmount

NUMBER = re.compile(r"-?[0-9]+(\.[0-9]*)?")
SYMBOL = re.compile(r"[A-Z]{1,6}")
FROM_NOW = re.compile(r"\+([0-9]{1,9})([smhd]?)")
UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}
DECIMALS = {symbol_name(each): (each & 0xFF, each) for each in (TOKEN_SYMBOL, SHARES_SYMBOL)}

TAG_AND_VALUE = 2

Now = Callable[[], int]
"""The time, for texts such as `+30d`."""


def joined_amounts(words: Sequence[str]) -> list[str]:
    """The words of a command with amounts that stand in two, `1.000 VIZ`, as one."""
    joined: list[str] = []
    for word in words:
        if joined and SYMBOL.fullmatch(word) and NUMBER.fullmatch(joined[-1]):
            joined[-1] = f"{joined[-1]} {word}"
        else:
            joined.append(word)
    return joined


def from_words(operation: type[Operation], given: Mapping[str, str | bool], now: Now) -> Operation:
    values: dict[str, object] = {}
    for field in fields_of_operation(operation):
        if field.name in given:
            try:
                values[field.name] = _json_of(inner_of(field.kind), given[field.name], now)
            except (CodecError, RuleViolation) as refused:
                raise WalletError(f"{field.name}: {refused}") from None
    return from_json(operation, values)


def from_json(operation: type[Operation], values: object) -> Operation:
    """An operation of its JSON, which must have every field that a command would ask for, and no unknown one."""
    rule = UNSENDABLE.get(name_of(operation))
    if rule is not None:
        raise RuleBroken(f"{name_of(operation)} cannot be sent: {rule}")
    if not isinstance(values, dict):
        raise WalletError(f"the fields of {name_of(operation)} are a JSON object")
    kind = record_kind(operation)
    try:
        _require_known(kind, values, name_of(operation))
    except CodecError as refused:
        raise WalletError(f"{name_of(operation)}: {refused}") from None
    for field in fields_of_operation(operation):
        if field.name not in values and is_asked(field):
            raise WalletError(f"{name_of(operation)} needs {field.name}")
    try:
        made: Operation = kind.parse(values)
    except (CodecError, RuleViolation) as refused:
        raise WalletError(f"{name_of(operation)}: {refused}") from None
    _require_amounts(made, name_of(operation))
    return made


def json_from_text(text: str, what: str) -> object:
    try:
        return orjson.loads(text.encode("utf-8", "surrogateescape"))
    except orjson.JSONDecodeError as refused:
        raise WalletError(f"{what} is no JSON: {refused}") from None


def require_valid(operation: Operation, chain_id: bytes) -> None:
    """The rules that need no state, on networks whose parameters the program has; the node checks all in any case."""
    network = network_of(chain_id)
    if network is None:
        return
    try:
        operation.check(network)
    except RuleViolation as broken:
        raise RuleBroken(f"{name_of(type(operation))}: {broken.message}") from None


def _json_of(kind: Kind, word: str | bool, now: Now) -> object:
    if isinstance(word, bool):
        return word
    if is_asset(kind):
        return _checked_amount(word)
    if is_authority(kind) and word.startswith(ADDRESS_PREFIX):
        return orjson.loads(codec_of(Authority).to_json(authority_of(public_key_from_text(word))))
    if isinstance(kind, TimeKind):
        return time_text(time_of(word, now))
    if isinstance(kind, Vector) and not word.lstrip().startswith("["):
        if isinstance(kind.element, Text | FixedBytes):
            return [each.strip() for each in word.split(",") if each.strip()]
        raise WalletError(f"{word} is no JSON list")
    if isinstance(kind, Vector | SortedMap | Variant | RecordKind):
        return json_from_text(word, word)
    if isinstance(kind, Unsigned | Signed):
        return _fitting(kind, word)
    return word


def _fitting(kind: Unsigned | Signed, word: object) -> int:
    """A whole number that fits; the protocol would cut it."""
    text = str(word)
    if isinstance(word, bool | float) or not re.fullmatch(r"-?[0-9]{1,20}", text):
        raise WalletError(f"{text} is no whole number")
    number = int(text)
    low, high = (0, kind.mask) if isinstance(kind, Unsigned) else (-kind.half, kind.half - 1)
    if not low <= number <= high:
        raise WalletError(f"{number} is not between {low} and {high}")
    return number


def time_of(word: str, now: Now) -> int:
    later = FROM_NOW.fullmatch(word)
    if later is not None:
        return now() + int(later[1]) * UNITS[later[2]]
    try:
        return parse_time_text(word)
    except CodecError:
        raise WalletError(f"{word} is no time: write 2030-01-31T12:00:00, or +30d for 30 days from now") from None


def _checked_amount(word: str) -> str:
    number, _, name = word.strip().partition(" ")
    known = DECIMALS.get(name.strip().encode())
    if known is None:
        raise WrongAmount(f"{word} is no amount: write it as 1.000 VIZ, or 1.000000 SHARES")
    whole, dot, part = number.partition(".")
    decimals, _ = known
    if not re.fullmatch(r"[0-9]{1,13}", whole) or not re.fullmatch(r"[0-9]+", part or "0") or (dot and not part):
        raise WrongAmount(f"{word} is no amount: write it as 1.000 VIZ, or 1.000000 SHARES")
    if len(part) != decimals:
        raise WrongAmount(f"{word}: {name} has {decimals} decimals, {len(part)} were given")
    return f"{number} {name.strip()}"


def _require_known(kind: Kind, value: object, place: str) -> None:
    kind = inner_of(kind)
    if isinstance(kind, RecordKind | Vector | Variant):
        _require_known_inside(kind, value, place)
    elif isinstance(kind, Unsigned | Signed) and not isinstance(kind, TimeKind) and value is not None:
        try:
            _fitting(kind, value)
        except WalletError as refused:
            raise WalletError(f"{place}: {refused}") from None
    elif isinstance(kind, Boolean) and not isinstance(value, bool):
        raise WalletError(f"{place} is true or false")


def _require_known_inside(kind: RecordKind | Vector | Variant, value: object, place: str) -> None:
    if is_asset(kind) and isinstance(value, str):
        _checked_amount(value)
    elif isinstance(kind, RecordKind) and isinstance(value, dict) and not hasattr(kind.record, "from_json"):
        fields = {field.name: field for field in kind.fields}
        former: dict[str, str] = getattr(kind.record, "FORMER_NAMES", {})
        for name, each in value.items():
            if name not in fields and name not in former.values():
                raise WalletError(f"{place} has no field {name}")
            if name in fields:
                _require_known(fields[name].kind, each, f"{place}.{name}")
    elif isinstance(kind, Vector) and isinstance(value, list):
        for number, each in enumerate(value):
            _require_known(kind.element, each, f"{place}[{number}]")
    elif isinstance(kind, Variant) and isinstance(value, list) and len(value) == TAG_AND_VALUE:
        tag = kind.tag_of(value[0])
        if tag in kind.kinds:
            _require_known(kind.kinds[tag], value[1], f"{place}.{value[0]}")


def _require_amounts(value: object, place: str) -> None:
    """Amounts of the two symbols alone, also in operations within this one."""
    if isinstance(value, Asset):
        if value.symbol not in (TOKEN_SYMBOL, SHARES_SYMBOL):
            raise WrongAmount(f"{place}: an amount is in VIZ with 3 decimals, or in SHARES with 6")
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            _require_amounts(getattr(value, name), f"{place}.{name}")
    elif isinstance(value, tuple):
        for each in value:
            _require_amounts(each, place)
