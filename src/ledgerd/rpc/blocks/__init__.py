"""Blocks as clients read them, and how much room they take."""
