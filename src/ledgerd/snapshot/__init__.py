"""Snapshots: the whole state in a file, written, read and taken in."""
