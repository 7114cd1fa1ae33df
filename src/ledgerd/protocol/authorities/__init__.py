"""Who must sign a transaction, and whether the keys that signed it suffice."""
