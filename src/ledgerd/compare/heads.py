"""Where a node stands: its head and its last irreversible block, checked for contradictions."""

from __future__ import annotations

import re
from typing import NamedTuple

from ledgerd.codec.json.text import Json
from ledgerd.compare.node import SHOWN, ComparedNode

BLOCK_ID = re.compile(r"[0-9a-f]{40}")


class NodeHead(NamedTuple):
    """The head of a node, and the last block that it cannot leave any more."""

    number: int
    id: str
    irreversible: int


def head_of(node: ComparedNode) -> NodeHead:
    properties = node.value("database_api", "get_dynamic_global_properties")
    number = _number(node, properties, "head_block_number")
    irreversible = _number(node, properties, "last_irreversible_block_num")
    name = properties.get("head_block_id") if isinstance(properties, dict) else None
    if not isinstance(name, str) or not BLOCK_ID.fullmatch(name):
        raise node.fault(f"gives {str(name)[:SHOWN]!r} as the id of its head block")
    if int(name[:8], 16) != number:
        raise node.fault(f"says that its head is block {number}, but its id {name} is of block {int(name[:8], 16)}")
    if irreversible > number:
        raise node.fault(f"says that block {irreversible} is irreversible, above its head {number}")
    return NodeHead(number, name, irreversible)


def require_block(node: ComparedNode, head: NodeHead) -> None:
    if head.number and not node.value("database_api", "get_block_header", head.number):
        raise node.fault(f"says that its head is block {head.number}, and has no such block")


def _number(node: ComparedNode, properties: Json, name: str) -> int:
    value = properties.get(name) if isinstance(properties, dict) else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise node.fault(f"gives {str(value)[:SHOWN]!r} as {name}")
    return value
