"""Who must sign, and whether those have who did."""
