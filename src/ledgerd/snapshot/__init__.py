"""Snapshots: writing, reading, importing and exchanging the whole state as a file."""
