"""`prediction_market_api`: prediction markets; a module for each family of questions (spec 11, sections 1 to 6)."""

from ledgerd.rpc.api.prediction_market import (
    categories,
    disputes,
    klines,
    lazy_pool,
    leverage,
    markets,
    oracles,
    overview,
    stakes,
)
from ledgerd.rpc.api.prediction_market.declared import PREDICTION_MARKET_API

FAMILIES = (markets, stakes, oracles, disputes, lazy_pool, leverage, categories, klines, overview)

__all__ = ["FAMILIES", "PREDICTION_MARKET_API"]
