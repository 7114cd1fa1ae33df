"""Every operation of the protocol, by family (spec 01, section 7; spec 07, sections 4 to 6).

A family is a module of this folder that declares operations.
"""

from __future__ import annotations

from ledgerd.protocol.operations.base import Authorities, Operation
from ledgerd.protocol.operations.variant import declare_operations, declared_in, modules_of

FAMILIES = {module: declared for module in modules_of(__name__, __path__[0]) if (declared := declared_in(module))}
"""The operations of each family, in the order in which they stand there."""

OPERATIONS = declare_operations(FAMILIES.values())
"""Every operation; the place of each is its tag."""

__all__ = ["FAMILIES", "OPERATIONS", "Authorities", "Operation"]
