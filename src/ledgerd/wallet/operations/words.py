"""An operation in words, made from what its declaration says: every field, so that nothing that is signed is hidden."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

import msgspec

from ledgerd.basics.printable import shown_text
from ledgerd.codec import record_kind
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import SortedMap, Vector
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.variants import Variant
from ledgerd.protocol.crypto.keys import PublicKey, public_key_text
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.time_text import time_text
from ledgerd.protocol.types.times import LATEST, TimeKind
from ledgerd.sdk.transactions.operations.fields import EXTENSIONS, inner_of, is_asset, is_authority

INDENT = "    "
NOTHING = "(nothing)"


def sentence_of(operation: type[Operation]) -> str:
    return " ".join((inspect.getdoc(operation) or name_of(operation)).split("\n\n")[0].split())


def words_of(operation: Operation) -> list[str]:
    kind = type(operation)
    return [f"{name_of(kind)}: {sentence_of(kind)}", *(INDENT + line for line in _lines_of_record(operation))]


def _lines_of_record(record: msgspec.Struct) -> Iterator[str]:
    fields = [each for each in record_kind(type(record)).fields if each.name != EXTENSIONS]
    width = max((len(each.name) for each in fields), default=0)
    for field in fields:
        value = getattr(record, field.attribute)
        inner = inner_of(field.kind)
        if _has_lines(inner) and value not in (None, ()):
            yield field.name
            yield from (INDENT + line for line in _lines_of(inner, value))
        else:
            yield f"{field.name:{width}}  {_word_of(inner, value)}"


def _has_lines(kind: Kind) -> bool:
    if isinstance(kind, Vector):
        return _has_lines(kind.element)
    return isinstance(kind, Variant) or (isinstance(kind, RecordKind) and not (is_asset(kind) or is_authority(kind)))


def _lines_of(kind: Kind, value: object) -> Iterator[str]:
    if isinstance(kind, Vector) and isinstance(value, tuple):
        for number, each in enumerate(value, start=1):
            first, *others = _lines_of(kind.element, each)
            yield f"{number}. {first}"
            yield from (INDENT + line for line in others)
    elif isinstance(value, Operation):
        yield from words_of(value)
    elif isinstance(value, msgspec.Struct):
        if len(value.__struct_fields__) == 1 and isinstance(
            inside := getattr(value, value.__struct_fields__[0]), Operation
        ):
            yield from words_of(inside)
        else:
            yield type(value).__name__
            yield from (INDENT + line for line in _lines_of_record(value))


def _word_of(kind: Kind, value: object) -> str:
    if value is None or value == ():
        return NOTHING
    if isinstance(kind, TimeKind) and isinstance(value, int):
        return {0: "(no time)", LATEST: "never"}.get(value) or f"{time_text(value)} UTC"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Asset):
        return amount_words(value)
    if isinstance(value, Authority):
        return authority_words(value)
    if isinstance(value, str):
        return shown_text(value)
    if isinstance(kind, Vector) and isinstance(value, tuple):
        return ", ".join(_word_of(kind.element, each) for each in value)
    if isinstance(kind, SortedMap) and isinstance(value, dict):
        return ", ".join(f"{_word_of(kind.key, name)}: {_word_of(kind.value, each)}" for name, each in value.items())
    if isinstance(value, bytes):
        return public_key_text(PublicKey(value)) if kind.title == "public key" else value.hex()
    return str(value)


def amount_words(amount: Asset) -> str:
    """An amount of the two symbols; of any other one, which only a changed file can hold, its numbers."""
    if not (amount.is_token or amount.is_shares):
        return f"{amount.amount} of the unknown symbol {amount.symbol:#x}"
    return str(amount) if amount.amount >= 0 else f"minus {Asset(-amount.amount, amount.symbol)}"


def authority_words(authority: Authority) -> str:
    members = [f"{shown_text(name)} ({weight})" for name, weight in authority.account_auths.items()]
    members += [f"{public_key_text(key)} ({weight})" for key, weight in authority.key_auths.items()]
    return f"{authority.weight_threshold} of {' + '.join(members) or NOTHING}"
