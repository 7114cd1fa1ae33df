"""What `prediction_market_api` knows of markets beside the ledger."""
