"""A full node for the VIZ Ledger."""
