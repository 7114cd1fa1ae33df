"""Shares of a whole, which the ledger counts in hundredths of a percent."""

from __future__ import annotations

HUNDRED_PERCENT = 10_000
