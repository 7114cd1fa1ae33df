"""`prediction_market_api`: prediction markets; a module for each family of questions (spec 11, sections 1 to 6)."""

from ledgerd.protocol.operations.variant import modules_of
from ledgerd.rpc.api.prediction_market.declared import PREDICTION_MARKET_API

modules_of(__name__, __path__[0])

__all__ = ["PREDICTION_MARKET_API"]
