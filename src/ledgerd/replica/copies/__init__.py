"""A copy of the state, and how it follows."""
