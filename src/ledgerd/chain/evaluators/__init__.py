"""Evaluators: what operations do, a module for each family. Importing this one registers all of them."""

from __future__ import annotations

from ledgerd.protocol.operations.variant import modules_of

FAMILIES = modules_of(__name__, __path__[0])
