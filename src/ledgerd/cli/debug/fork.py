"""`ledgerd debug fork`: the block at which two chains part, by binary search: an id covers all blocks before it."""

from __future__ import annotations

import argparse
import sys

from ledgerd.cli.debug.blocks import StoredBlocks, blocks_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.time_text import time_text

PARTED = 1


def run(chosen: argparse.Namespace) -> int:
    if chosen.first == chosen.second:
        raise OperatorError("both are the same: name two chains")
    with blocks_of(chosen.first) as first, blocks_of(chosen.second) as second:
        for each in (first, second):
            sys.stdout.write(f"{each.name}: head block {each.head}\n")
        lowest, highest = max(first.first(), second.first()), min(first.head, second.head)
        if lowest > highest:
            raise OperatorError(f"no block is in both: one begins with {lowest}, the other ends with {highest}")
        common = last_common(first, second, lowest, highest)
        if common >= lowest:
            sys.stdout.write(f"last common block: {described(_block(first, common))}\n")
        if common == highest:
            sys.stdout.write(
                "no fork: one chain is the beginning of the other\n"
                if first.head != second.head
                else "no fork: both have the same head\n"
            )
            return 0
        if common < lowest and lowest > 1:
            sys.stdout.write(f"the chains part at block {lowest} or before, which one of the two does not have\n")
        for each in (first, second):
            sys.stdout.write(f"then in {each.name}: {described(_block(each, common + 1))}\n")
    return PARTED


def last_common(first: StoredBlocks, second: StoredBlocks, lowest: int, highest: int) -> int:
    """The number of the last block that both have; one less than the lowest where that differs already."""
    low, high = lowest - 1, highest
    while low < high:
        middle = (low + high + 1) // 2
        if _block(first, middle).id == _block(second, middle).id:
            low = middle
        else:
            high = middle - 1
    return low


def _block(blocks: StoredBlocks, number: int) -> Block:
    found = blocks.block(number)
    if found is None:
        raise OperatorError(f"{blocks.name} does not give block {number}: run the search again")
    return found


def described(block: Block) -> str:
    return (
        f"{block.number} {block.id.hex()} of {time_text(block.timestamp)} by {block.validator}, "
        f"{len(block.transactions)} transactions"
    )
