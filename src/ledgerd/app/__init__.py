"""Applications: tables of their own that follow the chain, and methods over them."""

from __future__ import annotations

from ledgerd.app.declaring.application import Application
from ledgerd.app.declaring.steps import ChainStep

__all__ = ["Application", "ChainStep"]
