"""Where a shadow keeps its files."""

from __future__ import annotations

FOLDER = "shadow"
"""In the data directory: the record, and what was found."""
