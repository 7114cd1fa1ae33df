"""Snapshots between nodes."""
