"""`ledgerd debug`: tools to find faults in a node or a network (docs/debugging.md)."""

from __future__ import annotations

import argparse
from importlib import import_module


def run(chosen: argparse.Namespace) -> int:
    return int(import_module(f"{__package__}.{chosen.tool}").run(chosen))
