"""The option of the plugin prediction_market_api: how long it keeps what it knows of markets (spec 11, section 2)."""

from __future__ import annotations

import msgspec

from ledgerd.node.config.options.declaration import Option, OptionSection
from ledgerd.node.config.values.values import UINT32


class MarketRecordOptions(msgspec.Struct, frozen=True):
    """What is kept of each market beside the ledger."""

    ttl_days: int


PREDICTION_MARKET = OptionSection(
    "prediction_market_api",
    "What the plugin prediction_market_api keeps.",
    MarketRecordOptions,
    (
        Option(
            "pmm-ttl-days",
            UINT32,
            "Days for which metadata and price points of a market are kept after the time for disputes; 0 for ever.",
            default="5",
        ),
    ),
    prefixes=("pmm-",),
)
