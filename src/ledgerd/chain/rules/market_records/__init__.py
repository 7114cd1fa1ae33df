"""What is kept of markets for `prediction_market_api` beside the ledger: metadata and price points. No rule reads it."""
