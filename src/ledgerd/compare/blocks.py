"""The ids of the latest irreversible blocks of two nodes."""

from __future__ import annotations

from bisect import bisect_left
from typing import NamedTuple

from ledgerd.client.differing import Difference, shown
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import BLOCK_ID, FoundDifference, NodeHead, Pair, head_of
from ledgerd.compare.node import AnsweringNode
from ledgerd.protocol.types.identifiers import block_number_of_hex

IDS = 1_000


class ComparedBlocks(NamedTuple):
    """The blocks that were compared."""

    first: int
    id: str
    found: FoundDifference | None = None


def compare_blocks(pair: Pair, last: int) -> ComparedBlocks:
    first = max(first_kept(pair.first, last), first_kept(pair.second, last))
    name = ""
    heads = head_of(pair.first), head_of(pair.second)
    for number in range(last, first - 1, -1):
        one, other = (id_of(node, number, head) for node, head in zip((pair.first, pair.second), heads, strict=True))
        if one != other:
            difference = Difference(f"the id of block {number}", shown(one), shown(other))
            return ComparedBlocks(first, "", FoundDifference("the blocks", difference, NodeHead(last, name, last)))
        name = name or one
    return ComparedBlocks(first, name)


def id_of(node: AnsweringNode, number: int, head: NodeHead) -> str:
    header = _header(node, number + 1) if head.number > number else None
    name: Json = header.get("previous") if isinstance(header, dict) else None
    if head.number == number:
        name = head.id
    if not isinstance(name, str) or not BLOCK_ID.fullmatch(name) or block_number_of_hex(name) != number:
        raise node.fault(f"has no block {number}, or names {shown(name)} as its id")
    return name


def keeps_all(node: AnsweringNode) -> bool:
    return _header(node, 1) is not None


def _header(node: AnsweringNode, number: int) -> Json:
    return node.value("database_api", "get_block_header", number)


def first_kept(node: AnsweringNode, last: int) -> int:
    """The first of the latest thousand blocks that a node has; found by halving, as it keeps all from some one on."""
    if _header(node, last) is None and last:
        raise node.fault(f"does not have block {last}, which it says is irreversible")
    numbers = range(max(1, last - IDS + 1), last)
    return numbers.start + bisect_left(numbers, x=True, key=lambda number: _header(node, number) is not None)
