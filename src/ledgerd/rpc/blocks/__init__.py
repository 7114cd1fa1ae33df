"""Blocks as clients read them, and the size of the state."""
