"""Blocks between peers: requesting, accepting and serving them."""
