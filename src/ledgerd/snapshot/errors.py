"""What can be wrong with a snapshot file: said to the operator, who has to find another one."""

from __future__ import annotations

from ledgerd.protocol.errors import OperatorError


class SnapshotError(OperatorError):
    """The file is damaged, of another chain, or of a version that this program does not know."""
