"""Any operation, as a variant by tag on the wire and by name in JSON (spec 01, section 3.5); found by family."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType

from ledgerd.codec import declare, kind_of, record_kind
from ledgerd.codec.types.variants import NamedVariant
from ledgerd.protocol.operations.base import Operation, name_of, tag_of


def modules_of(package: str, folder: str) -> list[ModuleType]:
    """All modules below a folder, those in its folders included."""
    found = walk_packages([folder], f"{package}.")
    return [import_module(each.name) for each in found if not each.ispkg]


OLD_NAMES = {
    "witness_update": "validator_update",
    "account_witness_vote": "account_validator_vote",
    "account_witness_proxy": "account_validator_proxy",
    "shutdown_witness": "shutdown_validator",
    "witness_reward": "validator_reward",
}
"""Former names, from when validators were called witnesses."""

OPERATION_MEMORY = 572
"""Bytes that an operation takes in the memory of the reference's latest version (spec 07, section 2).

Which hardforks are in force does not matter for it.
"""


def declared_in(family: ModuleType) -> tuple[type[Operation], ...]:
    return tuple(
        each
        for each in vars(family).values()
        if type(each) is type(Operation)
        and each.__module__ == family.__name__
        and each.__struct_config__.tag is not None
    )


def declare_operations(families: Iterable[Iterable[type[Operation]]]) -> tuple[type[Operation], ...]:
    """Make the families one variant; returns every operation in the order of the tags."""
    known = tuple(sorted((each for family in families for each in family), key=tag_of))
    if [tag_of(each) for each in known] != list(range(len(known))):
        raise TypeError("the tags of the operations are not 0, 1, 2, ... without a gap")
    declare(
        Operation,
        NamedVariant(lambda: {tag_of(each): record_kind(each) for each in known}, OPERATION_MEMORY, name_of, OLD_NAMES),
    )
    return known


@cache
def names_that_can_be_sent() -> frozenset[str]:
    """The names of all operations that are not virtual; which hardforks are in force does not matter."""
    variant = kind_of(Operation)
    if not isinstance(variant, NamedVariant):
        raise TypeError("the operations are not declared yet")
    records = [kind.record for kind in variant.kinds.values()]
    return frozenset(name_of(each) for each in records if issubclass(each, Operation) and not each.VIRTUAL)
