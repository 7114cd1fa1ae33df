"""The tables of projections, which are in a store of their own: a module for each family, all of them here."""

from __future__ import annotations

from typing import Any

from ledgerd.projections.tables.custom_protocols import CUSTOM_PROTOCOLS
from ledgerd.projections.tables.key_references import KEY_REFERENCES
from ledgerd.projections.tables.market_records import (
    PM_KLINE_CHUNKS,
    PM_LABEL_COUNTS,
    PM_MARKET_META,
    PM_OPEN_BOOKS,
    PM_PLACED_MARKETS,
    PM_RECENT_POINTS,
    PM_RECORDS_SINCE,
)
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.state.tables.tables import Entity, Table


class ProjectedBlock(Entity):
    """The last block that has changed a projection: it is undone with what the block has changed. There is one."""

    block_id: BlockId = NO_BLOCK


PROJECTED_BLOCK = Table(ProjectedBlock, number=112)
PROJECTED_TABLES: tuple[Table[Any], ...] = (
    KEY_REFERENCES,
    CUSTOM_PROTOCOLS,
    PM_MARKET_META,
    PM_KLINE_CHUNKS,
    PM_LABEL_COUNTS,
    PM_OPEN_BOOKS,
    PM_PLACED_MARKETS,
    PM_RECENT_POINTS,
    PM_RECORDS_SINCE,
    PROJECTED_BLOCK,
)
