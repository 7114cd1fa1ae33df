"""Every operation of the protocol, by family (spec 01, section 7)."""

from __future__ import annotations

from ledgerd.protocol.operations import transfers
from ledgerd.protocol.operations.base import Authorities, Operation, VirtualOperation

FAMILIES: tuple[tuple[type[Operation], ...], ...] = (transfers.OPERATIONS,)

__all__ = ["FAMILIES", "Authorities", "Operation", "VirtualOperation"]
