"""Tables that follow the chain for those who ask, and that no rule reads."""
