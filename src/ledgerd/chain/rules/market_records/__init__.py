"""Metadata and price points of markets, kept beside the ledger for `prediction_market_api`. No rule reads them."""
