"""Negative amounts in the JSON of a block, which the reference prints without a part of them (spec 01, section 3.3).

-98.100 and -98.200 are both `-98.00 VIZ` there. What is missing is one digit, and the block's header says which one it
is: only with the right ones the transactions have its merkle root.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

import msgspec

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block, merkle_root
from ledgerd.protocol.blocks.transaction import Transaction

DECIMALS = {"VIZ": 3, "SHARES": 6}
MOST_TRIES = 10**4
"""Ways to fill in the digits of a block, each of which is tried: those of four negative amounts."""

_AMOUNT = re.compile(r"(-?[0-9]{1,19})\.([0-9]{0,5}) (VIZ|SHARES)")


def with_whole_amounts(fields: Mapping[str, Any], block: Block) -> Block:
    """The block with the amounts with which its transactions are those of its header; as it is where there are none."""
    possible = [list(_possible(each)) for each in fields["transactions"]]
    if prod(map(len, possible)) > MOST_TRIES:
        return block
    codec = codec_of(Transaction)
    choices = [
        [codec.from_json(each) for each in ways] if len(ways) > 1 else [transaction]
        for ways, transaction in zip(possible, block.transactions, strict=True)
    ]
    for chosen in product(*choices):
        if merkle_root([each.merkle_digest for each in chosen]) == block.transaction_merkle_root:
            return msgspec.structs.replace(block, transactions=chosen)
    return block


def _possible(value: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
    """The values that are printed like this one; bounded by who counts them."""
    if isinstance(value, str):
        yield from _amounts(value)
    elif isinstance(value, list):
        yield from map(list, _combined([list(_possible(each)) for each in value]))
    elif isinstance(value, dict):
        ways = _combined([list(_possible(each)) for each in value.values()])
        yield from (dict(zip(value, each, strict=True)) for each in ways)
    else:
        yield value


def _combined(ways: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    if prod(map(len, ways)) <= MOST_TRIES:
        return product(*ways)
    return iter([tuple(each[0] for each in ways)] * (MOST_TRIES + 1))


def _amounts(text: str) -> Iterator[str]:
    yield text  # it may be a memo
    found = _AMOUNT.fullmatch(text)
    if found is None or len(found[2]) >= DECIMALS[found[3]]:
        return
    one = 10 ** DECIMALS[found[3]]
    shown = int(found[2] or 0)
    for digit in range(1, 10):
        rest = one - (digit * 10 ** len(found[2]) + shown)
        # A sign is that of the whole part alone: -98.100 is written as -99 and 900 thousandths.
        whole, part = divmod(-(abs(int(found[1])) * one + rest), one)
        yield f"{whole}.{part:0{DECIMALS[found[3]]}} {found[3]}"
