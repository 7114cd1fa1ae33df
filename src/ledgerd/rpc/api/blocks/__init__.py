"""Blocks as they are stored."""
