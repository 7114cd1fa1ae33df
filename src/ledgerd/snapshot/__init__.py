"""Snapshots: the whole state in a file, written, read and taken in."""

from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.export import Occasion, export
from ledgerd.snapshot.load import load
from ledgerd.snapshot.read import Snapshot

__all__ = ["Occasion", "Snapshot", "SnapshotError", "export", "load"]
