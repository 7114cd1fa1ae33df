"""Percents of the protocol: whole hundredths of a percent (spec 01, sections 7 and 13)."""

from __future__ import annotations

FULL_PERCENT = 10_000
"""One hundred percent; the reference's messages call it `CHAIN_100_PERCENT`."""
