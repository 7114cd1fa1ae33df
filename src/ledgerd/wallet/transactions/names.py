"""Accounts that an operation names: whether they exist, and whether one was meant that is written almost alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import msgspec

from ledgerd.codec import record_kind
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.names import is_valid_name
from ledgerd.sdk.transactions.operations.named_accounts import named_accounts
from ledgerd.wallet.node.ledger import LedgerReader


class Doubt(msgspec.Struct, frozen=True):
    """A name that is perhaps another one."""

    field: str
    name: str
    exists: bool
    meant: str = ""


def doubts_about(operation: Operation, ledger: LedgerReader, known: Collection[str]) -> Iterator[Doubt]:
    """Names that do not exist, and those that exist and are one letter off one that the wallet knows."""
    named = list(named_accounts(operation))
    ledger.learn(name for _, name in named)
    for field, name in named:
        exists = ledger.find(name) is not None
        if exists and name in known:
            continue
        alike = sorted(each for each in known if is_one_off(name, each) and ledger.find(each) is not None)
        if not exists and not alike:
            alike = _existing(slips_of(name), ledger)
        if alike or not exists:
            yield Doubt(field, name, exists, alike[0] if alike else "")


def slips_of(name: str) -> Iterator[str]:
    """Names that may have been meant by a person who typed a letter twice, one too many, or two in the wrong order."""
    for place in range(len(name)):
        yield name[:place] + name[place + 1 :]
        yield name[:place] + name[place + 1 : place + 2] + name[place : place + 1] + name[place + 2 :]


def _existing(names: Iterable[str], ledger: LedgerReader) -> list[str]:
    wanted = [name for name in names if is_valid_name(name)]
    ledger.learn(wanted)
    return sorted({name for name in wanted if ledger.find(name) is not None})


def is_one_off(one: str, other: str) -> bool:
    """Whether one letter more, less or other, or two that are swapped, make one name of the other."""
    if len(one) > len(other):
        one, other = other, one
    start = next((place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), len(one))
    if len(one) != len(other):
        return len(other) - len(one) == 1 and one[start:] == other[start + 1 :]
    if one == other:
        return False
    if one[start + 1 :] == other[start + 1 :]:
        return True
    swapped = one[:start] + one[start + 1 : start + 2] + one[start : start + 1] + one[start + 2 :]
    return swapped == other


def corrected(operation: Operation, doubt: Doubt) -> Operation:
    names = {field.name: field.attribute for field in record_kind(type(operation)).fields}
    return msgspec.structs.replace(operation, **{names[doubt.field]: doubt.meant})
