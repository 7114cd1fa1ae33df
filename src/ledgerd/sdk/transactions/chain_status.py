"""Where a node's chain stands, as far as transactions refer to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from ledgerd.protocol.constants import MIN_BLOCK_SIZE_LIMIT
from ledgerd.protocol.types.identifiers import BlockId, ChainId
from ledgerd.protocol.types.time_text import parse_time_text

BLOCK_ID_SIZE = 20
CHAIN_ID_SIZE = 32
MOST_BEHIND = 1_000
"""Blocks that the last irreversible one may be behind the head for transactions to refer to it."""


class ChainStatus(msgspec.Struct, frozen=True):
    """The head and the time of a node's chain, and the limits that transactions have to keep."""

    chain_id: ChainId
    head: BlockId
    head_number: int
    head_time: int
    irreversible: int
    irreversible_id: BlockId | None = None
    """The id of the last irreversible block, which not every node tells."""
    largest_block: int = MIN_BLOCK_SIZE_LIMIT

    @property
    def reference(self) -> BlockId:
        """The block to refer to where a transaction may go to any node: all have the last irreversible one."""
        known = self.irreversible_id
        is_near = self.irreversible > 0 and self.head_number - self.irreversible <= MOST_BEHIND
        return known if known is not None and is_near else self.head


def status_of(properties: Mapping[str, Any], config: Mapping[str, Any]) -> ChainStatus:
    """The status, from the answers of `get_dynamic_global_properties` and `get_config`. Wrong answers raise
    `LookupError`, `TypeError` or `ValueError`.
    """
    irreversible = properties.get("last_irreversible_block_id")
    return ChainStatus(
        ChainId(exact_hex(config["CHAIN_ID"], CHAIN_ID_SIZE)),
        BlockId(exact_hex(properties["head_block_id"], BLOCK_ID_SIZE)),
        int(properties["head_block_number"]),
        parse_time_text(properties["time"]),
        int(properties["last_irreversible_block_num"]),
        None if irreversible is None else BlockId(exact_hex(irreversible, BLOCK_ID_SIZE)),
        int(properties.get("maximum_block_size", MIN_BLOCK_SIZE_LIMIT)),
    )


def exact_hex(text: object, size: int) -> bytes:
    """The bytes of a hex text, which has to have so many."""
    raw = bytes.fromhex(str(text))
    if len(raw) != size:
        raise ValueError(f"{len(raw)} bytes")
    return raw
