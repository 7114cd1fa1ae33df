"""The values that the reference reads as JSON, leniently; a bare word is a string here (spec 06, section 4.2)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from ledgerd.node.config.values.key_values import read_private_key, show_private_key
from ledgerd.node.config.values.kind import OptionKind, WrongValue
from ledgerd.node.config.values.values import number_of

if TYPE_CHECKING:
    from ledgerd.protocol.crypto.keys import PrivateKey
    from ledgerd.protocol.types.identifiers import BlockId

_BLOCK_ID = re.compile(r"[0-9a-fA-F]{40}")


class Checkpoint(NamedTuple):
    """A block that the chain must have, or that is assumed to be valid."""

    number: int
    block_id: BlockId


class AccountRange(NamedTuple):
    """The accounts between two names, both of them included."""

    first: str
    last: str


class GuardedValidator(NamedTuple):
    """A validator that is watched over, with the keys that this takes."""

    name: str
    signing_key: PrivateKey
    active_key: PrivateKey


def _parse(text: str) -> object:
    from ledgerd.codec import DecodeError  # noqa: PLC0415 - the grammar is loaded when there is JSON to read
    from ledgerd.codec.json.legacy import parse  # noqa: PLC0415

    try:
        return parse(text.encode("utf-8", "surrogateescape"))
    except DecodeError:
        raise WrongValue("is not JSON") from None


def _array(text: str, count: int) -> list[object]:
    value = _parse(text) if text.startswith("[") else None
    if not isinstance(value, list) or len(value) != count:
        raise WrongValue(f"is not an array of {count}")
    return value


def _strings(text: str, count: int) -> list[str]:
    values = _array(text, count)
    strings = [value for value in values if isinstance(value, str)]
    if len(strings) != count:
        raise WrongValue(f"is not an array of {count} strings")
    return strings


def _account_name(name: str) -> str:
    from ledgerd.protocol.types.names import is_valid_name  # noqa: PLC0415

    if not is_valid_name(name):
        raise WrongValue("is not the name of an account")
    return name


def _read_name(text: str) -> str:
    value = _parse(text) if text.startswith('"') else text
    return _account_name(str(value))


def _read_checkpoint(text: str) -> Checkpoint:
    from ledgerd.protocol.types.identifiers import BlockId  # noqa: PLC0415 - loaded when there is one to read

    number, block_id = _array(text, 2)
    if isinstance(number, bool) or not isinstance(number, int | str):
        raise WrongValue("has no block number in the first place")
    if not isinstance(block_id, str) or not _BLOCK_ID.fullmatch(block_id):
        raise WrongValue("has no block id, of 40 hex digits, in the second place")
    return Checkpoint(number_of(str(number), 32), BlockId(bytes.fromhex(block_id)))


def _read_assumed(text: str) -> Checkpoint:
    from ledgerd.protocol.types.identifiers import BlockId, block_number_of  # noqa: PLC0415 - loaded when there is one

    number, colon, block_id = text.partition(":")
    if not colon or not number.isdecimal():
        raise WrongValue("has no block number before a colon")
    if not _BLOCK_ID.fullmatch(block_id):
        raise WrongValue("has no block id, of 40 hex digits, after the colon")
    assumed = Checkpoint(number_of(number, 32), BlockId(bytes.fromhex(block_id)))
    if block_number_of(assumed.block_id) != assumed.number:
        raise WrongValue("has an id that begins with another block number")
    return assumed


def _read_range(text: str) -> AccountRange:
    first, last = _strings(text, 2)
    return AccountRange(first, last)


def _read_guarded(text: str) -> GuardedValidator:
    name, signing_key, active_key = _strings(text, 3)
    try:
        return GuardedValidator(_account_name(name), read_private_key(signing_key), read_private_key(active_key))
    except WrongValue as problem:
        raise WrongValue(f"has a part that {problem}") from None


def _show_guarded(value: GuardedValidator) -> str:
    keys = ",".join(map(show_private_key, (value.signing_key, value.active_key)))
    return f'["{value.name}",{keys}]'


NAME = OptionKind("NAME", "the name of an account, with or without double quotes", '"alice"', _read_name, '"{}"'.format)
CHECKPOINT = OptionKind(
    '[NUMBER,"ID"]',
    "a block number and a block id as JSON",
    '[1,"' + "00000001" + "ab" * 16 + '"]',
    _read_checkpoint,
    lambda value: f'[{value.number},"{value.block_id.hex()}"]',
)
ASSUMED_BLOCK = OptionKind(
    "NUMBER:ID",
    "a block number, a colon and a block id",
    "1:00000001" + "ab" * 16,
    _read_assumed,
    lambda value: f"{value.number}:{value.block_id.hex()}",
)
ACCOUNT_RANGE = OptionKind(
    '["FROM","TO"]', "two names as JSON", '["alice","alice"]', _read_range, lambda value: '["{}","{}"]'.format(*value)
)
GUARDED = OptionKind(
    '["NAME","WIF","WIF"]',
    "a validator, its signing key and its active key as JSON",
    '["alice","5...","5..."]',
    _read_guarded,
    _show_guarded,
    secret=True,
)
