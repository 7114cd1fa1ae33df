"""Whole snapshots of the other node, compared record by record with our state at the same block."""
