"""The error of a snapshot file, as a text for the operator."""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError


class SnapshotError(OperatorError):
    """The file is damaged, of another chain, or of a version that this program does not know."""
