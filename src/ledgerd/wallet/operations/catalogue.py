"""The operations that a person may send, by the names of their commands: all that are declared but some."""

from __future__ import annotations

from collections.abc import Mapping

from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.variant import OLD_NAMES

OTHER_NAMES = {name_of(each): each.COMMAND for each in OPERATIONS if each.COMMAND}
"""Plain names of operations whose own ones are long or obscure; both are commands."""

VIRTUAL_RULE = "false: This is a virtual operation"


def command_of(operation: type[Operation]) -> str:
    return name_of(operation).replace("_", "-")


def rule_against(operation: type[Operation]) -> str | None:
    if operation.VIRTUAL:
        return VIRTUAL_RULE
    return f"{name_of(operation)} is deprecated as of HF 4" if operation.DEPRECATED else None


SENDABLE: tuple[type[Operation], ...] = tuple(each for each in OPERATIONS if rule_against(each) is None)

UNSENDABLE: Mapping[str, str] = {name_of(each): rule for each in OPERATIONS if (rule := rule_against(each)) is not None}

_BY_NAME = {name_of(each): each for each in OPERATIONS}


def operation_named(name: str) -> type[Operation] | None:
    """An operation by its name on the wire, a former one, or the name of its command."""
    known = {plain: wire for wire, plain in OTHER_NAMES.items()}
    wire = known.get(name, name.replace("-", "_"))
    return _BY_NAME.get(OLD_NAMES.get(wire, wire))
