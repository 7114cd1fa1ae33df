"""Blocks between peers: asking, taking in, serving."""
