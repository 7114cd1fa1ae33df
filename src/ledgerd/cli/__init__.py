"""The command line: what an operator types, and what is printed back. The work is done below."""

from __future__ import annotations

from ledgerd.cli.main import main

__all__ = ["main"]
