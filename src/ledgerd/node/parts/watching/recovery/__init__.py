"""Out of a dead end without an operator: a rule that notices it, and the steps that follow."""
