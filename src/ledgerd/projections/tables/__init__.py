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
from ledgerd.projections.tables.projected_block import PROJECTED_BLOCK
from ledgerd.state.tables.tables import Table

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
