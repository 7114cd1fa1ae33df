"""Nodes as one: several addresses, of which whichever is well answers."""
