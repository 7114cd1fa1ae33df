"""APIs about the ledger as it stands."""
